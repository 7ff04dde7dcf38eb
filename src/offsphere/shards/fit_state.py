"""The first pass of a comparison over shards: what transforms are fitted on, merged along the tree of all blocks.

A corpus is fitted block by block, and blocks are merged as the leaves of a binary tree. A state holds those nodes of
the tree that it cannot merge yet, so that any shards in any order end at the very numbers of one run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Arrays, Vectors
from offsphere.base.digests import array_pieces, digest_of
from offsphere.base.errors import DataError
from offsphere.base.merging import Merging
from offsphere.base.version import __version__
from offsphere.comparison.corpus_fit import CorpusFit, fit_corpus
from offsphere.shards.divided_task import DividedTask
from offsphere.shards.origin import Origin
from offsphere.shards.shard import BLOCK, Shard
from offsphere.vectors.blocks import Blocks
from offsphere.vectors.moments import Moments

Node = tuple[int, int]  # how many blocks it has, and the number of the first of them over that


@dataclass(frozen=True, slots=True, eq=False)
class FitState:
    """What shards fitted, and which shards these are."""

    origin: Origin
    nodes: Mapping[Node, CorpusFit]

    @classmethod
    def of(cls, task: DividedTask, shard: Shard, documents: Vectors, fitted: Vectors) -> FitState:
        """Fit one shard.

        Args:
            task: All documents.
            shard: Which part of its documents it is.
            documents: The vectors of the shard's own rows.
            fitted: Those of the rows that it fits.
        """
        first = shard.fitted_rows(task.documents).start // BLOCK
        nodes = {
            (1, first + number): fit_corpus(fitted[start : start + BLOCK])
            for number, start in enumerate(range(0, len(fitted), BLOCK))
        }
        return cls(fit_origin(task, shard, documents), _joined(nodes))

    def merge(self, other: FitState, what: str = "a state") -> FitState:
        """The state of both, whichever comes first.

        Raises:
            DataError: They are of different questions, or have a shard in common.
        """
        origin = self.origin.merge(other.origin, what)
        return FitState(origin, _joined({**self.nodes, **other.nodes}))

    def whole(self) -> CorpusFit:
        """What all shards fitted together.

        Raises:
            DataError: A shard is missing.
        """
        self.origin.check_whole()
        merging = Merging[CorpusFit]()
        # what is left are the digits of the number of blocks, the heaviest first
        merging.digits = sorted(((weight, fit) for (weight, _), fit in self.nodes.items()), key=lambda digit: -digit[0])
        whole = merging.result()
        if whole is None or whole.moments.count != self.origin.documents:
            raise DataError("the fitted blocks do not make up all documents: fit the shards again")
        return whole

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Its numbers, by name."""
        nodes = sorted(self.nodes)
        fits = [self.nodes[node] for node in nodes]
        width = int(self.origin.described["dimensions"])
        return {
            "nodes": np.array(nodes, np.int64).reshape(-1, 2),
            "counts": np.array([(fit.moments.count, fit.with_length) for fit in fits], np.int64).reshape(-1, 2),
            "ranges": np.array([(fit.shortest, fit.longest) for fit in fits], np.float64).reshape(-1, 2),
            "means": np.array([fit.moments.mean for fit in fits], np.float64).reshape(-1, width),
            "scatters": np.array([fit.moments.scatter for fit in fits], np.float64).reshape(-1, width, width),
        }

    @classmethod
    def from_arrays(cls, origin: Origin, arrays: Arrays) -> FitState:
        """Make it again from what ``arrays`` gave."""
        columns = (arrays[name] for name in ("nodes", "counts", "ranges", "means", "scatters"))
        nodes = {
            (int(node[0]), int(node[1])): CorpusFit(
                Moments(int(count[0]), mean, scatter), float(limits[0]), float(limits[1]), int(count[1])
            )
            for node, count, limits, mean, scatter in zip(*columns, strict=True)
        }
        return cls(origin, nodes)


def fit_origin(task: DividedTask, shard: Shard, documents: Vectors) -> Origin:
    """What the fit of a shard is made of.

    Args:
        task: All documents.
        shard: Which part of its documents it is.
        documents: The vectors of the shard's own rows.
    """
    return Origin(
        question=digest_of([b"fit", task.ids.encode(), str(documents.shape[1]).encode()]),
        described={
            "task": task.facts.name,
            "ids of documents": task.ids[:12],
            "dimensions": str(documents.shape[1]),
        },
        version=__version__,
        documents=task.documents,
        shards=shard.count,
        parts={str(shard.number): digest_of_rows(documents)},
    )


def fit_arrays(fit: CorpusFit) -> dict[str, NDArray[Any]]:
    """A fit as arrays by name."""
    return {
        "fit.mean": fit.moments.mean,
        "fit.scatter": fit.moments.scatter,
        "fit.counts": np.array([fit.moments.count, fit.with_length], np.int64),
        "fit.range": np.array([fit.shortest, fit.longest]),
    }


def fit_from_arrays(arrays: Arrays) -> CorpusFit:
    """Make a fit again from its arrays."""
    count, with_length = arrays["fit.counts"].tolist()
    shortest, longest = arrays["fit.range"].tolist()
    return CorpusFit(Moments(count, arrays["fit.mean"], arrays["fit.scatter"]), shortest, longest, with_length)


def digest_of_rows(rows: Vectors) -> str:
    """A digest of the contents of vectors, read block by block."""
    return digest_of(
        piece for block in (Blocks.of(rows) if len(rows) else ()) for piece in array_pieces({"rows": block})
    )


def _joined(nodes: Mapping[Node, CorpusFit]) -> dict[Node, CorpusFit]:
    """Merge every two nodes that are the two halves of one, again and again."""
    left = dict(nodes)
    waiting = sorted(left)
    while waiting:
        weight, number = waiting.pop()
        pair = (weight, number & ~1), (weight, number | 1)
        if all(node in left for node in pair):
            left[2 * weight, number // 2] = left.pop(pair[0]).merge(left.pop(pair[1]))
            waiting.append((2 * weight, number // 2))
    return left
