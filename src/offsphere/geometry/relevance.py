"""Does length carry relevance, and is it only text length in disguise?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsphere.errors import OffsphereError
from offsphere.geometry.correlation import Correlation, correlation
from offsphere.geometry.effect import band, cohen_d, superiority
from offsphere.geometry.estimate import UNDEFINED, Estimate
from offsphere.geometry.length import NORMALISED
from offsphere.geometry.positives import Positives
from offsphere.lengths import are_equal
from offsphere.significance import bootstrap, interval
from offsphere.tasks.ranking import RankingTask

Array = NDArray[np.float64]
Index = NDArray[np.int64]

COMPETITORS = 100  # non-relevant documents nearest to a query by cosine
FEWEST = 2


class WithinQuery(NamedTuple):
    """Relevant documents against those they would really have to beat, query by query."""

    group: str
    queries: int
    d: Estimate  # mean difference of the means over the pooled deviation within queries
    chance_longer: Estimate  # the chance that a relevant document is longer than a competitor


@dataclass(frozen=True, slots=True, eq=False)
class Relevance:
    """Length against relevance. ``d_adjusted`` is after text length was regressed out."""

    relevant: int
    others: int
    d: Estimate
    d_adjusted: Estimate | None
    text_length_explains: float | None  # share of the variance of length that text length explains
    auc: Estimate
    within: WithinQuery
    within_adjusted: WithinQuery | None
    groups: Sequence[WithinQuery]
    document_length_and_cosine: Correlation  # document length against cosine, over positive pairs
    log_lengths_and_cosine: Correlation  # log of both lengths against cosine
    query_length_and_ndcg: Correlation  # query length against the query's ndcg@10 under cosine

    @property
    def sentence(self) -> str:
        """The answer to the two questions."""
        if not self.d.excludes_zero:
            said = f"length does not tell relevant documents from others (d = {self.d})"
        else:
            way = "longer" if self.d.value > 0 else "shorter"
            said = f"relevant documents are {way} (d = {self.d}, {band(self.d.value)})"
        if self.d_adjusted is not None:
            if self.d.excludes_zero and not self.d_adjusted.excludes_zero:
                said += f"; but that is text length in disguise: without it d = {self.d_adjusted}"
            else:
                said += f"; with text length regressed out d = {self.d_adjusted}"
        within = (self.within_adjusted or self.within).d
        if within.excludes_zero:
            way = "longer" if within.value > 0 else "shorter"
            return f"{said}; of what cosine ranks together they are the {way} ones (d = {within})"
        return f"{said}; within what cosine ranks together no difference was found (d = {within})"


def relevance(
    task: RankingTask,
    document_lengths: Array,
    query_lengths: Array,
    ranked: Index,
    difficulty: Array,
    positives: Positives,
    characters: NDArray[np.integer] | None = None,
    groups: Mapping[str, str] | None = None,
    seed: int = 0,
) -> Relevance:
    """``ranked`` holds each query's nearest documents by cosine, ``difficulty`` its ndcg@10 under cosine."""
    if are_equal(document_lengths):
        raise OffsphereError(f"length and relevance: {NORMALISED}")
    flags = np.zeros(len(document_lengths), np.bool_)
    flags[task.judgments.documents[task.judgments.grades > 0]] = True
    if flags.sum() < FEWEST or (~flags).sum() < FEWEST:
        kind, count = ("relevant", flags.sum()) if flags.sum() < FEWEST else ("non-relevant", (~flags).sum())
        raise OffsphereError(f"length and relevance: {task.name} has {count} {kind} documents, and an effect needs two")
    adjusted, explained, within_adjusted = None, None, None
    if characters is not None and np.ptp(characters):
        residuals, explained = regressed_out(document_lengths, characters)
        adjusted = cohen_d(residuals[flags], residuals[~flags], seed)
        within_adjusted = _within("all", _by_query(task, residuals, ranked), seed)
    differences = _by_query(task, document_lengths, ranked)
    chosen = _grouped(task, groups)
    return Relevance(
        int(flags.sum()),
        int((~flags).sum()),
        cohen_d(document_lengths[flags], document_lengths[~flags], seed),
        adjusted,
        explained,
        superiority(document_lengths[flags], document_lengths[~flags]),
        _within("all", differences, seed),
        within_adjusted,
        [_within(name, differences[rows], seed) for name, rows in chosen.items()],
        correlation(positives.right_lengths, positives.cosines),
        correlation(np.log(positives.left_lengths * positives.right_lengths), positives.cosines),
        correlation(query_lengths, difficulty),
    )


