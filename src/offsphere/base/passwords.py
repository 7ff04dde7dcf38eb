"""Passwords in addresses: no message, log, snippet or file has one.

Where it cannot be told which part of an address is the password, more is hidden rather than less.
"""

from __future__ import annotations

import re

_USER_INFO = re.compile(r"(?<=://)([^/@:\s]*):(.*)@")
_WORDS = r"\w*(?:password|api_?key|token|secret)"
_PARAMETER = re.compile(rf"(?i)([?&]{_WORDS}=)[^&]*")
_QUOTED, _BARE = r"'(?:[^'\\]|\\.)*'(?=\s|$)", r".*?(?=(?<!\\)\s+\w+\s*=|$)"  # as libpq reads values
_KEYWORD = re.compile(rf"(?im)((?<![?&\w]){_WORDS}\s*=\s*)({_QUOTED}|{_BARE})")
_UNCLEAR = re.compile(r"[@/?#\s]|%(?![0-9a-fA-F]{2})")
HOW_TO_WRITE = "@ / ? # % and spaces in a password are written %40 %2F %3F %23 %25 and %20"


def hide_password(text: str) -> str:
    """Replace what may be a password in an address by stars.

    Example:
        >>> from offsphere.base.passwords import hide_password
        >>> hide_password("cannot reach postgresql://me:p@ss@host/db?password=x&a=1")
        'cannot reach postgresql://me:***@host/db?password=***&a=1'
        >>> hide_password("host=h password = 'my secret' sslpassword=a b dbname=db")
        'host=h password = *** sslpassword=*** dbname=db'
    """
    hidden = _KEYWORD.sub(r"\1***", _PARAMETER.sub(r"\1***", text))
    return _USER_INFO.sub(r"\1:***@", hidden)


def without_password(address: str) -> str:
    """An address without its password, which whoever connects has elsewhere.

    Example:
        >>> from offsphere.base.passwords import without_password
        >>> without_password("postgresql://me:secret@host/db?password=x&sslmode=require")
        'postgresql://me@host/db?sslmode=require'
        >>> without_password("host=db password='my secret' user=me")
        'host=db user=me'
    """
    if "://" not in address:
        return re.sub(r"\s+", " ", _KEYWORD.sub("", address)).strip() if _KEYWORD.search(address) else address
    server, _, query = address.partition("?")
    kept = [part for part in query.split("&") if part and not _PARAMETER.match(f"?{part}")]
    return _USER_INFO.sub(r"\1@", f"{server}?{'&'.join(kept)}" if kept else server)


def is_unclear(address: str) -> bool:
    """Whether a password has letters that end it for whoever reads the address, so that errors may tell half of it.

    Example:
        >>> from offsphere.base.passwords import is_unclear
        >>> is_unclear("postgresql://me:p@ss@host/db"), is_unclear("postgresql://me:p%40ss@host/db")
        (True, False)
    """
    user_info = _USER_INFO.search(address)
    return user_info is not None and _UNCLEAR.search(user_info[2]) is not None
