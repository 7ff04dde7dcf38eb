"""The items of a task as files: what somebody embeds elsewhere, and the ids by which the vectors come back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from offsphere.base.errors import DataError, ParameterError
from offsphere.base.files import regular_target, write_whole
from offsphere.base.reading.file_access import is_there, read_bounded
from offsphere.data.formats.beir import json_line
from offsphere.data.formats.qrels import MADE, made_file, qrels_table
from offsphere.data.items import texts_alone
from offsphere.data.task import Task, items_of

CORPUS, QRELS = "corpus.jsonl", "qrels.tsv"


class WrittenFile(NamedTuple):
    """A file that was written: what is in it, and how much."""

    path: Path
    rows: int
    what: str  # queries, documents, left, right, judgments


def write_items(
    task: Task, queries: Path, documents: Path | None = None, *, replace: bool = False
) -> list[WrittenFile]:
    """Write the items that ask, one JSON object a line, and beside them, where the judgments were made, these.

    A line is ``{"_id": ..., "text": ...}``. Pairs have no ids: theirs are the numbers of the pairs. Made judgments are
    ``qrels.tsv`` in the same folder, and ``made.json`` says of them that no human gave them. A file that holds the same
    already stays as it is.

    Args:
        task: A task with texts.
        queries: The file for the side that asks: queries, or left.
        documents: A file for the side that is asked for: documents, or right; not written without one.
        replace: Whether to replace files that hold something else.

    Returns:
        The files.

    Raises:
        DataError: The task has no texts, or a file holds something else.
        ParameterError: Two of the files are one.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from offsphere.data import RankingTask
        >>> from offsphere.data.item_files import write_items
        >>> from offsphere.data.items import ItemList
        >>> from offsphere.data.judgments import Judgment
        >>> queries, documents = ItemList(["q"], ["what is a norm?"]), ItemList(["d"], ["a length"])
        >>> task = RankingTask.build("small", queries, documents, [Judgment("q", "d", 1.0)])
        >>> folder = Path(tempfile.mkdtemp())
        >>> [(file.what, file.rows) for file in write_items(task, folder / "queries.jsonl")]
        [('queries', 1)]
        >>> print((folder / "queries.jsonl").read_text(), end="")
        {"_id": "q", "text": "what is a norm?"}
    """
    if task.made is not None and is_there(queries.parent / CORPUS):
        raise DataError(
            f"{queries} would lie beside {CORPUS}, and the folder be taken for one with judged queries: choose another "
            "folder"
        )
    contents = _contents(task, queries, documents)
    if len({path.absolute() for path, *_ in contents}) < len(contents):
        raise ParameterError(f"{queries} is to hold two things: give each file a name of its own")
    to_write = [(path, content) for path, content, _, _ in contents if not _holds(path, content, replace=replace)]
    for path, content in to_write:  # all were looked at before: nothing is written where one is refused
        write_whole(path, content)
    return [WrittenFile(path, rows, what) for path, _, rows, what in contents if what]


def _contents(task: Task, queries: Path, documents: Path | None) -> list[tuple[Path, bytes, int, str]]:
    """The files to be: where, their bytes, how many rows they have, and of what."""
    items = items_of(task, ": there is nothing to write out")
    contents = []
    for side, asked, path in zip(task.sides, items, (queries, documents), strict=True):
        if path is not None:
            texts = texts_alone(asked, str(path))
            ids: Sequence[str] = side.ids if side.ids is not None else list(map(str, range(len(texts))))
            lines = (json_line({"_id": name, "text": text}) for name, text in zip(ids, texts, strict=True))
            contents.append((path, "".join(lines).encode(), len(texts), side.plural))
    ids_of_queries, ids_of_documents = (side.ids for side in task.sides)
    if task.made is not None and ids_of_queries is not None and ids_of_documents is not None:
        rows = zip(*(rows.tolist() for rows in task.positives()), strict=True)
        pairs = [(ids_of_queries[query], ids_of_documents[document]) for query, document in rows]
        contents.append((queries.parent / QRELS, qrels_table(pairs), len(pairs), "judgments"))
        contents.append((queries.parent / MADE, made_file(task.made), 0, ""))
    return contents


def _holds(path: Path, content: bytes, *, replace: bool) -> bool:
    """Whether a file holds these bytes already; an error where it holds others and nobody said to replace it."""
    if not regular_target(path).exists():
        return False
    if path.stat().st_size == len(content) and read_bounded(path, len(content)) == content:
        return True
    if not replace:
        raise DataError(f"{path} holds something else: choose another name, or replace it with --replace")
    return False
