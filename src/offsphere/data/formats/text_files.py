"""A folder of text files: each is a document, and its title or first sentence asks for the rest of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import read_bounded
from offsphere.data.formats.corpus_files import CorpusEntry
from offsphere.data.formats.format import Format, Source
from offsphere.data.formats.known_items import task_of_entries
from offsphere.data.ranking_task import RankingTask

ENDINGS = frozenset({".txt", ".md", ".rst"})
FEWEST = 2

_HEADED = re.compile(r"(?:#+ +)?(?P<title>[^\n]*[^\n.!?:;,\s])[ \t]*\n(?:[=-]+[ \t]*)?\n+(?P<text>.+)", re.DOTALL)


def is_text_folder(path: Path) -> bool:
    """Whether a folder has text files and nothing else but hidden files, however deep."""
    files = _files(path) if path.is_dir() else []
    return len(files) >= FEWEST and all(file.suffix.lower() in ENDINGS for file in files)


def load_text_folder(source: Source) -> RankingTask:
    """Make a task of the files; a document is called by its path in the folder."""
    return task_of_entries(source.path.resolve().name, list(_entries(source.path)), str(source.path))


def titled(content: str) -> tuple[str, str]:
    r"""Tell the title of a text from the rest: a first line that ends in no mark, above a blank line.

    Args:
        content: Of a file.

    Returns:
        The title, empty where there is none, and the text.

    Example:
        >>> from offsphere.data.formats.text_files import titled
        >>> titled("# Wings\n\nThey flutter. Sometimes.")
        ('Wings', 'They flutter. Sometimes.')
        >>> titled("They flutter. Sometimes.")
        ('', 'They flutter. Sometimes.')
    """
    match = _HEADED.fullmatch(content.strip())
    return (match["title"], match["text"]) if match is not None else ("", content.strip())


def _entries(folder: Path) -> Iterator[CorpusEntry]:
    """The files as entries of a corpus, by their names."""
    for path in _files(folder):
        try:
            content = read_bounded(path).decode()
        except UnicodeDecodeError as error:
            raise DataError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start})") from error
        title, text = titled(content.replace("\r\n", "\n"))
        yield str(path), {"_id": path.relative_to(folder).as_posix(), "title": title, "text": text}


def _files(folder: Path) -> list[Path]:
    """All files of a folder in the order of their names, but for hidden ones."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in files if not any(part.startswith(".") for part in path.relative_to(folder).parts))


FORMAT = Format("a folder of texts (.txt, .md or .rst, and nothing else)", is_text_folder, load_text_folder)
