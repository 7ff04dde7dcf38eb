"""Names of scorers, as they are printed and as a user types them: ``whiten(0.5) + cosine``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from offsphere.base.errors import OffsphereError, ParameterError, UnknownNameError
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import CORNERS, FAMILIES, Polar, Similarity
from offsphere.scoring.transforms import TRANSFORMS, Transform

MADE_FROM_DATA = ("nnn", "csls", "z-score")
_PART = re.compile(r"^\s*([a-z-]+)\s*(?:\(([^()]*)\))?\s*$")


def parse_scorer(text: str) -> Scorer:
    """The scorer of that name: transforms and a similarity, joined by plus signs."""
    *transforms, similarity = text.split("+")
    if similarity.strip().partition("(")[0] in MADE_FROM_DATA:
        raise OffsphereError(
            f"{similarity.strip()} is made from a bank of queries or from the corpus, not from its name: "
            "use offsphere.nnn, offsphere.csls or offsphere.standardize_queries"
        )
    return Scorer(parse_similarity(similarity), tuple(parse_transform(part) for part in transforms))


def parse_similarity(text: str) -> Similarity:
    """``cosine``, ``polar(1, 0.75)``, ``norm-mix(0.9)``, ..."""
    corners = {name: Polar(*point) for point, name in CORNERS.items()}
    name, arguments = _parts(text)
    if name in corners and arguments:
        raise ParameterError(f"{name} takes no parameters: write polar(query, document) for any exponents")
    if name in corners:
        return corners[name]
    if name in TRANSFORMS:
        raise OffsphereError(f"{name} is a transform: write '{text.strip()} + cosine', or another similarity after it")
    if name in FAMILIES and not arguments and FAMILIES[name]().parameters:
        needed = ", ".join(FAMILIES[name]().parameters)
        raise ParameterError(f"{name} needs its parameters: write {name}({needed}) with numbers")
    if name not in FAMILIES:
        raise UnknownNameError("similarity", name, [*corners, *FAMILIES])
    made = _made(FAMILIES[name], name, arguments)
    assert isinstance(made, Similarity)
    return made


def parse_transform(text: str) -> Transform:
    """``center``, ``whiten(0.5)``, ``drop-top(3)``, ..."""
    name, arguments = _parts(text)
    if name not in TRANSFORMS:
        raise UnknownNameError("transform", name, list(TRANSFORMS))
    made: Transform = _made(TRANSFORMS[name], name, [*_typed(name, arguments)])
    return made


def _typed(name: str, arguments: list[float]) -> Iterator[float | int | None]:
    """Numbers of components and directions are whole; no components at all are written as 0."""
    for place, number in enumerate(arguments):
        if (name, place) not in (("whiten", 1), ("drop-top", 0)):
            yield number
        elif name == "whiten" and number == 0:
            yield None
        else:
            yield int(number) if number.is_integer() else number


def _parts(text: str) -> tuple[str, list[float]]:
    match = _PART.match(text)
    if match is None:
        raise OffsphereError(
            f"cannot read {text.strip()!r}: write a name such as cosine, polar(1, 0.75) or whiten(0.5)"
        )
    name, arguments = match.group(1), match.group(2)
    try:
        return name, [float(number) for number in arguments.split(",")] if arguments else []
    except ValueError as error:
        raise OffsphereError(f"cannot read {text.strip()!r}: parameters are numbers, joined by commas") from error


def _made(make: Any, name: str, arguments: list[Any]) -> Any:
    try:
        return make(*arguments)
    except TypeError as error:
        raise ParameterError(f"{name} does not take {len(arguments)} parameters") from error
