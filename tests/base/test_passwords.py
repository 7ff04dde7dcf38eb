"""No password is told, wherever it stands in an address and whatever letters it has."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from offsphere.base.passwords import hide_password, is_unclear, without_password
from tests.processes import PATIENCE, ROOT, environment_with

# each half of a secret is one: what an address ends at a letter in its middle must not be shown either
SECRETS = ["s3cret", "one@s3cret", "one:s3cret", "one/s3cret", "one%s3cret", "one%40s3cret", "one s3cret", "one?s3cret"]
SECRETS += ["one#s3cret", "one&s3cret", "one=s3cret", "one's3cret", "one\\ s3cret"]
USER_INFO = ["postgresql://me:{}@host/db", "postgresql://:{}@/db?host=/tmp", "http://me:{}@host:6333"]
PARAMETERS = ["postgresql://host/db?password={}&sslmode=require", "postgresql://host/db?sslmode=require&password={}"]
KEYWORDS = ["host=h password={}", "password = {} host=h", "host=h sslpassword={} dbname=db", "host=h PASSWORD='{}'"]


@pytest.mark.parametrize("address", USER_INFO + PARAMETERS + KEYWORDS)
@pytest.mark.parametrize("secret", SECRETS)
def test_an_address_is_told_without_its_password(address, secret):
    if "?password" in address or "&password" in address:
        secret = secret.replace("&", "%26")  # nobody could tell that from the next parameter
    whole = address.format(secret.replace("'", "\\'") if "'{}'" in address else secret)
    assert "s3cret" not in hide_password(whole)
    assert "s3cret" not in hide_password(f"cannot reach {whole}")
    assert "s3cret" not in without_password(whole)


@pytest.mark.parametrize(
    "text",
    ["host=h dbname=db", "postgresql://me@host/db", "http://localhost:6333", "password authentication failed for me"],
)
def test_what_has_no_password_stays_as_it_is(text):
    assert hide_password(text) == without_password(text) == text
    assert not is_unclear(text)


PLACES = [
    "postgres:postgresql://me:one{}s3cret@127.0.0.1:1/db:docs",
    "postgres:postgresql://127.0.0.1:1/db?password=one{}s3cret:docs",
    "postgres:host=127.0.0.1 port=1 password='one{}s3cret':docs",
    "postgres:host=127.0.0.1 port=1 password=one{}s3cret:docs",
]
CHILD = """
import contextlib, json, sys
from offsphere.cli import main
for target in json.loads(sys.argv[1]):
    sys.argv = ["offsphere", "--debug", "probe", target, "--json"]
    with contextlib.suppress(SystemExit):
        main()
"""


def test_a_server_that_is_not_there_is_told_without_the_password_in_tracebacks_too():
    """libpq takes what stands before an unwritten @ or / for the password, and names the rest as the host."""
    pytest.importorskip("psycopg")
    targets = [place.format(letter) for place in PLACES for letter in "@:/% ?#"]
    run = subprocess.run(
        [sys.executable, "-c", CHILD, json.dumps(targets)],
        env=environment_with(ROOT),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert run.stderr.count("offsphere: ") == len(targets)
    assert "s3cret" not in run.stdout + run.stderr
    assert "this is a bug" not in run.stderr
