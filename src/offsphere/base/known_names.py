"""Names as people type them: whatever the case, with spaces or underscores; and what others call the same thing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from offsphere.base.errors import UnknownNameError


def plain_name(typed: str) -> str:
    """Write a name as names are written here: small letters, words joined by dashes.

    Example:
        >>> from offsphere.base.known_names import plain_name
        >>> plain_name(" Inner_Product ")
        'inner-product'
    """
    return re.sub(r"[\s_]+", "-", typed.strip()).lower()


def known_name(kind: str, typed: str, known: Iterable[str], elsewhere: Mapping[str, str] | None = None) -> str:
    """Find the name that somebody typed among those that are known.

    Args:
        kind: what it is a name of, for the error.
        typed: the name as it was typed.
        known: the names there are.
        elsewhere: names that others have for these, which are suggested and never guessed.

    Returns:
        The name as it is known; case, and a space or underscore for a dash, do not count.

    Raises:
        UnknownNameError: where nothing has that name; it says what was probably meant.

    Example:
        >>> from offsphere.base.known_names import known_name
        >>> known_name("similarity", "Norm_Mix", ["cosine", "norm-mix"])
        'norm-mix'
    """
    names = list(known)
    if typed in names:
        return typed
    plain = plain_name(typed)
    alike = [name for name in names if plain_name(name) == plain]
    if len(alike) == 1:
        return alike[0]
    meant = (elsewhere or {}).get(plain)
    raise UnknownNameError(kind, typed, names, meant)
