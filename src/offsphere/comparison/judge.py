"""A model as judge: what a cross-encoder, which reads both texts together, says of pairs and of the nearest documents.

It is a reference, not a competitor: it costs one pass of a model for every pair, and tells what better similarity could
give.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.cache import Memo
from offsphere.base.digests import digest_of, digest_of_texts
from offsphere.base.errors import ParameterError
from offsphere.base.progress import Progress
from offsphere.base.question_cache import question_memo
from offsphere.comparison.dense_lists import (
    dense_lists,
    depth_for,
    first_pairs,
    ranked_again,
    ranking_of,
    texts_of,
)
from offsphere.comparison.list_source import ListCandidate, ListRequest
from offsphere.data.scored_lists import ScoredLists
from offsphere.data.task_kinds import as_ranking_task
from offsphere.encode.cross_encoder import CrossEncoderModel
from offsphere.scoring.given_scorer import fitted_scorer
from offsphere.scoring.names import parse_scorer
from offsphere.scoring.scorer import Scorer

PREFIX = "cross-encoder:"
TOP = 50  # documents a query that are ranked again
CHUNK = 512  # pairs after which what was scored is kept


@dataclass(frozen=True, slots=True)
class Judge:
    """A cross-encoder: scores every pair of a pair task, and ranks the nearest documents of a ranking task again.

    What it scored is kept in the user's cache, chunk by chunk, so that a killed run goes on and a second one is free.

    Args:
        model: ``cross-encoder:`` and a folder, or a full name of the hub.
        top: how many documents a query are ranked again; those behind them keep their order.
        scorer: by which these are found, or its name.
        cache: whether to keep what was scored.
        device: where torch computes; what it finds unless said.

    Raises:
        ParameterError: where the model is no cross-encoder by its name, or nothing is to be ranked again.

    Example:
        >>> import offsphere as osp
        >>> osp.Judge("cross-encoder:cross-encoder/ms-marco-MiniLM-L6-v2", top=20).source
        'cross-encoder/ms-marco-MiniLM-L6-v2'
    """

    model: str
    top: int = TOP
    scorer: Scorer | str = "cosine"
    cache: bool = True
    device: str | None = None

    def __post_init__(self) -> None:
        """Refuse names of other kinds, and read that of the scorer."""
        if not self.model.startswith(PREFIX) or not self.source:
            raise ParameterError(f"judge {self.model!r}: write {PREFIX}M, M a folder or a full name of the hub")
        if self.top < 1:
            raise ParameterError(f"judge: top = {self.top}: rank at least one document again")
        if isinstance(self.scorer, str):
            object.__setattr__(self, "scorer", parse_scorer(self.scorer))

    @property
    def source(self) -> str:
        """The folder of the model, or its name on the hub."""
        return self.model.removeprefix(PREFIX)

    def candidates(self, asked: ListRequest) -> Sequence[ListCandidate]:
        """Score what the task has: every pair, or every query with its nearest documents."""
        first, second = texts_of(asked, "the judge")
        encoder = CrossEncoderModel(self.source, self.device)
        name = f"judge {self.source.rstrip('/').rpartition('/')[2]}"
        if as_ranking_task(asked.task) is None:
            started = time.monotonic()
            scores, fresh = self._scores(encoder, list(zip(first, second, strict=True)), asked.progress)
            cost = _cost(len(scores), fresh, time.monotonic() - started)
            return [ListCandidate(name, "let a model read both texts together", [ScoredLists(scores)], cost=cost)]
        return [self._again(asked, encoder, name, first, second)]

    def _again(
        self,
        asked: ListRequest,
        encoder: CrossEncoderModel,
        name: str,
        queries: Sequence[str],
        documents: Sequence[str],
    ) -> ListCandidate:
        """Rank the nearest documents of every query again; what is behind them stays behind them."""
        assert isinstance(self.scorer, Scorer)  # the name was read
        _, vectors = ranking_of(asked, "the judge")
        scorer = fitted_scorer(self.scorer, vectors.fitted_on)
        lists = dense_lists(asked, scorer, depth_for(asked, self.top), "the judge")
        rows_of_pairs = (rows.tolist() for rows in first_pairs(lists, self.top))
        pairs = [(queries[query], documents[document]) for query, document in zip(*rows_of_pairs, strict=True)]
        started = time.monotonic()
        scores, fresh = self._scores(encoder, pairs, asked.progress)
        cost = _cost(len(pairs), fresh, time.monotonic() - started)
        phrase = f"take the {self.top} nearest by {scorer.name} and let a model read each with the query"
        options = [ranked_again(lists, self.top, scores)]
        return ListCandidate(f"{name}, top {self.top}", phrase, options, cost=cost)

    def _scores(
        self, encoder: CrossEncoderModel, pairs: Sequence[tuple[str, str]], progress: Progress | None
    ) -> tuple[Array, int]:
        """Score pairs in chunks that are kept; how many had to be scored now."""
        parts: list[Array] = []
        fresh = 0
        question = digest_of([b"cross-encoder", encoder.name.encode(), encoder.revision.encode()])

        def score(chunk: Sequence[tuple[str, str]]) -> dict[str, Array]:
            nonlocal fresh
            fresh += len(chunk)
            return {"scores": encoder.score(chunk)}

        with question_memo(question) if self.cache else nullcontext(Memo()) as memo:
            for start in range(0, len(pairs), CHUNK):
                chunk = pairs[start : start + CHUNK]
                texts = digest_of_texts([text for pair in chunk for text in pair])
                kept = memo.arrays(f"judged-{texts}", partial(score, chunk))
                parts.append(np.asarray(kept["scores"], np.float64))
                if progress is not None:
                    progress(start + len(chunk), len(pairs), "judging pairs")
        return np.concatenate(parts) if parts else np.zeros(0), fresh


def _cost(pairs: int, fresh: int, seconds: float) -> str:
    """Say how many pairs a model read, and how long that took; what was kept cost nothing."""
    kept = f", {pairs - fresh:,} of them kept from before" if fresh < pairs else ""
    took = f" in {seconds:,.1f} s, {1000 * seconds / fresh:.1f} ms a pair" if fresh else ""
    return f"{pairs:,} pairs read{kept}{took}"
