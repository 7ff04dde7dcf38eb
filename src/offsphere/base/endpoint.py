"""Talk to an endpoint that takes and gives JSON: one request, what a failure means, and when to try again."""

from __future__ import annotations

import http.client
import json
import os
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from offsphere.base.errors import first_line, one_line

PATIENCE = 120.0  # seconds for one response
LONGEST_WAIT = 60.0  # seconds between two tries
TRY_AGAIN = (408, 409, 425, 429)  # and whatever a server says of itself, from 500 on,
NEVER = (501, 505)  # but that it cannot do such a thing at all
SERVER_FAULTS = 500
BUSY = 429
SHOWN = 200  # characters of what an endpoint says to its refusal
MOST_BYTES = 1 << 26  # of a response: the vectors of a whole request have a tenth of that at most

Reply = TypeVar("Reply")


class EndpointFailedError(Exception):
    """An endpoint that gave nothing to use: busy, silent, refusing, or nonsense."""

    def __init__(self, kind: str, message: str, *, again: bool = False, wait: float = 0.0) -> None:
        super().__init__(one_line(message))
        self.kind = kind  # busy, silent, nonsense, refused
        self.again = again  # whether it may go better in a moment
        self.wait = wait  # seconds it asked to be left alone


def post_json(address: str, asked: Mapping[str, Any], keys: Sequence[str] = ()) -> bytes:
    """Send JSON and give the body of the response.

    Args:
        address: Of http or https; whoever calls has checked that.
        asked: What is sent.
        keys: Variables of the environment in which a key is looked for, the first that is set; it goes into the
            header of the request and nowhere else.

    Returns:
        The bytes that came back.

    Raises:
        EndpointFailedError: Nobody is there, the connection broke, the endpoint refuses, or it does not stop sending.
    """
    headers = {"Content-Type": "application/json"}
    key = next((os.environ[name] for name in keys if os.environ.get(name)), None)
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    request = urllib.request.Request(address, json.dumps(asked).encode(), headers)  # noqa: S310
    try:
        with urllib.request.build_opener(_StayThere).open(request, timeout=PATIENCE) as response:
            body: bytes = response.read(MOST_BYTES + 1)
    except urllib.error.HTTPError as error:
        with error:  # it holds the connection
            raise _refusal(error, key) from error
    except (OSError, ValueError, http.client.HTTPException) as error:  # no connection, or one that broke
        where = address.partition("?")[0]
        raise EndpointFailedError("silent", f"{where}: {first_line(error)}", again=True) from error
    if len(body) > MOST_BYTES:
        raise EndpointFailedError("nonsense", f"the response has more than {MOST_BYTES:,} bytes", again=True)
    return body


def asked_again(call: Callable[[], Reply], retries: int, pause: float, stop: threading.Event) -> Reply:
    """Call once, and again where it may go better: after a pause that doubles, or as long as the endpoint asks for.

    Args:
        call: What may fail.
        retries: How often it is called again.
        pause: Seconds before the second try.
        stop: Whoever waits for another try waits no longer once this is set.

    Returns:
        What the call gave.

    Raises:
        EndpointFailedError: That of the last try.

    Example:
        >>> import threading
        >>> from offsphere.base.endpoint import asked_again
        >>> asked_again(lambda: "there", 3, 1.0, threading.Event())
        'there'
    """
    for number in range(retries + 1):
        try:
            return call()
        except EndpointFailedError as failure:
            if not failure.again or number == retries or stop.is_set():
                raise
            stop.wait(min(max(pause * 2**number, failure.wait), LONGEST_WAIT))
    raise AssertionError  # the last try returns or raises


class _StayThere(urllib.request.HTTPRedirectHandler):
    """Follows nobody elsewhere: a key is for the address that the user named."""

    def redirect_request(self, *_: Any) -> None:
        """Refuse, so that the response is an error."""


def _refusal(error: urllib.error.HTTPError, key: str | None) -> EndpointFailedError:
    """What an endpoint that answers with an error means, and what it says itself."""
    after = error.headers.get("Retry-After", "") if error.headers is not None else ""
    wait = float(after) if after.replace(".", "", 1).isdecimal() else 0.0
    kind = "busy" if error.code == BUSY else "refused"
    try:
        said = error.read(4 * SHOWN).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException):
        said = ""
    said = " ".join((said.replace(key, "***") if key else said).split())[:SHOWN]
    told = f"HTTP {error.code} {error.reason}{f': {said}' if said else ''}"
    again = error.code in TRY_AGAIN or (error.code >= SERVER_FAULTS and error.code not in NEVER)
    return EndpointFailedError(kind, told, again=again, wait=wait)
