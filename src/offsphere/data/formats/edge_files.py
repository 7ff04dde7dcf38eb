"""Edges of a graph: two nodes a line. Some edges are held out, and each of their nodes asks for the other.

A graph of citations or of followers is directed: one end points, the other is pointed to, and only the first asks.
``nodes.tsv`` (or ``.jsonl``, ``.csv``) beside the edges has the texts of the nodes, ``features.npz`` their features.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Flags, Index
from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import is_there
from offsphere.base.reading.tables import first_row_as_it_stands, table_rows
from offsphere.data.family import DIRECTED_LINKS, LINKS
from offsphere.data.formats.format import Format, Source
from offsphere.data.formats.item_texts import find_texts, read_item_texts
from offsphere.data.items import ItemList
from offsphere.data.judgments import Judgments
from offsphere.data.linked_task import LinkedTask
from offsphere.data.named_data import one_of, whole_setting
from offsphere.data.numbering import row_numbers

STEM = "edges"
SETTINGS = ("directed", "percent", "seed")
PERCENT = 10  # of the edges that are held out
MOST_GAPS = 2  # times as many numbers as nodes with edges: more are names, not numbers of rows
HEADERS = ({"source", "target"}, {"from", "to"}, {"node1", "node2"}, {"citing", "cited"})
EXPECTED = "two nodes a line, with a tab between them"


class Edges(NamedTuple):
    """Edges by the numbers of their nodes, each once."""

    sources: Index
    targets: Index
    loops: int  # edges from a node to itself, which are left out
    repeated: int  # edges that stand there again


def edge_file(path: Path) -> Path | None:
    """The edges of a folder, or a file of that name; nothing where there is none."""
    if path.is_file():
        return path if path.stem == STEM and path.suffix in (".tsv", ".csv") else None
    files = [path / f"{STEM}{suffix}" for suffix in (".tsv", ".csv") if is_there(path / f"{STEM}{suffix}")]
    if len(files) > 1:
        raise DataError(f"{path} has {files[0].name} and {files[1].name}: keep the one to use")
    return files[0] if files else None


def is_edges(path: Path) -> bool:
    """Whether a folder has edges, or a file is one of edges."""
    return edge_file(path) is not None


def load_edges(source: Source) -> LinkedTask:
    """Read the edges and hold some out; the settings say whether they have a direction, and how many are held out."""
    path = edge_file(source.path)
    assert path is not None
    directed = one_of(source.settings, "directed", ("yes", "no"), "no") == "yes"
    percent = whole_setting(source.settings, "percent", PERCENT)
    seed = whole_setting(source.settings, "seed", 0, least=0)
    pairs = _read_pairs(path)
    nodes = _nodes(path.parent, pairs)
    edges = _number(path, pairs, nodes, directed=directed)
    count = len(nodes.ids)
    taken = hold_out_edges(edges.sources, edges.targets, count, percent / 100, seed, directed=directed)
    if not taken.any():
        raise DataError(f"{path}: no edge can be held out so that both of its nodes keep another one: give more edges")
    known, wanted = (
        _links(edges.sources[flags], edges.targets[flags], count, directed=directed) for flags in (~taken, taken)
    )
    name = path.resolve().parent.name
    family = DIRECTED_LINKS if directed else LINKS
    notes = _notes(edges, count)
    return LinkedTask.of_links(
        name, nodes.ids, nodes.ids, known, wanted, family, nodes=True, document_texts=nodes.items, notes=notes
    )


def hold_out_edges(
    sources: Index, targets: Index, nodes: int, share: float, seed: int, *, directed: bool = False
) -> Flags:
    """Choose edges to hold out at random, none of which is the last of a node.

    Args:
        sources: The node at which each edge begins.
        targets: The node at which it ends.
        nodes: How many nodes there are.
        share: How many of the edges are held out, at most.
        seed: Of the choice.
        directed: Whether a node needs an edge of each direction that it had.

    Returns:
        Flags over the edges.

    Example:
        >>> import numpy as np
        >>> from offsphere.data.formats.edge_files import hold_out_edges
        >>> triangle_and_tail = np.array([0, 1, 2, 2]), np.array([1, 2, 0, 3])
        >>> taken = hold_out_edges(*triangle_and_tail, 4, 0.9, 0)
        >>> int(taken.sum()), bool(taken[3])  # each node keeps an edge, so the tail stays
        (2, False)
    """
    ends = targets + nodes if directed else targets
    left = np.bincount(np.concatenate([sources, ends]), minlength=2 * nodes)
    taken = np.zeros(len(sources), np.bool_)
    wanted = round(share * len(sources))
    for edge in np.random.default_rng(seed).permutation(len(sources)).tolist():
        if wanted == 0:
            break
        one, other = sources[edge], ends[edge]
        if left[one] > 1 and left[other] > 1:
            taken[edge] = True
            left[one] -= 1
            left[other] -= 1
            wanted -= 1
    return taken


def _read_pairs(path: Path) -> list[tuple[int, str, str]]:
    """The lines with their two nodes; a header is one that says so."""
    header, rows = table_rows(path)
    if len(header) != 2:  # noqa: PLR2004
        raise DataError(f"{path} begins with {len(header)} columns: expected {EXPECTED}")
    if set(header) not in HEADERS:
        rows = chain([first_row_as_it_stands(path)], rows)
    pairs = [(line, row[0].strip(), row[1].strip()) for line, row in rows]
    for line, one, other in pairs:
        if not (one and other):
            raise DataError(f"{path}:{line}: an edge has an empty end: expected {EXPECTED}")
    return pairs


def _nodes(folder: Path, pairs: list[tuple[int, str, str]]) -> ItemList:
    """All nodes: those of the file of texts; else whole numbers up to the largest, or names in their order."""
    texts = find_texts(folder, "nodes")
    if texts is not None:
        return read_item_texts(texts)
    names = list(dict.fromkeys(name for _, one, other in pairs for name in (one, other)))
    if all(name.isascii() and name.isdigit() for name in names):
        largest = max(map(int, names))
        if largest < MOST_GAPS * len(names):  # numbers of rows, as features have them; the others have no edges
            return ItemList([str(number) for number in range(largest + 1)], None, str(folder))
    return ItemList(names, None, str(folder))


def _number(path: Path, pairs: list[tuple[int, str, str]], nodes: ItemList, *, directed: bool) -> Edges:
    """The edges by the numbers of their nodes; an error for a node that is not listed."""
    rows = row_numbers(nodes, "node")
    seen: dict[tuple[int, int], None] = {}
    loops = 0
    for line, one, other in pairs:
        if one not in rows or other not in rows:
            raise DataError(
                f"{path}:{line}: node {one if one not in rows else other!r} is not in {nodes.source}: add it"
            )
        start, end = rows[one], rows[other]
        loops += start == end
        if start != end:
            seen[(start, end) if directed or start < end else (end, start)] = None
    if not seen:
        raise DataError(f"{path} has no edge between two nodes: there is nothing to predict")
    numbers = np.array(list(seen), np.int64)
    return Edges(numbers[:, 0], numbers[:, 1], loops, len(pairs) - loops - len(seen))


def _links(sources: Index, targets: Index, count: int, *, directed: bool) -> Judgments:
    """Edges as links, in both directions where they have none."""
    if not directed:
        sources, targets = np.concatenate([sources, targets]), np.concatenate([targets, sources])
    return Judgments.of(sources, targets, np.ones(len(sources)), count, count)


def _notes(edges: Edges, count: int) -> list[str]:
    """What one must know of the graph."""
    alone = count - len(np.unique(np.concatenate([edges.sources, edges.targets])))
    said = {
        f"{alone:,} nodes have no edges: nobody asks for them, and only features or texts say what they are": alone,
        f"{edges.loops:,} edges lead from a node to itself and are left out": edges.loops,
        f"{edges.repeated:,} edges stand there more than once": edges.repeated,
    }
    return [sentence for sentence, number in said.items() if number]


FORMAT = Format("a graph (edges.tsv: two nodes a line)", is_edges, load_edges, settings=SETTINGS)
