"""A run file as a row: what any other search system found for the queries of a task, with interval and p."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

from offsphere.base.errors import DataError
from offsphere.comparison.list_source import ListCandidate, ListRequest, NotListedError
from offsphere.data.formats.run_files import FoundDocument, read_run
from offsphere.data.scored_lists import ScoredLists


@dataclass(frozen=True, slots=True, repr=False)
class RunFile:
    r"""What another system found, read from a TREC run or a ranx run; documents count in the order of their scores.

    Queries that the task does not judge are left out. A query that the run does not have found nothing.

    Args:
        path: the file; its name without the ending is the name of the row.
        ignore_missing: go on without documents and queries that the task does not list.

    Raises:
        DataError: where the file is no run.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import numpy as np
        >>> import offsphere as osp
        >>> judged = {f"q{row}": {f"d{row}": 1} for row in range(20)}
        >>> task = osp.RankingTask.from_judgments(judged, [f"d{row}" for row in range(60)])
        >>> rng = np.random.default_rng(0)
        >>> vectors = task.vectors(*(rng.normal(size=(rows, 8)).astype(np.float32) for rows in (20, 60)))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "theirs.run"
        ...     _ = path.write_text("".join(f"q{row} Q0 d{row} 1 2.5 theirs\n" for row in range(20)))
        ...     table = osp.compare(task, vectors, ["dot"], lists=[osp.RunFile(path)])
        >>> table.lists[0].name, table.lists[0].value, table.lists[0].better
        ('theirs', 1.0, True)
    """

    path: Path | str
    ignore_missing: bool = False

    def __post_init__(self) -> None:
        """Read it once, so that a file that is no run is refused before anything is searched."""
        read_run(Path(self.path))

    def __repr__(self) -> str:
        """The name of the file."""
        return f"RunFile({str(self.path)!r})"

    def candidates(self, asked: ListRequest) -> Sequence[ListCandidate]:
        """Put the run into the order of the task's queries and documents.

        Raises:
            NotListedError: where the task has pairs.
            DataError: where the run names what the task does not list, or its scores run against its ranks.
        """
        path, (queries, documents) = Path(self.path), asked.task.sides
        if queries.ids is None or documents.ids is None:
            task = asked.task
            raise NotListedError(f"{path} is left out: a run has lists of documents, {task.name} has {task.unit}")
        entries = read_run(path)
        document_rows = {name: row for row, name in enumerate(documents.ids)}
        listed = set(queries.listed or queries.ids)
        unknown = [entry for entry in entries if entry.query not in listed or entry.document not in document_rows]
        if unknown and not self.ignore_missing:
            first = unknown[0]
            side, name = ("query", first.query) if first.query not in listed else ("document", first.document)
            raise DataError(
                f"{first.where}: unknown {side} {name!r} ({len(unknown):,} such in all): is it a run of other data? "
                "Go on without them with --ignore-missing"
            )
        gone = {(entry.query, entry.document) for entry in unknown}
        known = [entry for entry in entries if (entry.query, entry.document) not in gone]
        query_rows = {name: row for row, name in enumerate(queries.ids)}
        judged = [entry for entry in known if entry.query in query_rows]
        if not judged:
            raise DataError(
                f"{path} has nothing for any of the {len(query_rows):,} judged queries of {asked.task.name}"
            )
        notes = [
            *_notes_on_ranks(path, judged),
            *_notes_on_gaps(path, judged, len(query_rows), asked.metric.depth, len(unknown)),
        ]
        lists = _lists_of(judged, query_rows, document_rows)
        phrase = f"what stands in {path.name}, in the order of its scores"
        return [ListCandidate(path.stem, phrase, [lists], notes=notes)]


def _lists_of(
    judged: Sequence[FoundDocument], query_rows: Mapping[str, int], document_rows: Mapping[str, int]
) -> ScoredLists:
    """Put what was found into arrays, a row a query of the task."""
    rows = np.array([query_rows[entry.query] for entry in judged])
    order = np.argsort(rows, kind="stable")
    counts = np.bincount(rows, minlength=len(query_rows))
    columns = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    documents = np.full((len(query_rows), int(counts.max())), -1, np.int64)
    scores = np.full(documents.shape, -np.inf)
    documents[rows[order], columns] = np.array([document_rows[entry.document] for entry in judged])[order]
    scores[rows[order], columns] = np.array([entry.score for entry in judged])[order]
    return ScoredLists.ranked(documents, scores)


def _notes_on_ranks(path: Path, judged: Sequence[FoundDocument]) -> list[str]:
    """Tell where scores disagree with ranks; refuse a file where they do so throughout, since those are distances."""
    ranked = [entry for entry in judged if entry.rank is not None]
    disagreeing, reversed_order, first = 0, 0, ""
    by_query = sorted(ranked, key=lambda entry: (entry.query, entry.rank))
    for query, entries in groupby(by_query, key=lambda entry: entry.query):
        steps = np.diff([entry.score for entry in entries])
        if (steps > 0).any():
            disagreeing += 1
            reversed_order += int((steps >= 0).all())
            first = first or query
    if not disagreeing:
        return []
    queries = len({entry.query for entry in ranked})
    if reversed_order > queries / 2:
        raise DataError(
            f"{path}: scores grow with the rank in {reversed_order:,} of {queries:,} queries, such as {first!r}: these "
            "are distances, or the ranks are wrong. Write scores of which the bigger is the better"
        )
    disagreement = f"{disagreeing:,} of {queries:,} queries, such as {first!r}"
    return [f"{path.name}: scores disagree with ranks in {disagreement}; scores count, as they do for trec_eval"]


def _notes_on_gaps(path: Path, judged: Sequence[FoundDocument], queries: int, depth: int, unknown: int) -> list[str]:
    """Tell which queries have no results, and which results are of unknown queries or documents."""
    counts: dict[str, int] = {}
    for entry in judged:
        counts[entry.query] = counts.get(entry.query, 0) + 1
    notes = []
    if len(counts) < queries:
        notes.append(
            f"{path.name} has nothing for {queries - len(counts):,} of {queries:,} queries: they count as zero"
        )
    if max(counts.values()) < depth:
        notes.append(
            f"{path.name} lists at most {max(counts.values()):,} documents a query, the metric looks at {depth}"
        )
    if unknown:
        notes.append(f"{path.name}: {unknown:,} lines name queries or documents that the task does not list")
    return notes
