"""Which side is normalised, and how far: a pair of exponents, fixed or learned.

A vector x is scored as ``x / |x| ** g``. One exponent a side makes the normalisation grid: (1, 1) is cosine, (0, 0) the
dot product, (1, 0) and (0, 1) normalise one side only (Feng & Watanabe 2026, arXiv:2602.09229). This file knows no
torch, so that a recipe can be read and checked without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from offsphere.base.errors import ParameterError
from offsphere.base.known_names import known_name
from offsphere.scoring.similarity import Polar

Normalize = str | tuple[float, float]
LARGEST = 10  # exponent: beyond it powers of usual lengths are no numbers any more

NAMED: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "both": (1.0, 1.0),
        "cosine": (1.0, 1.0),
        "none": (0.0, 0.0),
        "dot": (0.0, 0.0),
        "query": (1.0, 0.0),
        "document": (0.0, 1.0),
        "half": (0.5, 0.5),
        "learn": (0.5, 0.5),
    }
)
# what others call these
ELSEWHERE = {
    **dict.fromkeys(("ip", "inner-product", "dot-product", "no", "off", "raw"), "none"),
    **dict.fromkeys(("cos", "all", "yes", "on", "l2"), "both"),
    **dict.fromkeys(("queries", "left"), "query"),
    **dict.fromkeys(("documents", "doc", "docs", "right"), "document"),
    **dict.fromkeys(("learned", "learnable"), "learn"),
}


def known_normalize(normalize: Normalize) -> Normalize:
    """Give a name as it is known, however it was typed; two exponents stay as they are."""
    return known_name("normalisation", normalize, NAMED, ELSEWHERE) if isinstance(normalize, str) else normalize


@dataclass(frozen=True, slots=True)
class Exponents:
    """The power of its length by which each side is divided; where exponents are learned, this is where they start."""

    query: float
    document: float
    learned: bool = False

    @classmethod
    def of(cls, normalize: Normalize) -> Exponents:
        """Make exponents from a name (both, none, query, document, half, learn) or from two numbers."""
        if isinstance(normalize, str):
            name = str(known_normalize(normalize))
            return cls(*NAMED[name], learned=name == "learn")
        try:
            query, document = (float(value) for value in normalize)
        except (TypeError, ValueError, OverflowError) as error:
            raise ParameterError(
                f"normalize = {normalize!r}: give {', '.join(NAMED)}, or two exponents (query, document)"
            ) from error
        if not (abs(query) <= LARGEST and abs(document) <= LARGEST):
            raise ParameterError(f"normalize = {normalize!r}: exponents are numbers from -{LARGEST} to {LARGEST}")
        return cls(query, document)

    @property
    def one_sided(self) -> bool:
        """Whether the sides are treated differently, so that a score depends on their order."""
        return self.query != self.document

    @property
    def similarity(self) -> Polar:
        """The similarity that scores with these exponents."""
        return Polar(self.query, self.document)


def write_normalize(normalize: Normalize) -> str:
    """The normalisation as one would type it."""
    return normalize if isinstance(normalize, str) else ",".join(f"{value:g}" for value in normalize)


def read_normalize(text: str) -> Normalize:
    """Read a normalisation that was typed: a name, or two numbers joined by a comma."""
    if "," not in text:
        Exponents.of(text)
        return text
    try:
        first, second = (float(part) for part in text.split(","))
    except ValueError as error:
        raise ParameterError(f"normalize = {text!r}: write a name, or two exponents such as 1,0.5") from error
    Exponents.of((first, second))
    return first, second
