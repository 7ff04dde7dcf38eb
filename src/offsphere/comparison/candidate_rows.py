"""Which rows a comparison has: every similarity and transform, or what was named, each distinct one once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from offsphere.base.cores import one_blas_thread
from offsphere.comparison.candidates import (
    Candidate,
    default_candidates,
    merge_candidates,
    more_candidates,
)
from offsphere.scoring.names import parse_scorer
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE, Agreement
from offsphere.vectors.moments import Moments


class CandidateRows(NamedTuple):
    """The rows of a comparison before anything is measured."""

    distinct: list[Candidate]  # the first is the baseline
    given: list[Candidate] | None  # those that somebody named; nothing where everything is compared


def candidate_rows(
    scorers: Sequence[Scorer | str] | None,
    asked: Sequence[str],
    moments: Moments,
    agreement: Agreement,
    *,
    one_width: bool = True,
    equal_lengths: bool,
    more: bool = False,
) -> CandidateRows:
    """List the rows of a comparison, fitted; the same whatever the threads.

    Args:
        scorers: names or scorers to compare with cosine; nothing for every similarity, raw and under each transform.
        asked: names of further scorers, which are compared in any case.
        moments: of the documents, on which transforms are fitted.
        agreement: what the metric looks at.
        one_width: whether queries and documents have one width, without which there is no cosine.
        equal_lengths: whether the raw vectors were normalised, so that every similarity of theirs orders as cosine.
        more: whether to add further transforms, and the length as a log-prior.
    """
    with one_blas_thread():  # with several, an eigenvector may round another way
        given = _given_candidates([*scorers, *asked], moments, cosine=one_width) if scorers is not None else None
        rows = given if given is not None else default_candidates(moments, by_query=agreement == "query")
        rows = [*rows, *more_candidates(moments)] if more else rows
    return CandidateRows(merge_candidates(rows, agreement, equal_lengths=equal_lengths), given)


def _given_candidates(scorers: Sequence[Scorer | str], moments: Moments, *, cosine: bool) -> list[Candidate]:
    """Make rows of the user's scorers, fitted where they are not, and of cosine as the baseline.

    Without ``cosine``, where the vectors have two widths, the first of the scorers is the baseline.
    """
    parsed = [parse_scorer(scorer) if isinstance(scorer, str) else scorer for scorer in scorers]
    fitted: dict[tuple[str, ...], Scorer] = {}
    for scorer in parsed:
        key = tuple(transform.key for transform in scorer.transforms)
        if scorer.needs_fit and key not in fitted:
            fitted[key] = scorer.fit(moments)
    fitted_here = {"", *(scorer.map_key for scorer in fitted.values())}
    rows = []
    for scorer in [*([Scorer(COSINE)] if cosine else []), *parsed]:
        if scorer.needs_fit:
            base = fitted[tuple(transform.key for transform in scorer.transforms)]
            scorer = replace(scorer, map=base.map)  # noqa: PLW2901
        rows.append(Candidate.fixed(scorer, "" if scorer.map_key in fitted_here else scorer.map_key))
    return _name_apart(rows)


def _name_apart(rows: Sequence[Candidate]) -> list[Candidate]:
    """Drop repetitions, and number different scorers that print the same name."""
    kept: dict[str, Candidate] = {}
    for row in rows:
        number = 1 + sum(earlier.name.partition(" #")[0] == row.name for earlier in kept.values())
        kept.setdefault(row.options[0].key, row if number == 1 else replace(row, name=f"{row.name} #{number}"))
    return list(kept.values())
