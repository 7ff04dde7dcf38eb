"""Names of scorers, as they are printed and as a user types them: ``whiten(0.5) + cosine``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from offsphere.base.errors import DataError, OffsphereError, ParameterError
from offsphere.base.known_names import known_name, plain_name
from offsphere.base.local_paths import local_path
from offsphere.scoring.part import Part
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import CORNERS, FAMILIES, LengthPrior, Polar, Similarity
from offsphere.scoring.training_record import Training
from offsphere.scoring.transforms import TRANSFORMS, AdapterMap, Transform

MADE_FROM_DATA = {
    "nnn": "a bank of queries: use offsphere.nnn",
    "csls": "a bank of queries: use offsphere.csls",
    "z-score": "the corpus: use offsphere.standardize_queries",
    LengthPrior.kind: "judgments: use offsphere.compare with more=True, and save the row",
}
NAMED_FAMILIES = {kind: family for kind, family in FAMILIES.items() if family.by_name}
NAMED_TRANSFORMS = {kind: transform for kind, transform in TRANSFORMS.items() if transform.by_name}
_PART = re.compile(r"^\s*([A-Za-z][A-Za-z0-9_ -]*?)\s*(?:\(([^()]*)\))?\s*$")
# what others call these
SIMILARITIES_ELSEWHERE = {
    **dict.fromkeys(("cos", "cosine-similarity", "cosine-distance", "cossim", "normalized-dot"), "cosine"),
    **dict.fromkeys(("ip", "inner", "inner-product", "innerproduct", "dot-product", "dotproduct", "mips"), "dot"),
    **dict.fromkeys(("l2", "euclid", "euclidean-distance", "l2-distance", "l2sq", "squared-l2"), "euclidean"),
    **dict.fromkeys(("angle", "arccos", "angular-distance"), "angular"),
}
TRANSFORMS_ELSEWHERE = {
    **dict.fromkeys(("centre", "centering", "centring", "mean-center", "demean"), "center"),
    **dict.fromkeys(("whitening", "zca", "pca-whitening", "bert-whitening", "soft-zca"), "whiten"),
    **dict.fromkeys(("abtt", "all-but-the-top", "remove-top", "remove-pc"), "drop-top"),
    **dict.fromkeys(("standardise", "zscore", "z-score", "scale"), "standardize"),
    **dict.fromkeys(("layernorm", "layer-normalization", "layer-normalisation", "ln"), "layer-norm"),
    **dict.fromkeys(("mean-projection", "remove-mean-direction"), "project-mean"),
    **dict.fromkeys(("spectemp", "spectral-tempering"), "temper"),
}

SomePart = TypeVar("SomePart", bound=Part)


def parse_scorer(text: str) -> Scorer:
    """Read the name of a scorer: transforms and a similarity, joined by plus signs.

    Args:
        text: a name such as ``cosine``, ``polar(1, 0.75)`` or ``center + whiten(0.5) + dot``.

    Returns:
        The scorer, not fitted yet where it has transforms.

    Raises:
        OffsphereError: where the text is no name, names something unknown (with near matches) or something that is
            made from data and not from a name.

    Example:
        >>> import offsphere as osp
        >>> osp.parse_scorer("whiten(0.5) + polar(1, 0.75)").similarity
        Polar(query=1.0, document=0.75)
        >>> osp.parse_scorer("cosin")
        Traceback (most recent call last):
            ...
        offsphere.base.errors.UnknownNameError: unknown similarity 'cosin': did you mean cosine?
    """
    *transforms, similarity = text.split("+")
    made_from = MADE_FROM_DATA.get(plain_name(similarity.partition("(")[0]))
    if made_from is not None:
        raise OffsphereError(f"{similarity.strip()} is not made from its name but from {made_from}")
    return Scorer(parse_similarity(similarity), tuple(parse_transform(part) for part in transforms))


def read_scorer(text: str) -> Scorer:
    """Read a scorer by its name, or by the folder it was saved in.

    Args:
        text: a name as ``parse_scorer`` reads it, or a folder with a saved scorer or adapter.

    Returns:
        The scorer; a learned one with the record of its training, so that it knows which queries it was trained by.

    Raises:
        OffsphereError: where the text is neither a name nor a folder with a saved scorer.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     parse_scorer("polar(1, 0.75)").save(folder)
        ...     read_scorer(folder).key == read_scorer("polar(1, 0.75)").key
        True
    """
    folder = local_path(text)
    if not folder.is_dir():
        if "/" in text:
            raise DataError(f"{text} is no folder with a saved scorer")
        return parse_scorer(text)
    scorer, record = Scorer.load(folder), Training.load(folder)
    known = [replace(part, record=record) if isinstance(part, AdapterMap) else part for part in scorer.transforms]
    return replace(scorer, transforms=tuple(known))


def parse_similarity(text: str) -> Similarity:
    """Read the name of a similarity: ``cosine``, ``polar(1, 0.75)``, ``norm-mix(0.9)``, ..."""
    corners = {name: Polar(*point) for point, name in CORNERS.items()}
    typed, numbers = _split_name(text)
    known = [*corners, *NAMED_FAMILIES, *NAMED_TRANSFORMS]
    name = plain_name(typed) if plain_name(typed) in known else typed
    if name in corners and numbers:
        raise ParameterError(f"{name} takes no parameters: write polar(query, document) for any exponents")
    if name in corners:
        return corners[name]
    if name in NAMED_TRANSFORMS:
        raise OffsphereError(f"{name} is a transform: write '{text.strip()} + cosine', or another similarity after it")
    if name in NAMED_FAMILIES and not numbers and NAMED_FAMILIES[name]().parameters:
        needed = ", ".join(NAMED_FAMILIES[name]().parameters)
        raise ParameterError(f"{name} needs its parameters: write {name}({needed}) with numbers")
    name = known_name("similarity", name, [*corners, *NAMED_FAMILIES], SIMILARITIES_ELSEWHERE)
    return _make_part(NAMED_FAMILIES[name], name, numbers)


def parse_transform(text: str) -> Transform:
    """Read the name of a transform: ``center``, ``whiten(0.5)``, ``drop-top(3)``, ..."""
    typed, numbers = _split_name(text)
    name = known_name("transform", typed, NAMED_TRANSFORMS, TRANSFORMS_ELSEWHERE)
    return _make_part(NAMED_TRANSFORMS[name], name, numbers)


def _split_name(text: str) -> tuple[str, list[float]]:
    """Split ``word(1, 2)`` into the word and its numbers."""
    match = _PART.match(text)
    if match is None:
        raise OffsphereError(
            f"cannot read {text.strip()!r}: write a name such as cosine, polar(1, 0.75) or whiten(0.5)"
        )
    name, numbers = match.group(1), match.group(2)
    try:
        return name, [float(number) for number in numbers.split(",")] if numbers else []
    except ValueError as error:
        raise OffsphereError(f"cannot read {text.strip()!r}: parameters are numbers, joined by commas") from error


def _make_part(kind: type[SomePart], name: str, numbers: Sequence[float]) -> SomePart:
    """Make a part from its numbers; too many or too few of them are told in one line."""
    try:
        return kind.of_numbers(numbers)
    except TypeError as error:
        raise ParameterError(f"{name} does not take {len(numbers)} parameters") from error
