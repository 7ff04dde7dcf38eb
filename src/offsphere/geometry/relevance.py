"""Does length carry relevance, and is it only text length in disguise?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Array, Flags, Index
from offsphere.base.errors import OffsphereError
from offsphere.base.short_repr import short_repr
from offsphere.comparison.units import too_few
from offsphere.data.judgments import Judgments
from offsphere.data.task import Task
from offsphere.geometry.evidence import Evidence
from offsphere.geometry.length import LENGTHS_DISCARDED
from offsphere.geometry.positives import Positives
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE
from offsphere.statistics.correlation import Correlation, correlation
from offsphere.statistics.effect import FEW, cohen_d, cohen_d_samples, superiority
from offsphere.statistics.estimate import UNDEFINED, Estimate
from offsphere.statistics.significance import bootstrap, interval
from offsphere.vectors.lengths import are_equal
from offsphere.wording.length_words import lengths_of_relevant

COMPETITORS = 100  # non-relevant documents nearest to a query by cosine
DEEPEST = 400  # relevant documents beyond which the search for competitors goes no deeper
FEWEST = 2
COVERED = 0.5  # share of the documents beyond which made judgments say more about how they were made than about length


class WithinQuery(NamedTuple):
    """Relevant documents against those they would really have to beat, query by query."""

    group: str
    queries: int
    d: Estimate  # mean difference of the means over the pooled deviation within queries
    chance_longer: Estimate  # the chance that a relevant document is longer than a competitor


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Relevance:
    """Length against relevance. ``d_adjusted`` is after text length was regressed out."""

    relevant: int
    others: int
    d: Estimate
    d_adjusted: Estimate | None
    d_drop: Estimate | None  # what the control takes away: d less d_adjusted, on the same resamples
    text_length_explains: float | None  # share of the variance of length that text length explains
    auc: Estimate
    within: WithinQuery
    within_adjusted: WithinQuery | None
    groups: Sequence[WithinQuery]
    document_length_and_cosine: Correlation  # document length against cosine, over positive pairs
    log_lengths_and_cosine: Correlation  # log of both lengths against cosine
    query_length_and_ndcg: Correlation  # query length against the query's ndcg@10 under cosine
    queries: int
    made: bool = False  # whether nobody judged: the judgments were made from the data

    __repr__ = short_repr

    @property
    def sentence(self) -> str:
        """Whether relevant documents are longer: over the corpus, beside rivals, and with text length held fixed."""
        if self.says_nothing:
            return f"length and relevance say nothing here: {self.says_nothing}"
        return lengths_of_relevant(self.story)

    @property
    def says_nothing(self) -> str:
        """Why nothing can be said of length and relevance, few queries or made judgments; empty where something can."""
        return too_few(self.queries, "queries") or self.made_and_covering

    @property
    def story(self) -> dict[str, Any]:
        """What the numbers say, as states (longer, shorter, none) and plain values: the words are made from these."""
        beside = self.within_adjusted.d if self.within_adjusted is not None else None
        raw, within = way_of(self.d), way_of(self.within.d)
        left = _way_left(raw, self.d_adjusted)
        states = {
            "raw": raw,
            "adjusted_way": left,
            "within": within,
            "within_adjusted_way": _way_left(within, beside),
            # nothing may be called a disguise while the relevant ones still differ from their rivals
            "disguise": left == "none" and self.in_disguise and (beside is None or not beside.excludes_zero),
        }
        named = {"d": self.d, "adjusted": self.d_adjusted, "within_d": self.within.d, "within_adjusted": beside}
        ends = {name: estimate if estimate is not None else UNDEFINED for name, estimate in named.items()}
        values = {name: estimate.value for name, estimate in ends.items()}
        lows = {f"{name}_low": estimate.low for name, estimate in ends.items()}
        highs = {f"{name}_high": estimate.high for name, estimate in ends.items()}
        return {**states, "relevant": self.relevant, "others": self.others, **values, **lows, **highs}

    @property
    def made_and_covering(self) -> str:
        """Why nothing can be said: made judgments that cover the corpus tell how they were made. Empty where not so."""
        documents = self.relevant + self.others
        if not self.made or self.relevant <= COVERED * documents:
            return ""
        return f"the judgments were made, and {self.relevant:,} of {documents:,} documents are relevant to something"

    @property
    def in_disguise(self) -> bool:
        """Whether an effect is there, the control for text length takes from it for certain, and nothing is left."""
        return (
            self.d.excludes_zero
            and self.d_adjusted is not None
            and not self.d_adjusted.excludes_zero
            and self.d_drop is not None
            and self.d_drop.excludes_zero
            and self.d_drop.value * self.d.value > 0
        )


def measure_relevance(evidence: Evidence) -> Relevance:
    """The section: length against relevance, on a task whose documents were judged."""
    task = evidence.task
    if task is None or task.relevant_to_any() is None:
        raise OffsphereError("length and relevance: it needs a ranking task, with queries, documents and judgments")
    query_lengths, document_lengths = (state.lengths for state in evidence.scans)
    judgments = _relevant(task, len(document_lengths))
    _refuse_few(task.name, judgments.relevant_to_any, document_lengths)  # before anything is searched
    cosine = {"cosine": Scorer(COSINE)}
    depth = COMPETITORS + min(int(judgments.relevant.max()), DEEPEST)
    difficulty = evidence.table["cosine"].values
    assert difficulty is not None  # ndcg@10 has a value a query
    return relevance(
        judgments,
        document_lengths=document_lengths,
        query_lengths=query_lengths,
        ranked=evidence.nearest(evidence.sides[0].vectors, cosine, depth)["cosine"],
        difficulty=difficulty,
        positives=evidence.positives,
        characters=evidence.texts[1].characters if evidence.texts is not None else None,
        groups=_rows_by_group(task, evidence.groups),
        made=task.made is not None,
        seed=evidence.seed,
    )


def relevance(
    judgments: Judgments,
    *,
    document_lengths: Array,
    query_lengths: Array,
    ranked: Index,
    difficulty: Array,
    positives: Positives,
    characters: NDArray[np.integer] | None = None,
    groups: Mapping[str, Index] | None = None,
    made: bool = False,
    seed: int = 0,
) -> Relevance:
    """Length against relevance, with the length of the text (``characters``) regressed out where it is known.

    ``ranked`` holds each query's nearest documents by cosine, ``difficulty`` its ndcg@10 under cosine, and ``groups``
    the queries of each group.
    """
    flags = judgments.relevant_to_any
    known = document_lengths > 0  # empty texts have no length that could mean anything
    relevant, others = document_lengths[flags & known], document_lengths[~flags & known]
    compared = len(others) >= FEWEST  # where every document is relevant to something only rivals are left to compare
    d = cohen_d(relevant, others, seed) if compared else UNDEFINED
    adjusted = drop = explained = within_adjusted = None
    if characters is not None and np.ptp(characters[known]):
        residuals = np.zeros_like(document_lengths)
        residuals[known], explained = regress_out(document_lengths[known], characters[known])
        if compared:
            rest = residuals[flags & known], residuals[~flags & known]
            adjusted = cohen_d(*rest, seed)
            change = cohen_d_samples(relevant, others, seed) - cohen_d_samples(*rest, seed)
            drop = Estimate.resampled(d.value - adjusted.value, change)
        within_adjusted = _within("all", _by_query(judgments, residuals, known, ranked), seed)
    differences = _by_query(judgments, document_lengths, known, ranked)
    log_lengths = np.log(positives.left_lengths * positives.right_lengths)
    return Relevance(
        relevant=len(relevant),
        others=len(others),
        d=d,
        d_adjusted=adjusted,
        d_drop=drop,
        text_length_explains=explained,
        auc=superiority(relevant, others) if compared else UNDEFINED,
        within=_within("all", differences, seed),
        within_adjusted=within_adjusted,
        groups=[_within(name, differences[rows], seed) for name, rows in (groups or {}).items()],
        document_length_and_cosine=correlation(positives.right_lengths, positives.cosines, positives.left),
        log_lengths_and_cosine=correlation(log_lengths, positives.cosines, positives.left),
        query_length_and_ndcg=correlation(query_lengths, difficulty),
        queries=judgments.query_count,
        made=made,
    )


def way_of(estimate: Estimate) -> str | None:
    """Tell whether an effect is surely longer or shorter, or neither; nothing where it is not defined."""
    if not isfinite(estimate.value):
        return None
    if not estimate.excludes_zero:
        return "none"
    return "longer" if estimate.value > 0 else "shorter"


def _way_left(way: str | None, held_fixed: Estimate | None) -> str | None:
    """Tell which way an effect points at equal text length; nothing where either of the two is not defined."""
    return way_of(held_fixed) if way is not None and held_fixed is not None else None


def _relevant(task: Task, documents: int) -> Judgments:
    """The relevant documents of each query, whatever their grade."""
    queries, rows = task.positives()
    return Judgments.of(queries, rows, np.ones(len(rows)), task.units, documents)


def _refuse_few(name: str, relevant: Flags, document_lengths: Array) -> None:
    """Refuse lengths that are all equal, and fewer than two relevant documents."""
    if are_equal(document_lengths):
        raise OffsphereError(f"length and relevance: {LENGTHS_DISCARDED}")
    count = (relevant & (document_lengths > 0)).sum()
    if count < FEWEST:
        raise OffsphereError(f"length and relevance: {name} has {count} relevant documents; an effect needs two")


def regress_out(lengths: Array, characters: NDArray[np.integer]) -> tuple[Array, float]:
    """What text length leaves of vector length, and the share of the variance it explains.

    Least squares on the logarithm of the characters, its square and its cube: whatever smooth curve it follows.
    """
    size = np.log1p(np.asarray(characters, np.float64))
    spread = size.std()
    scaled = (size - size.mean()) / (spread if spread > 0 else 1.0)
    columns = np.stack([np.ones_like(scaled), scaled, scaled**2, scaled**3], axis=1)
    weights, *_ = np.linalg.lstsq(columns, lengths, rcond=None)
    residuals = lengths - columns @ weights
    total = lengths.var()
    return residuals, float(1 - residuals.var() / total) if total > 0 else 0.0


def _by_query(judgments: Judgments, lengths: Array, known: Flags, ranked: Index) -> Array:
    """Per query: difference of means, squares within, degrees of freedom, superiority; no numbers without a side."""
    rows = np.full((judgments.query_count, 4), np.nan)
    starts = np.searchsorted(judgments.queries, np.arange(judgments.query_count + 1))
    gains = judgments.gains(ranked)
    for query in range(judgments.query_count):
        wanted = judgments.documents[starts[query] : starts[query + 1]]
        competitors = ranked[query][gains[query] <= 0][:COMPETITORS]
        relevant, others = lengths[wanted[known[wanted]]], lengths[competitors[known[competitors]]]
        if len(relevant) and len(others):
            freedom = len(relevant) + len(others) - 2
            squares = len(relevant) * relevant.var() + len(others) * others.var()
            above = (relevant[:, None] > others).mean() + (relevant[:, None] == others).mean() / 2
            rows[query] = (relevant.mean() - others.mean(), squares, freedom, above)
    return rows


def _within(group: str, differences: Array, seed: int) -> WithinQuery:
    """The effect within queries from the numbers of each query, with intervals over queries."""
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
    if len(known) < FEW:  # percentiles of a bootstrap are too narrow
        deviation = np.sqrt(known[:, 1].sum() / known[:, 2].sum()) or np.inf
        errors = known[:, [0, 3]].std(axis=0, ddof=1) / np.sqrt(len(known)) / (deviation, 1.0)
        estimates = [Estimate.around(values[i], errors[i], len(known) - 1) for i in range(2)]
        return WithinQuery(group, len(known), *estimates)
    low, high = interval(bootstrap(statistic, len(known), seed=seed))
    estimates = [Estimate(float(values[i]), float(low[i]), float(high[i])) for i in range(2)]
    return WithinQuery(group, len(known), *estimates)


def _rows_by_group(task: Task, groups: Mapping[str, str] | None) -> dict[str, Index]:
    """The rows of each group's queries, in the order of the groups' names; queries without a group are in none."""
    if groups is None:
        return {}
    known = {name: number for number, name in enumerate(task.sides[0].ids or ())}
    rows: dict[str, list[int]] = {}
    for query, group in groups.items():
        if query in known:
            rows.setdefault(group, []).append(known[query])
    missing = [query for query in groups if query not in known]
    if missing and rows:
        raise OffsphereError(
            f"query {missing[0]!r} was given a group but is no query of {task.name} ({len(missing)} such in all): "
            "correct its id, or leave it out"
        )
    if not rows:
        raise OffsphereError(f"none of the {len(groups)} queries that were given a group is a query of {task.name}")
    return {name: np.sort(np.array(rows[name])) for name in sorted(rows)}
