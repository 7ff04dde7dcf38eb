"""The documents of a corpus: ``corpus.jsonl``, packed or not, a parquet table, or many such parts, read one by one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import is_there
from offsphere.base.reading.parquet_files import row_blocks
from offsphere.base.reading.tables import json_lines
from offsphere.data.items import ItemList
from offsphere.data.numbered_parts import in_part_order, missing_part

CORPUS = "corpus.jsonl"
ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet")
FIELDS = ("_id", "id", "title", "text")
BLOCK = 4_096  # rows of a table that are read at a time

CorpusEntry = tuple[str, dict[str, Any]]  # where it stands, and what it says


def has_corpus(folder: Path) -> bool:
    """Whether a folder has documents, in one file or in parts."""
    return is_there(folder / CORPUS) or (folder.is_dir() and bool(_parts(folder)))


def corpus_paths(folder: Path) -> list[Path]:
    """The files of a folder's corpus in the order of its documents.

    ``corpus.jsonl`` alone where it is there; else ``corpus.jsonl.gz``, ``corpus-00001-of-00007.parquet``, ...: all
    files that begin with ``corpus`` and end in ``.jsonl``, ``.jsonl.gz``, ``.jsonl.zst`` or ``.parquet``.

    Args:
        folder: Of a data set.

    Returns:
        The paths; parts with numbers by their numbers.

    Raises:
        DataError: There is none, or a part is missing.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from offsphere.data.formats.corpus_files import corpus_paths
        >>> folder = Path(tempfile.mkdtemp())
        >>> for number in (10, 9):
        ...     _ = (folder / f"corpus-{number}.jsonl").write_text("")
        >>> [path.name for path in corpus_paths(folder)]
        ['corpus-9.jsonl', 'corpus-10.jsonl']
    """
    if is_there(folder / CORPUS):
        return [folder / CORPUS]
    paths = _parts(folder)
    if not paths:
        raise DataError(f"{folder} has no documents: add {CORPUS}, or parts of it such as corpus-0001-of-0007.jsonl.gz")
    missing = missing_part(paths)
    if missing is not None:
        raise DataError(f"{folder} lacks {missing}, a part of its corpus: add it, or rename the others")
    return paths


def corpus_entries(folder: Path) -> Iterator[CorpusEntry]:
    """The documents of a folder as they stand in its files, each with where it stands.

    Raises:
        DataError: A file cannot be read, or a part is missing.
    """
    for path in corpus_paths(folder):
        if path.suffix != ".parquet":
            yield from ((f"{path}:{number}", entry) for number, entry in json_lines(path))
            continue
        number = 0
        for block in row_blocks(path, FIELDS, BLOCK):
            for entry in block:
                yield f"{path}, row {number}", entry
                number += 1


def read_corpus(folder: Path) -> ItemList:
    """The ids and texts of a folder's documents; a document is its title and its text."""
    return read_entries(corpus_entries(folder), str(corpus_paths(folder)[0]))


def read_entries(entries: Iterator[CorpusEntry], source: str) -> ItemList:
    """The ids and texts of entries."""
    ids, texts = [], []
    for where, entry in entries:
        ids.append(id_of(entry, where))
        texts.append(text_of(entry, where))
    return ItemList(ids, texts, source)


def id_of(entry: dict[str, Any], where: str) -> str:
    """The id of an entry, called ``_id`` or ``id``."""
    name = entry.get("_id", entry.get("id"))
    if name is None:
        raise DataError(f"{where}: there is no _id")
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise DataError(f"{where}: the _id is {name!r}: ids are texts or whole numbers")
    return str(name)


def text_of(entry: dict[str, Any], where: str) -> str:
    """Title and text joined by a space, as BEIR's own models see a document."""
    given = [entry[name] for name in ("title", "text") if entry.get(name) is not None]
    if not given:
        raise DataError(f'{where}: there is neither a text nor a title (an empty one would be "")')
    for part in given:
        if not isinstance(part, str):
            raise DataError(f"{where}: a text is of type {type(part).__name__}, expected a string")
    return " ".join(part for part in given if part)


def _parts(folder: Path) -> list[Path]:
    """All files of a corpus in parts, in order."""
    named = [path for path in folder.glob("corpus*") if path.name.endswith(ENDINGS)]
    return in_part_order([path for path in named if path.name[len("corpus")] in ".-_"])
