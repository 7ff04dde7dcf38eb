"""Documents worth a look, as the page groups them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from offsphere.auditing.notable_documents import NotableDocument, NotableDocuments


class DocumentGroup(NamedTuple):
    """Some documents, and what to see in them."""

    title: str
    caption: str
    documents: Sequence[NotableDocument]


def document_groups(documents: NotableDocuments | None) -> list[DocumentGroup]:
    """The groups that have any documents, each with what to look for.

    Args:
        documents: What an audit found; nothing where it did not look.

    Returns:
        Hubs, those never found, the longest and the shortest.
    """
    if documents is None:
        return []
    lists = f"lists of the first {documents.k} of {documents.queries:,} queries, under {documents.scorer}"
    groups = [
        DocumentGroup(
            "Found by everything",
            f"Look for what says little: a document that is in very many of the {lists}, is a hub and takes the "
            "place of what was asked for.",
            documents.hubs,
        ),
        DocumentGroup(
            "Never found",
            f"Look for what somebody should find: these are in none of the {lists}. Those that are relevant to "
            "some query come first.",
            documents.never,
        ),
        DocumentGroup(
            "Longest vectors",
            "Look at what these have in common: the dot product puts them first, and cosine does not see that they "
            "are long.",
            documents.longest,
        ),
        DocumentGroup(
            "Shortest vectors",
            "Look whether there is anything in these: the dot product puts them last, and what is empty or broken "
            "often ends up here.",
            documents.shortest,
        ),
    ]
    return [group for group in groups if group.documents]
