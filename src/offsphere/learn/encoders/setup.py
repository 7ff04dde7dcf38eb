"""What a training of an encoder starts from: data put apart, the model prepared, and a plan one can read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sentence_transformers.base.losses.gradcache import has_static_embedding_input

from offsphere.base.arrays import Index
from offsphere.base.digests import digest_of
from offsphere.base.errors import DataError, ParameterError
from offsphere.base.plain import plain
from offsphere.comparison.compare_scorers import metric_for
from offsphere.data.task import Task
from offsphere.learn.adapters.study import HELD_OUT, HELD_OUT_AT_MOST
from offsphere.learn.data.apart import FEWEST, rows_apart
from offsphere.learn.data.mining import MinedNegatives
from offsphere.learn.data.pairs import TrainingPairs
from offsphere.learn.data.texts import TextPairs, not_in, texts_of
from offsphere.learn.encoders.contrastive import check_widths
from offsphere.learn.encoders.encoder_recipe import EncoderRecipe
from offsphere.learn.encoders.fit import steps_of
from offsphere.learn.encoders.judging import Judge, encoded
from offsphere.learn.encoders.prepare import Preparation, prepare
from offsphere.learn.encoders.trainable import forget, load_model, set_pooling, set_prompts, truncated
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import DOT

JUDGED_BY = 1_000  # documents that held-out queries are ranked among
MOST = 0.5  # share of documents that are cut, from which it is said


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """Data to learn from, and to stop by. Several trainings may start from it."""

    task: Task
    rows: Index  # of the queries (or pairs) that are learned from
    judge: Judge
    judged_too: int  # left out, since they are judged by

    @classmethod
    def of(
        cls,
        task: Task,
        *,
        held_out: Task | None = None,
        judged: Sequence[Task] = (),
        new_documents: bool = False,
        metric: str | None = None,
        seed: int = 0,
        documents: int = JUDGED_BY,
    ) -> Material:
        """Put queries aside where none are given; held-out queries are ranked among so many documents at most."""
        texts_of(task)
        rows = np.arange(task.units)
        if held_out is not None:
            free = not_in(held_out, np.arange(held_out.units), judged)
            if len(free) < FEWEST:
                raise DataError(f"{held_out.name}: it is judged by too: stop by other data (--held-out)")
            held_out = held_out.only(free)
        else:
            share = min(HELD_OUT, HELD_OUT_AT_MOST / max(len(rows), 1))
            rows, aside = rows_apart(task, share, seed, by_document=new_documents)
            held_out = task.only(aside)
        learned = not_in(task, rows, [*judged, held_out])
        name = metric_for(held_out, metric).name
        judge = Judge(held_out.with_fewer_documents(documents, seed), name)
        return cls(task, learned, judge, len(rows) - len(learned))

    def pairs(self, recipe: EncoderRecipe, seed: int) -> TextPairs:
        """What a recipe learns from."""
        if recipe.views == "pairs":
            return TextPairs.of(self.task, self.rows)
        return TextPairs.views(self.task.items_to_view(self.rows), recipe, seed)


@dataclass(frozen=True, slots=True, eq=False)
class Setup:
    """All that one training needs."""

    model: Any
    name: str
    recipe: EncoderRecipe
    pairs: TextPairs
    material: Material
    prepared: Preparation
    seed: int
    notes: Sequence[str] = field(default=())
    counts: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Any, material: Material, recipe: EncoderRecipe, seed: int, name: str = "model") -> Setup:
        """Load the model where a name is given, prepare it, and gather the pairs; hard negatives are not mined yet."""
        if isinstance(model, str):
            name, model = model, load_model(model)
        if recipe.from_scratch:
            forget(model, seed, recipe.cut)
        if recipe.hard_negatives and (recipe.views != "pairs" or material.task.symmetric):
            raise ParameterError("hard negatives are for queries and documents: set --hard-negatives to 0")
        _check(model, recipe)
        model.float()  # a model may be saved in less
        set_reading(model, recipe)
        model.model_card_data.local_files_only = True  # nobody asked for the network
        model.model_card_data.generate_widget_examples = False
        model.model_card_data.ir_model = True  # the card shows encode_query and encode_document
        prepared = prepare(model, recipe.normalize, recipe.normalize_input)
        pairs = material.pairs(recipe, seed)
        model.model_card_data.widget = [{"text": pairs.queries[0]}]  # or the card draws five, with a bar of its own
        return cls(model, name, recipe, pairs, material, prepared, seed, *_noted(model, material, recipe, pairs))

    def with_negatives(self) -> Setup:
        """With hard negatives where the recipe wants some: judged ones first, then what the model itself ranks high."""
        if not self.recipe.hard_negatives:
            return self
        return replace(self, pairs=self.pairs.with_negatives(_negatives(self)))

    @property
    def steps(self) -> int:
        """How many there will be."""
        return steps_of(self.recipe, len(self.pairs))

    def plan(self) -> dict[str, Any]:
        """What will be done, as plain values."""
        return {
            "model": self.name,
            "data": self.material.task.summary(),
            "counts": dict(self.counts),
            "held_out": self.material.judge.task.summary(),
            "metric": self.material.judge.metric,
            "recipe": plain(self.recipe.config()),
            "stages_removed": self.prepared.removed,
            "stages_added": self.prepared.added,
            "similarity": self.prepared.similarity,
            "steps": self.steps,
            "seed": self.seed,
            "notes": list(self.notes),
        }

    def digest(self) -> str:
        """Of everything that decides how the training goes, the texts included."""
        held_out = self.material.judge.task
        sides = (*texts_of(held_out), self.pairs.queries, self.pairs.documents)
        texts = [text.encode() for side in sides for text in side]
        weights = [value.detach().cpu().numpy().tobytes() for value in self.model.parameters()]
        said = json.dumps(self.plan() | {"notes": []}, sort_keys=True, default=str).encode()
        return digest_of([said, self.pairs.pairs.tobytes(), digest_of(texts).encode(), *weights])


def _check(model: Any, recipe: EncoderRecipe) -> None:
    """What a model cannot do."""
    if recipe.views == "same" and has_static_embedding_input(model):
        raise ParameterError("views = same: a static model has no dropout to tell a text from itself; try augmented")
    check_widths(model, recipe.dimensions)


def set_reading(model: Any, recipe: EncoderRecipe) -> None:
    """How a model reads texts: prompts, tokens it looks at, pooling."""
    if recipe.pooling is not None:
        set_pooling(model, recipe.pooling)
    set_prompts(model, recipe.prompts)
    if recipe.max_tokens is not None:
        most = getattr(getattr(model[0], "config", None), "max_position_embeddings", None)
        if most is not None and recipe.max_tokens > most:
            raise ParameterError(f"max_tokens = {recipe.max_tokens}: the model has places for {most} tokens only")
        model.max_seq_length = recipe.max_tokens


def _noted(model: Any, material: Material, recipe: EncoderRecipe, pairs: TextPairs) -> tuple[list[str], dict[str, int]]:
    """What to mind about the data, and counts."""
    share = truncated(model, list(pairs.documents))
    counts = {
        "pairs": len(pairs),
        "held_out": material.judge.task.units,
        "judged_too": material.judged_too,
        "documents_cut": round(share * len(pairs.documents)),
    }
    notes = []
    if share > MOST:
        notes.append(
            f"{counts['documents_cut']:,} of {len(pairs.documents):,} documents are longer than the "
            f"{model.max_seq_length} tokens the model looks at, and are cut: raise --max-tokens if the model allows it"
        )
    if material.judged_too:
        notes.append(f"{material.judged_too} queries or pairs stand in what is judged by too: left out of training")
    if pairs.judged_negatives and not recipe.hard_negatives:
        notes.append(f"{pairs.judged_negatives:,} documents are judged not relevant: use them with --hard-negatives 1")
    return notes, counts


def _negatives(setup: Setup) -> Index:
    """Rows of documents, so many for each pair."""
    pairs, task, count = setup.pairs, setup.material.task, setup.recipe.hard_negatives
    rng = np.random.default_rng([setup.seed, 11])
    given: dict[int, list[int]] = {}
    names = task.sides[0].ids or range(task.units)
    for query, document in zip(*task.judged_negatives(), strict=True):
        given.setdefault(int(query), []).append(int(document))
    mined: MinedNegatives | None = None
    if any(len(given.get(query, ())) < count for query in pairs.pairs[:, 0].tolist()):
        vectors = encoded(setup.model, task)
        mined = MinedNegatives.by(Scorer(DOT), TrainingPairs.of((task, vectors), rows=setup.material.rows), rng)
    found = np.empty((len(pairs), count), np.int64)
    for place, query in enumerate(pairs.pairs[:, 0].tolist()):
        own = list(given.get(query, []))
        rng.shuffle(own)
        if len(own) < count and mined is not None:
            ranked = mined.negatives[query]
            own += rng.permutation(np.setdiff1d(ranked[ranked >= 0], own)).tolist()
        if len(own) < count:
            raise DataError(
                f"query {names[query]!r} has {len(own)} documents that could be hard negatives, fewer than "
                f"{count}: lower --hard-negatives"
            )
        found[place] = own[:count]
    return found
