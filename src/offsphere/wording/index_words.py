"""What to do with the index, so that it ranks as the recommended scorer does: the first thing that a verdict says."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

INDEXES: Mapping[str, str] = MappingProxyType(
    {"cosine": "cosine", "inner product": "dot product (inner product)", "euclidean": "Euclidean distance (L2)"}
)


def index_words(n: Mapping[str, Any]) -> str:
    """Say what to set the index to, what to store in it, and the one command that does so where vectors change.

    Args:
        n: ``index`` (the metric of the index, or nothing where vectors must be lowered first), ``lowers`` (whether an
            index can serve it at all), ``transforms`` (whether it has any), ``changed`` (which vectors they change:
            both, queries or documents), ``by_name`` (whether the name ``served`` says all), ``pairs`` (whether pairs
            are compared, without an index), as ``scorer_findings`` gathers them.

    Returns:
        One sentence or two, without the last full stop.

    Example:
        >>> plain = {"index": "cosine", "lowers": True, "transforms": False, "by_name": True, "served": "cosine"}
        >>> index_words(plain | {"pairs": False}), index_words(plain | {"pairs": True})
        ('Set the index to cosine', 'Compare by cosine')
    """
    set_to = "compare by" if n["pairs"] else "set the index to"
    if not n["lowers"]:
        return "No index ranks so: let one set to cosine fetch a few hundred, and re-rank those (scorer.score_pairs)"
    if n["index"] is not None and not n["transforms"]:
        as_they_are = "" if n["index"] == "cosine" else ", with the vectors as they are"
        return f"{set_to.capitalize()} {INDEXES[n['index']]}{as_they_are}"
    undone = "" if n["index"] is not None else "; cosine would undo a part of this"
    target = f'"{n["served"]}"' if n["by_name"] else "FOLDER"
    saved = "" if n["by_name"] else " (FOLDER: where the scorer was saved)"
    return (
        f"Transform the vectors of {_changed(n)}, and {set_to} "
        f"{INDEXES[n['index'] or 'inner product']}{undone}. Run "
        f"`offsphere export {target} --vectors DIR --to TARGET`{saved}"
    )


def _changed(n: Mapping[str, Any]) -> str:
    """Of which vectors something is made; where an index needs the documents lowered, of all of them."""
    if n["pairs"]:
        return "both sides"
    if n["changed"] == "both" or n["index"] is None:
        return "documents and queries"
    stays = "documents" if n["changed"] == "queries" else "queries"
    return f"{n['changed']} alone ({stays} stay as they are)"
