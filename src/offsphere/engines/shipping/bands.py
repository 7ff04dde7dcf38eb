"""Bands of length: documents of about one length have an index each, and their answers are merged.

Within a band all lengths are about the same, so that a graph on inner product is nearly one on directions, which graphs
are good at; it costs as many searches as there are bands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from offsphere.base.arrays import Array, Rows
from offsphere.base.digests import digest_of_texts
from offsphere.engines.collection import Collection, CollectionFacts, Hits, Layout
from offsphere.engines.engine import Engine
from offsphere.engines.metric import Metric
from offsphere.engines.target import Target
from offsphere.vectors.lengths import lengths


def length_edges(document_lengths: Array, bands: int) -> tuple[float, ...]:
    """The lengths between bands that hold about as many documents each; fewer where many are of one length."""
    edges = np.unique(np.quantile(document_lengths, np.arange(1, bands) / bands).astype(np.float32))
    numbers = np.searchsorted(edges, document_lengths, side="right")
    filled = np.isin(np.arange(len(edges) + 1), numbers)  # an index of nothing cannot be built everywhere
    kept = edges[filled[:-1]] if filled[-1] else edges[filled[:-1]][:-1]
    return tuple(float(edge) for edge in kept)


class BandedCollection(Collection):
    """Several collections of one engine, each for documents between two lengths, ranked by one metric."""

    def __init__(self, engine: Engine, where: Target, edges: Sequence[float], metric: Metric) -> None:
        self.engine, self.where, self.edges = engine, where, np.asarray(edges)
        self.bands = [engine.at(where.beside(f"band{number:02d}")) for number in range(len(edges) + 1)]
        self.index_kinds, self.stored_forms = self.bands[0].index_kinds, self.bands[0].stored_forms
        self.resumable, self.largest_effort = self.bands[0].resumable, self.bands[0].largest_effort
        returned = engine.metrics[metric].returned
        self.sign = -returned.sign if metric.is_distance else returned.sign  # whether greater scores are better

    def facts(self) -> CollectionFacts | None:
        """The facts of the collections of all bands together; nothing where there is none."""
        all_facts = []
        for band in self.bands:
            all_facts.append(band.facts())
            if band.resumable:
                band.close()  # no file can be written that another band has open for reading
        there = [facts for facts in all_facts if facts is not None]
        if not there:
            return None
        whole = len(there) == len(self.bands) and not any(facts.unfinished for facts in there)
        return replace(there[0], rows=sum(facts.rows for facts in there), unfinished=not whole)

    def check(self, layout: Layout, ids: Sequence[str]) -> None:
        """Refuse what the engine cannot hold in any band."""
        self.bands[0].check(layout, ids)

    def create(self, layout: Layout) -> None:
        """Make the collection of every band."""
        if layout.index == "lists":  # as many as suit a band; a graph gets room for all, since bands differ in size
            layout = replace(layout, rows=layout.rows // len(self.bands))
        for band in self.bands:
            band.create(layout)

    def add(self, ids: Sequence[str], rows: Rows) -> None:
        """Add each vector to the band of its length."""
        numbers = np.searchsorted(self.edges, lengths(rows), side="right")
        for number in np.unique(numbers).tolist():
            chosen = np.flatnonzero(numbers == number)
            self.bands[number].add([ids[row] for row in chosen.tolist()], np.ascontiguousarray(rows[chosen]))

    def discard(self, ids: Sequence[str]) -> None:
        """Remove these from whichever band they are in."""
        for band in self.bands:
            band.discard(ids)

    def checksum(self) -> str:
        """The checksum of the files of all bands; empty where they are no files."""
        checksums = [band.checksum() for band in self.bands]
        return digest_of_texts(checksums) if all(checksums) else ""

    def finish(self) -> None:
        """Finish the collection of every band."""
        for band in self.bands:
            band.finish()

    def search(self, queries: Rows, k: int, effort: int | None = None) -> Hits:
        """Ask every band, and keep the best of all answers."""
        return self._merged([band.search(queries, k, effort) for band in self.bands], k)

    def bare_search(self, queries: Rows, k: int) -> Hits:
        """Ask every band with nothing set, and keep the best of all answers."""
        return self._merged([band.bare_search(queries, k) for band in self.bands], k)

    def _merged(self, answers: Sequence[Hits], k: int) -> Hits:
        ids, scores = [], []
        for query in range(len(answers[0].ids)):
            names = [name for answer in answers for name in answer.ids[query]]
            values = np.concatenate([np.asarray(answer.scores[query], np.float64) for answer in answers])
            best = np.argsort(-self.sign * values, kind="stable")[:k]
            ids.append([names[number] for number in best.tolist()])
            scores.append(values[best])
        return Hits(ids, scores)

    def remove(self) -> None:
        """Remove the collection of every band."""
        for band in self.bands:
            band.remove()

    def snippet(self, layout: Layout, k: int, effort: int | None = None) -> str:
        """Ask every band, and sort what they answer."""
        parts = []
        for band in self.bands:
            facts = band.facts()
            there = min(k, facts.rows) if facts is not None else k  # hnswlib gives nothing where it has fewer than k
            parts += [band.snippet(layout, there, effort).strip(), "merged = [*merged, *hits]"]
        order = "-hit[1]" if self.sign > 0 else "hit[1]"
        return "\n".join(["merged = []", *parts, f"hits = sorted(merged, key=lambda hit: {order})[:{k}]"])

    def close(self) -> None:
        """Close the collection of every band."""
        for band in self.bands:
            band.close()

    def __repr__(self) -> str:
        """Where it is, and how many bands there are."""
        return f"{self.where} in {len(self.bands)} bands"
