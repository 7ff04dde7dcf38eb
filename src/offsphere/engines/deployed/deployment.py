"""What is deployed: a collection's metric, whether its lengths are still there, what it returns of the exact answer.

It is evidence like a comparison or a measurement: ``audit`` makes findings of it, and words are made of these.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from offsphere.base.arrays import Vectors
from offsphere.base.errors import MissingExtraError, OffsphereError
from offsphere.base.plain import plain
from offsphere.engines.collection import NoIdsError
from offsphere.engines.deployed.lengths_at_hand import LengthsAtHand
from offsphere.engines.deployed.live_collection import LiveCollection
from offsphere.engines.engine import Engine
from offsphere.engines.metric import Metric
from offsphere.engines.shipping.corpus import Corpus
from offsphere.engines.shipping.serving import Serving, servings
from offsphere.engines.shipping.verification import Verification, judge_hits, make_trial
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE, DOT, Euclidean
from offsphere.vectors.blocks import Blocks
from offsphere.vectors.lengths import are_equal, lengths

K = 10  # documents that a collection is asked for where nobody says
SCORERS = {
    Metric.COSINE: Scorer(COSINE),
    Metric.INNER_PRODUCT: Scorer(DOT),
    Metric.EUCLIDEAN: Scorer(Euclidean()),
}
LengthState = Literal["kept", "lost in the engine", "lost before"]
NeededChange = Literal["metric", "vectors", "re-rank"]  # what must change so that an engine serves another scorer


class Cure(NamedTuple):
    """What makes an engine serve a scorer: the metric alone, or other vectors too; and the setting, in its words."""

    change: NeededChange
    setting: str


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """What is known of a collection that is in use.

    Attributes:
        engine: Whose it is.
        target: Where it is, without a password.
        metric: By which it ranks; none where that is chosen with each query, or is one that we do not have.
        index: Its kind, in the engine's words.
        rows: Vectors in it.
        lengths: Whether they are still there, and if not, who lost them.
        mean_length: Of vectors that have a length.
        variation: The deviation of these lengths over their mean.
        empty: Vectors that have none.
        documents: Of the task; none where there is no task.
        missing: Of these, those that are not in the collection.
        unknown: Vectors in it that belong to no document of the task.
        answers: What it returned of the exact answer to somebody who sets nothing but k, where it could be asked.
        k: How many documents it was asked for.
        refused: Why it gives nobody so many documents, where it does not.
        at_hand: What lengths that it lost are worth, where other vectors of its documents still have them.
        made_for: The scorer for which an export changed the vectors that it holds, empty where it is not known which;
            none where they are as the model gave them, as far as is known.
    """

    engine: Engine = field(repr=False)
    target: str
    metric: Metric | None
    index: str
    rows: int
    lengths: LengthState
    mean_length: float
    variation: float
    empty: int = 0
    documents: int | None = None
    missing: int = 0
    unknown: int = 0
    answers: Verification | None = None
    k: int = K
    refused: str = ""
    at_hand: LengthsAtHand | None = None
    made_for: str | None = None

    @classmethod
    def of(
        cls,
        live: LiveCollection,
        *,
        queries: Vectors | None = None,
        documents: int | None = None,
        missing: int = 0,
        unknown: int = 0,
        k: int = K,
    ) -> Deployment:
        """Look at a collection that was read, and ask it where there are queries.

        Args:
            live: The collection.
            queries: As the model gives them; it is asked with some of them.
            documents: How many the task has, where there is one.
            missing: How many of these the collection does not have.
            unknown: How many of its vectors belong to none of them.
            k: How many documents it is asked for: as many as the metric looks at.
        """
        k = min(k, len(live.vectors))
        answers, refused = _ask(live, queries, k) if queries is not None else (None, "")
        row_lengths = np.concatenate([lengths(block) for block in Blocks.of(live.vectors)])
        positive = row_lengths[row_lengths > 0]
        mean = float(positive.mean()) if len(positive) else 0.0
        equal = are_equal(row_lengths)
        return cls(
            engine=live.engine,
            target=str(live.where),
            metric=live.facts.metric,
            index=live.facts.index,
            rows=live.facts.rows,
            lengths="lost in the engine" if live.facts.normalized else "lost before" if equal else "kept",
            mean_length=mean,
            variation=float(positive.std()) / mean if mean > 0 else 0.0,
            empty=len(row_lengths) - len(positive),
            documents=documents,
            missing=missing,
            unknown=unknown,
            answers=answers,
            k=k,
            refused=refused,
            made_for=live.made_for,
        )

    @property
    def scorer(self) -> Scorer | None:
        """The scorer that the collection ranks the model's vectors by; none where it holds others, or by no metric."""
        return SCORERS[self.metric] if self.metric is not None and self.made_for is None else None

    def cure(self, scorer: Scorer) -> Cure:
        """What to change so that the engine serves another scorer from this collection."""
        if not scorer.similarity.lowers:
            return Cure("re-rank", "")
        ways = servings(scorer, self.engine)
        if not ways:  # it has distances only, for which vectors get one more coordinate
            return Cure("vectors", self.engine.metrics[Metric.EUCLIDEAN].setting)
        as_they_are = not ways[0].lowered and not scorer.transforms
        return Cure("metric" if as_they_are else "vectors", self.engine.metrics[ways[0].metric].setting)

    def to_json(self) -> dict[str, Any]:
        """Give it as plain values, for machines."""
        values = {name: plain(getattr(self, name)) for name in self.__dataclass_fields__ if name != "engine"}
        return {"engine": self.engine.name, **values}


class _Answers(NamedTuple):
    """What came of asking a collection: what it returned, or why it refused."""

    seen: Verification | None = None
    refused: str = ""


def _ask(live: LiveCollection, queries: Vectors, k: int) -> _Answers:
    """Ask a collection by its own metric, as somebody does who sets nothing but k.

    Nothing comes of it where the metric is not known, or the collection cannot be asked from here.
    """
    metric = live.facts.metric
    if metric is None:
        return _Answers()
    corpus = Corpus.of(live.vectors, live.ids, queries)
    serving = Serving(scorer=SCORERS[metric], metric=metric, lowered=False)
    trial = make_trial(corpus, serving.scorer, k)
    asked = serving.queries(trial.queries)
    with live.open() as collection:
        started = time.perf_counter()
        try:
            hits = collection.bare_search(asked, trial.k)
        except (MissingExtraError, NoIdsError):  # a file that is read without the package; rows that nobody can tell
            return _Answers()
        except OffsphereError as error:
            return _Answers(refused=str(error))
        milliseconds = 1e3 * (time.perf_counter() - started) / len(asked)
    returned = live.engine.metrics[metric].returned
    return _Answers(judge_hits(hits, serving, returned, corpus, trial, milliseconds))
