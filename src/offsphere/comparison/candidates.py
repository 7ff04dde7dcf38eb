"""Which scorers to compare, over which values free parameters are tuned, and which scorers must come out alike."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import (
    COSINE,
    DOT,
    Agreement,
    Angular,
    Euclidean,
    LogPrior,
    NormGap,
    NormMix,
    Overlap,
    Polar,
    RadialConfidence,
    Similarity,
    Tanh,
)
from offsphere.scoring.transforms import Center, DropTop, LayerNorm, ProjectMean, Temper, Transform, Whiten
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
WEIGHTS = (-0.3, -0.1, -0.05, -0.02, 0.0, 0.02, 0.05, 0.1, 0.3)  # of the logarithm of the length beside cosine
RATIOS = (0.03, 0.1, 0.3, 1.0, 3.0)  # of a length effect to the mean length


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A row of the comparison: one scorer, or several that differ in a parameter that is to be tuned."""

    name: str
    options: tuple[Scorer, ...]
    parameters: tuple[dict[str, float], ...]  # of each option, as reported
    same: tuple[str, ...] = field(default=())  # other names that rank identically
    tuned: bool = False
    fitted_on: str = ""  # the key of its fitted map, where it was fitted on other documents than the task's

    @classmethod
    def fixed(cls, scorer: Scorer, fitted_on: str = "") -> Candidate:
        """Make a row of one scorer as it is."""
        return cls(scorer.name, (scorer,), (_reported_parameters(scorer),), fitted_on=fitted_on)

    @classmethod
    def family(cls, name: str, options: Sequence[Scorer]) -> Candidate:
        """Make a row of scorers of one family, the best of which is to be found."""
        parameters = tuple(_reported_parameters(option) for option in options)
        return cls(f"{name} (tuned)", tuple(options), parameters, tuned=True)


def default_candidates(moments: Moments, *, by_query: bool) -> list[Candidate]:
    """List every similarity, raw and under each chain of transforms, with free parameters as families to tune.

    Args:
        moments: of the documents, on which transforms are fitted. One dimension has no leading direction that could be
            dropped.
        by_query: whether only the order of one query's documents counts, so that a query's exponent need not be tuned.
    """
    chains = CHAINS if len(moments.mean) > 1 else [chain for chain in CHAINS if chain != (DropTop(),)]
    rows = [candidate for chain in chains for candidate in _behind_chain(chain, moments, by_query=by_query)]
    strengths = [Scorer(COSINE, (Whiten(strength),)).fit(moments) for strength in STRENGTHS]
    return [*rows, Candidate.family("whiten + cosine", strengths)]


def more_candidates(moments: Moments) -> list[Candidate]:
    """List what else the literature names: further transforms before cosine, and the length as a log-prior.

    Args:
        moments: of the documents, on which transforms are fitted.
    """
    chains: list[Transform] = [ProjectMean(), Temper()]
    if len(moments.mean) > 1:  # one number is its own mean
        chains.append(LayerNorm())
    rows = [Candidate.fixed(Scorer(COSINE, (transform,)).fit(moments)) for transform in chains]
    return [*rows, Candidate.family("log-prior", [Scorer(LogPrior(weight)) for weight in WEIGHTS])]


def merge_candidates(candidates: Sequence[Candidate], level: Agreement, *, equal_lengths: bool) -> list[Candidate]:
    """Make one row of all candidates that must come out the same, whatever the data.

    Args:
        candidates: the first of those that come out the same keeps its name, the others are named in it.
        level: what the metric looks at.
        equal_lengths: whether the raw vectors were normalised, so that every similarity of theirs orders as cosine.
    """
    kept: dict[Hashable, Candidate] = {}
    for candidate in candidates:
        key = _merging_key(candidate, level, equal_lengths=equal_lengths)
        first = kept.get(key)
        kept[key] = candidate if first is None else replace(first, same=(*first.same, candidate.name))
    return list(kept.values())


def ranking_key(candidate: Candidate, option: int, level: Agreement) -> Hashable:
    """Give a key that is equal for plain scorers that come out the same under a metric that looks at this level.

    The fitted map itself is no part of it: on the same documents ``whiten(0)`` is fitted to what ``center`` is fitted
    to, up to rounding. Where documents differ, ``fitted_on`` keeps scorers apart.
    """
    scorer = candidate.options[option]
    transforms = _effective_transforms(scorer)
    return (
        tuple(transform.key for transform in transforms),
        candidate.fitted_on if transforms else "",
        scorer.similarity.agreement_key(level),
    )


def _behind_chain(chain: tuple[Transform, ...], moments: Moments, *, by_query: bool) -> list[Candidate]:
    """List every similarity behind one chain of transforms."""
    base = Scorer(COSINE, chain).fit(moments)
    mapped = base.map.moments(moments) if base.map is not None else moments
    length = float(np.sqrt(np.trace(mapped.covariance) + mapped.mean @ mapped.mean)) or 1.0
    prefix = "".join(f"{transform.name} + " for transform in chain)
    fixed: list[Similarity] = [COSINE, Polar(0, 1), Angular(), DOT, Polar(1, 0), Polar(0.5, 0.5)]
    fixed += [Euclidean(), Overlap(), Tanh()]
    families: dict[str, list[Similarity]] = {
        "polar": _polar_grid(by_query=by_query),
        "norm-mix": [NormMix(round(1 - _two_digits(ratio / (length + ratio)), 9)) for ratio in RATIOS],
        "norm-gap": [NormGap(_two_digits(length * ratio)) for ratio in (*RATIOS, 10.0)],
        "radial-confidence": [RadialConfidence(_two_digits(length * ratio)) for ratio in (*RATIOS, 10.0)],
    }
    rows = [Candidate.fixed(replace(base, similarity=similarity)) for similarity in fixed]
    for name, grid in families.items():
        rows.append(Candidate.family(prefix + name, [replace(base, similarity=similarity) for similarity in grid]))
    return rows


def _two_digits(value: float) -> float:
    """Round to two digits, which are enough for a grid and make a name one can type."""
    return float(f"{value:.2g}")


def _polar_grid(*, by_query: bool) -> list[Similarity]:
    """List the points of the polar family to tune over."""
    if by_query:
        return [Polar(1.0, exponent) for exponent in EXPONENTS]
    return [Polar(left, right) for left in PAIR_EXPONENTS for right in PAIR_EXPONENTS]


def _reported_parameters(scorer: Scorer) -> dict[str, float]:
    """Give the parameters of the similarity, and the strength of whitening."""
    parameters = dict(scorer.similarity.parameters)
    for transform in scorer.transforms:
        if isinstance(transform, Whiten):
            parameters["strength"] = transform.strength
    return parameters


def _merging_key(candidate: Candidate, level: Agreement, *, equal_lengths: bool) -> Hashable:
    """Give a key that is equal for candidates that must come out the same."""
    scorer = candidate.options[0]
    if not scorer.is_plain:
        return scorer.key
    if equal_lengths and level != "value" and not _effective_transforms(scorer):
        return "all that the raw vectors can say"
    if len(candidate.options) > 1:
        return candidate.name
    return ranking_key(candidate, 0, level)


def _effective_transforms(scorer: Scorer) -> tuple[Transform, ...]:
    """Leave out what changes nothing: no strength or no direction is centring, and that changes no distance."""
    plain = tuple(Center() if transform in (Whiten(0), DropTop(0)) else transform for transform in scorer.transforms)
    if isinstance(scorer.similarity, Euclidean):
        return tuple(transform for transform in plain if not isinstance(transform, Center))
    return plain