def regressed_out(lengths: Array, characters: NDArray[np.integer]) -> tuple[Array, float]:
    """What text length leaves of vector length, and the share of the variance it explains.

    Least squares on the logarithm of the characters, its square and its cube: whatever smooth curve it follows.
    """
    size = np.log1p(np.asarray(characters, np.float64))
    spread = size.std()
    scaled = (size - size.mean()) / (spread if spread > 0 else 1.0)
    columns = np.stack([np.ones_like(scaled), scaled, scaled**2, scaled**3], axis=1)
    found, *_ = np.linalg.lstsq(columns, lengths, rcond=None)
    residuals = lengths - columns @ found
    total = lengths.var()
    return residuals, float(1 - residuals.var() / total) if total > 0 else 0.0


def _by_query(task: RankingTask, lengths: Array, ranked: Index) -> Array:
    """Per query: difference of means, squares within, degrees of freedom, superiority; no numbers without a side."""
    judgments = task.judgments
    found = np.full((judgments.query_count, 4), np.nan)
    relevant_rows = judgments.grades > 0
    starts = np.searchsorted(judgments.queries, np.arange(judgments.query_count + 1))
    gains = judgments.gains(ranked)
    for query in range(judgments.query_count):
        own = slice(starts[query], starts[query + 1])
        relevant = lengths[judgments.documents[own][relevant_rows[own]]]
        others = lengths[ranked[query][gains[query] <= 0][:COMPETITORS]]
        if len(relevant) and len(others):
            freedom = len(relevant) + len(others) - 2
            squares = len(relevant) * relevant.var() + len(others) * others.var()
            above = (relevant[:, None] > others).mean() + (relevant[:, None] == others).mean() / 2
            found[query] = (relevant.mean() - others.mean(), squares, freedom, above)
    return found


def _within(group: str, differences: Array, seed: int) -> WithinQuery:
    known = differences[np.isfinite(differences[:, 0])]
    if len(known) < FEWEST or known[:, 2].sum() <= 0:
        return WithinQuery(group, len(known), UNDEFINED, UNDEFINED)

    def statistic(weights: Array) -> Array:
        sums = weights @ known  # (resamples, 4)
        total = weights.sum(axis=1)
        deviation = np.sqrt(np.divide(sums[:, 1], sums[:, 2], out=np.zeros(len(sums)), where=sums[:, 2] > 0))
        mean = sums[:, 0] / total
        d = np.divide(mean, deviation, out=np.zeros_like(mean), where=deviation > 0)
        return np.stack([d, sums[:, 3] / total], axis=1)

    values = statistic(np.ones((1, len(known))))[0]
    low, high = interval(bootstrap(statistic, len(known), seed=seed))
    made = [Estimate(float(values[i]), float(low[i]), float(high[i])) for i in range(2)]
    return WithinQuery(group, len(known), *made)


def _grouped(task: RankingTask, groups: Mapping[str, str] | None) -> dict[str, Index]:
    """Query numbers by group, in the order of the group's name; queries without a group are in none."""
    if groups is None:
        return {}
    known = {name: number for number, name in enumerate(task.query_ids)}
    rows: dict[str, list[int]] = {}
    for query, group in groups.items():
        if query in known:
            rows.setdefault(group, []).append(known[query])
    if not rows:
        raise OffsphereError(f"none of the {len(groups)} queries that were given a group is a query of {task.name}")
    return {name: np.sort(np.array(rows[name])) for name in sorted(rows)}
