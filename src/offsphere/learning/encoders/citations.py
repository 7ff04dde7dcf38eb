"""Papers as BibTeX, from how they are named here: authors, year, and their number on arXiv."""

from __future__ import annotations

import re
from collections.abc import Iterator

PAPER = re.compile(r"(?P<authors>[^;,()]+?) (?P<year>\d{4})(?:/\d{4})?, arXiv:(?P<number>\d{4}\.\d{4,5})")

OURS = """@software{offsphere,
    title = {offsphere: what the length of embedding vectors is worth},
    year = {2026},
}"""


def bibtex_of(papers: str) -> list[str]:
    """An entry for every paper that a text names with its number on arXiv; none where it names none.

    Args:
        papers: Such as ``Gao et al. 2021, arXiv:2104.08821``; several may stand in it.

    Returns:
        Entries of BibTeX, which name the authors as the text does.

    Example:
        >>> print(bibtex_of("Gao et al. 2021, arXiv:2104.08821")[0])
        @misc{arxiv:2104.08821,
            author = {Gao and others},
            year = {2021},
            eprint = {2104.08821},
            archiveprefix = {arXiv},
            url = {https://arxiv.org/abs/2104.08821},
        }
    """
    return list(_entries(papers))


def _entries(papers: str) -> Iterator[str]:
    for paper in PAPER.finditer(papers):
        number = paper["number"]
        authors = re.sub(r" et al\.", " and others", paper["authors"].strip()).replace(" & ", " and ")
        lines = [
            f"author = {{{authors}}},",
            f"year = {{{paper['year']}}},",
            f"eprint = {{{number}}},",
            "archiveprefix = {arXiv},",
            f"url = {{https://arxiv.org/abs/{number}}},",
        ]
        yield "\n".join([f"@misc{{arxiv:{number},", *(f"    {line}" for line in lines), "}"])
