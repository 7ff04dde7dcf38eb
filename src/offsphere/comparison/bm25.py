"""BM25 as a row: what words alone would find, with no vectors at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.base.errors import ParameterError
from offsphere.base.extras import load_extra
from offsphere.base.progress import say
from offsphere.comparison.dense_lists import depth_for, ranking_of, texts_of
from offsphere.comparison.list_source import ListCandidate, ListRequest
from offsphere.data.scored_lists import ScoredLists

DEPTH = 1_000  # documents a query, for whoever joins the lists with others


@dataclass(frozen=True, slots=True)
class Bm25:
    """BM25 over the texts of a ranking task, by bm25s: its scoring, its words (two letters and more), its stop words.

    A document that shares no word with a query is not found.

    Args:
        k1: how fast a word that is repeated stops counting.
        b: how much long texts are held back, from 0 to 1.
        stop_words: a language that bm25s has a list of, such as ``en``; empty to keep all words.

    Raises:
        ParameterError: where k1 is negative or b is no share.
        MissingExtraError: where bm25s is not installed.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> from offsphere.data.items import ItemList
        >>> from offsphere.data.judgments import Judgment
        >>> words = ["wing", "flutter", "heat", "tunnel", "shock", "plate", "nozzle", "jet", "layer", "wake"]
        >>> documents = ItemList([f"d{row}" for row in range(10)], [f"the {word} of it" for word in words])
        >>> queries = ItemList([f"q{row}" for row in range(10)], [f"which {word}?" for word in words])
        >>> judged = [Judgment(f"q{row}", f"d{row}", 1.0) for row in range(10)]
        >>> task = osp.RankingTask.build("words", queries, documents, judged)
        >>> noise = np.random.default_rng(0).normal(size=(20, 8)).astype(np.float32)
        >>> table = osp.compare(task, task.vectors(noise[:10], noise[10:]), ["dot"], lists=[osp.Bm25()])
        >>> table.lists[0].name, table.lists[0].value
        ('bm25', 1.0)
    """

    k1: float = 1.5
    b: float = 0.75
    stop_words: str = "en"

    def __post_init__(self) -> None:
        """Refuse numbers for which the formula means nothing, and a package that is not there."""
        if not (self.k1 >= 0 and 0 <= self.b <= 1):
            raise ParameterError(f"bm25: k1 = {self.k1} and b = {self.b}: k1 is at least 0, b from 0 to 1")
        load_extra("bm25s")

    def candidates(self, asked: ListRequest) -> Sequence[ListCandidate]:
        """Index the documents and ask every query."""
        ranking_of(asked, "bm25")
        queries, documents = texts_of(asked, "bm25")
        say(asked.progress, "bm25")
        lists = self.search(queries, documents, depth_for(asked, DEPTH))
        return [ListCandidate("bm25", "count shared words, rare ones more (BM25)", [lists])]

    def search(self, queries: Sequence[str], documents: Sequence[str], depth: int) -> ScoredLists:
        """Rank documents by BM25.

        Args:
            queries: texts.
            documents: texts.
            depth: how many documents a query gets at most.

        Returns:
            Documents with a score above zero, ties in their order.
        """
        bm25s = load_extra("bm25s")
        index = bm25s.BM25(k1=self.k1, b=self.b)
        words = {"stopwords": self.stop_words or None, "show_progress": False, "return_ids": False}
        tokens = bm25s.tokenize(list(documents), **words)
        if not any(tokens):
            return ScoredLists(np.full((len(queries), 1), -np.inf), np.full((len(queries), 1), -1))
        index.index(tokens, show_progress=False)
        best = [_best(self._scores(index, words), depth) for words in bm25s.tokenize(list(queries), **words)]
        width = max(1, *(len(rows) for rows, _ in best))
        listed = np.full((len(queries), width), -1, np.int64)
        scores = np.full(listed.shape, -np.inf)
        for query, (rows, values) in enumerate(best):
            listed[query, : len(rows)], scores[query, : len(rows)] = rows, values
        return ScoredLists.ranked(listed, scores)

    @staticmethod
    def _scores(index: Any, words: list[str]) -> Array:
        """Score every document for the words of a query; a query of unknown words finds nothing."""
        known = [word for word in words if word in index.vocab_dict]
        if not known:
            return np.zeros(index.scores["num_docs"])
        return np.asarray(index.get_scores(known), np.float64)


def _best(scores: Array, depth: int) -> tuple[Index, Array]:
    """The highest scores above zero and whose they are, ties by document order."""
    rows = np.flatnonzero(scores > 0)
    order = np.argsort(-scores[rows], kind="stable")[:depth]
    return rows[order], scores[rows[order]]
