"""Similarities over tokens as rows of a comparison: pairs by their scores, rankings by ranking the best again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.digests import digest_of
from offsphere.base.errors import ParameterError
from offsphere.comparison.dense_lists import dense_lists, depth_for, first_pairs, ranked_again, texts_of
from offsphere.comparison.length_contrast import LengthContrast
from offsphere.comparison.list_source import ListCandidate, ListRequest, NotListedError
from offsphere.data.evaluator import lists_measured
from offsphere.data.items import SideTexts
from offsphere.data.scored_lists import ScoredLists
from offsphere.data.task_kinds import as_ranking_task
from offsphere.encode.encoder import Encoder
from offsphere.encode.runtime import Runtime
from offsphere.encode.sources import load_encoder
from offsphere.encode.word_vectors import word_vectors
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE
from offsphere.statistics.cross_validation import assign_folds
from offsphere.tokens.late_interaction import MaxSim
from offsphere.tokens.length_worth import MeasureVariant, length_contrasts
from offsphere.tokens.listed_pairs import score_listed
from offsphere.tokens.measure_names import parse_measures
from offsphere.tokens.token_counts import TokenCounts, count_tokens
from offsphere.tokens.token_measure import TextPairs, TokenMeasure
from offsphere.tokens.token_model import TokenModel, chosen_layers, token_model
from offsphere.tokens.vocabulary import Vocabulary


class TokenRow(NamedTuple):
    """One row: what compares tokens, in which layer, and the lists it gives."""

    measure: TokenMeasure
    layer: int | None
    lists: ScoredLists

    @property
    def name(self) -> str:
        """The name of the similarity, with the layer where there are several."""
        return name_at(self.measure, self.layer)


@dataclass(frozen=True, slots=True, eq=False)
class TokenRows:
    """Similarities over tokens, for ``osp.compare(task, vectors, lists=[osp.TokenRows("wrd", "wordllama")])``.

    Pairs are scored by their tokens alone. Of rankings the documents that cosine of the task's vectors puts first are
    ranked again by their tokens.

    Args:
        measures: names joined by commas: ``wrd``, ``softcos``, ``mean``, ``maxsim`` stand for all of their kind,
            ``wrd(uniform)`` for one, ``all`` for everything.
        model: whose tokens: what ``load_encoder`` takes, or an encoder; a static table or a transformer.
        layer: of a transformer: ``last``, ``all``, or numbers joined by commas; layer 0 enters the first block.
        top: how many documents of each query are ranked again.
        device: where torch computes; what it finds unless said.

    Raises:
        UnknownNameError: where there is no such similarity.
        ParameterError: where fewer than two documents would be ranked again.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> left, right = ["a red bus", "a bird sings", "snow"], ["the bus is red", "birds are singing", "a hot day"]
        >>> task = osp.PairTask("little", np.array([5.0, 4.0, 0.0]), left, right)
        >>> vectors = task.vectors(*np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32))
        >>> table = osp.compare(task, vectors, ["dot"], lists=[osp.TokenRows("wrd(length), maxsim(both)", "wordllama")])
        >>> [(row.name, round(row.value, 2)) for row in table.lists]
        [('wrd', 1.0), ('maxsim', 1.0)]
    """

    measures: str
    model: str | Encoder
    layer: str = "last"
    top: int = 100
    device: str | None = None

    def __post_init__(self) -> None:
        """Refuse what can be wrong before anything is read."""
        parse_measures(self.measures)
        if self.top < 2:  # noqa: PLR2004
            raise ParameterError(f"top = {self.top}: ranking again takes at least two documents")

    def candidates(self, asked: ListRequest) -> Sequence[ListCandidate]:
        """Score the pairs, or the first documents of each query, by their tokens.

        Raises:
            NotListedError: where the task has no texts.
            OffsphereError: where the model has no tokens, or no such layer.
        """
        sides = zip(asked.task.sides, texts_of(asked, "what compares tokens"), strict=True)
        first, second = (SideTexts(side.name, some) for side, some in sides)
        texts = (first, second)
        runtime = Runtime(device=self.device)
        encoder = load_encoder(self.model, runtime=runtime) if isinstance(self.model, str) else self.model
        model = token_model(encoder, texts[1].side)
        layers = chosen_layers(model, self.layer)
        counted = [count_tokens(model, side.texts) for side in texts]
        words = Vocabulary.counted(
            [side.counts for side in counted], lambda ids: word_vectors(encoder, ids, texts[1].side)
        )
        if not len(words.ids):
            raise NotListedError(f"what compares tokens is left out: no text has a token that {_name(model)} knows")
        ranks = as_ranking_task(asked.task) is not None
        measures = _without_twins(parse_measures(self.measures)) if ranks else parse_measures(self.measures)
        if not ranks and asked.task.symmetric:
            measures = [replace(one, symmetric=True) if isinstance(one, MaxSim) else one for one in measures]
        every = np.arange(asked.task.units)
        lists = (
            dense_lists(asked, Scorer(COSINE), depth_for(asked, self.top), "re-ranking by tokens") if ranks else None
        )
        pairs = TextPairs(*first_pairs(lists, self.top)) if lists is not None else TextPairs(every, every)
        scores = self._scores(asked, model, measures, texts, pairs, layers, words)
        rows = [
            TokenRow(
                measure,
                None if model.layers is None or measure.by_word else layer,
                ranked_again(lists, self.top, values) if lists is not None else ScoredLists(values),
            )
            for layer, by_measure in zip(layers, scores, strict=True)
            for measure, values in zip(measures, by_measure, strict=True)
            if values is not None
        ]
        worth = contrasts(asked, rows)
        again = f"take the {self.top} nearest by cosine and " if ranks else ""
        notes = [
            f"rows over tokens: {len(pairs.lefts):,} pairs of texts were compared, by token vectors of {_name(model)}",
            *_notes_on_empty(counted, texts, model),
            *(contrast.sentence for contrast in worth.values()),
        ]
        return [
            ListCandidate(
                row.name,
                again + row.measure.phrase,
                [row.lists],
                notes=() if number else notes,
                contrast=worth.get(row.name),
            )
            for number, row in enumerate(rows)
        ]

    def _scores(
        self,
        asked: ListRequest,
        model: TokenModel,
        measures: Sequence[TokenMeasure],
        texts: tuple[SideTexts, SideTexts],
        pairs: TextPairs,
        layers: Sequence[int],
        words: Vocabulary,
    ) -> list[list[Array | None]]:
        """Score all pairs, from the memo where that was done before."""
        wanted = [[not (number and measure.by_word) for measure in measures] for number in range(len(layers))]

        def make() -> dict[str, Array]:
            fitted = [measure.fit(words) for measure in measures]
            scores = score_listed(model, fitted, texts, pairs, layers, words, asked.progress)
            return {"scores": np.stack([some for row in scores.by_layer for some in row if some is not None])}

        description = model.encoder.description
        parts = [description.model, description.revision, repr(layers), repr([repr(one) for one in measures])]
        key = digest_of([*(part.encode() for part in parts), np.ascontiguousarray(np.stack(pairs)).tobytes()])
        kept = iter(np.asarray(asked.memo.arrays(f"tokens-{key}", make)["scores"], np.float64))
        return [[next(kept) if one else None for one in row] for row in wanted]


def contrasts(asked: ListRequest, rows: Sequence[TokenRow]) -> dict[str, LengthContrast]:
    """What token length is worth in every row that uses it, where the row without it is there too.

    Args:
        asked: the task and the metric.
        rows: what was scored.

    Returns:
        A contrast each by the name of its row, corrected for all of them.
    """
    evaluator = asked.task.evaluator(asked.vectors, asked.metric, assign_folds(asked.task.units, 2, 0))
    values = lists_measured(evaluator, [row.lists for row in rows])
    measured = dict(zip([row.name for row in rows], values, strict=True))
    variants = []
    for row in rows:
        bare = row.measure.without_length()
        name = name_at(bare, row.layer) if bare is not None else ""
        if name in measured:
            variants.append(MeasureVariant(row.name, name, measured[row.name], measured[name]))
    return {contrast.name: contrast for contrast in length_contrasts(evaluator, variants)}


def name_at(measure: TokenMeasure, layer: int | None) -> str:
    """The name of a similarity in a layer."""
    return measure.name if layer is None else f"{measure.name} @ {layer}"


def _without_twins(measures: Sequence[TokenMeasure]) -> list[TokenMeasure]:
    """One of those that rank alike: a query's own length changes no ranking of its documents."""
    return list({measure.ranking_twin(): measure for measure in reversed(measures)}.values())[::-1]


def _notes_on_empty(counted: Sequence[TokenCounts], texts: Sequence[SideTexts], model: TokenModel) -> list[str]:
    """Tell of texts that have no token."""
    notes = []
    for tokens, side in zip(counted, texts, strict=True):
        if len(tokens.empty):
            notes.append(
                f"{len(tokens.empty):,} {side.side} texts, such as number {tokens.empty[0] + 1}, have no token that "
                f"{_name(model)} knows: whatever they are compared with comes last"
            )
    return notes


def _name(model: TokenModel) -> str:
    return model.encoder.description.model
