"""Which scorers to compare, and over which values their free parameters are tuned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import (
    COSINE,
    DOT,
    Agreement,
    Angular,
    Euclidean,
    NormGap,
    NormMix,
    Overlap,
    Polar,
    RadialConfidence,
    Similarity,
    Tanh,
)
from offsphere.scoring.transforms import Center, DropTop, Transform, Whiten
from offsphere.vectors.moments import Moments

CHAINS: tuple[tuple[Transform, ...], ...] = (
    (),
    (Center(),),
    (Whiten(0.25),),
    (Whiten(0.5),),
    (Whiten(1.0),),
    (DropTop(),),
)
STRENGTHS = (0.125, 0.25, 0.375, 0.5, 0.75, 1.0)
EXPONENTS = tuple(np.arange(-0.5, 1.51, 0.25).tolist())
PAIR_EXPONENTS = (-0.5, 0.0, 0.5, 1.0, 1.5)
RATIOS = (0.03, 0.1, 0.3, 1.0, 3.0)  # of a length effect to the mean length


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A row of the comparison: one scorer, or several that differ in a parameter that is to be tuned."""

    name: str
    options: tuple[Scorer, ...]
    parameters: tuple[dict[str, float], ...]  # of each option, as reported
    same: tuple[str, ...] = field(default=())  # other names that rank identically

    @classmethod
    def fixed(cls, scorer: Scorer) -> Candidate:
        """A scorer as it is."""
        return cls(scorer.name, (scorer,), (_parameters(scorer),))

    @classmethod
    def tuned(cls, name: str, options: Sequence[Scorer]) -> Candidate:
        """Scorers of one family."""
        return cls(f"{name} (tuned)", tuple(options), tuple(_parameters(option) for option in options))


def default_candidates(moments: Moments, *, by_query: bool) -> list[Candidate]:
    """Every similarity, raw and under each chain of transforms; free parameters as families to tune.

    ``by_query``: only the order of one query's documents counts, so a query's exponent need not be tuned. One dimension
    has no leading direction that could be dropped.
    """
    chains = CHAINS if len(moments.mean) > 1 else [chain for chain in CHAINS if chain != (DropTop(),)]
    found = [candidate for chain in chains for candidate in _under(chain, moments, by_query=by_query)]
    strengths = [Scorer(COSINE, (Whiten(strength),)).fit(moments) for strength in STRENGTHS]
    return [*found, Candidate.tuned("whiten + cosine", strengths)]


def _under(chain: tuple[Transform, ...], moments: Moments, *, by_query: bool) -> list[Candidate]:
    base = Scorer(COSINE, chain).fit(moments)
    mapped = base.map.moments(moments) if base.map is not None else moments
    length = float(np.sqrt(np.trace(mapped.covariance) + mapped.mean @ mapped.mean)) or 1.0
    prefix = "".join(f"{transform.name} + " for transform in chain)
    fixed: list[Similarity] = [COSINE, Polar(0, 1), Angular(), DOT, Polar(1, 0), Polar(0.5, 0.5)]
    fixed += [Euclidean(), Overlap(), Tanh()]
    families: dict[str, list[Similarity]] = {
        "polar": _polar_grid(by_query=by_query),
        "norm-mix": [NormMix(round(1 - _short(ratio / (length + ratio)), 9)) for ratio in RATIOS],
        "norm-gap": [NormGap(_short(length * ratio)) for ratio in (*RATIOS, 10.0)],
        "radial-confidence": [RadialConfidence(_short(length * ratio)) for ratio in (*RATIOS, 10.0)],
    }
    rows = [Candidate.fixed(replace(base, similarity=similarity)) for similarity in fixed]
    for name, grid in families.items():
        rows.append(Candidate.tuned(prefix + name, [replace(base, similarity=similarity) for similarity in grid]))
    return rows


def _short(value: float) -> float:
    """Two digits are enough for a grid, and make a name one can type."""
    return float(f"{value:.2g}")


def _polar_grid(*, by_query: bool) -> list[Similarity]:
    if by_query:
        return [Polar(1.0, exponent) for exponent in EXPONENTS]
    return [Polar(left, right) for left in PAIR_EXPONENTS for right in PAIR_EXPONENTS]


def _parameters(scorer: Scorer) -> dict[str, float]:
    found = dict(scorer.similarity.parameters)
    for transform in scorer.transforms:
        if isinstance(transform, Whiten):
            found["strength"] = transform.strength
    return found


def merged(candidates: Sequence[Candidate], level: Agreement, *, equal_lengths: bool) -> list[Candidate]:
    """One row for all candidates that must come out the same, whatever the data.

    ``level`` says what the metric looks at. ``equal_lengths``: the raw vectors were normalised, so that every
    similarity of theirs orders as cosine does.
    """
    kept: dict[object, Candidate] = {}
    for candidate in candidates:
        key = _key(candidate, level, equal_lengths=equal_lengths)
        first = kept.get(key)
        kept[key] = candidate if first is None else replace(first, same=(*first.same, candidate.name))
    return list(kept.values())


def _key(candidate: Candidate, level: Agreement, *, equal_lengths: bool) -> object:
    scorer = candidate.options[0]
    if not scorer.is_plain:
        return id(candidate)
    if equal_lengths and level != "value" and not _moved(scorer):
        return "all that the raw vectors can say"
    if len(candidate.options) > 1:
        return candidate.name
    return ranking_key(scorer, level)


def ranking_key(scorer: Scorer, level: Agreement) -> object:
    """Equal for two scorers that come out the same under a metric that looks at this level."""
    return _moved(scorer), scorer.similarity.agreement_key(level)


def _moved(scorer: Scorer) -> tuple[Transform, ...]:
    """The transforms that change anything: no strength or no direction is centring, and that changes no distance."""
    plain = tuple(Center() if transform in (Whiten(0), DropTop(0)) else transform for transform in scorer.transforms)
    if isinstance(scorer.similarity, Euclidean):
        return tuple(transform for transform in plain if not isinstance(transform, Center))
    return plain
