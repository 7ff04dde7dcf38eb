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
from offsphere.data.items import kinds_of, text_of_item
from offsphere.data.task import Task
from offsphere.encode.text_marks import keep_texts
from offsphere.learning.data.item_views import item_view_pairs
from offsphere.learning.data.mined_negatives import MinedNegatives
from offsphere.learning.data.task_sources import TextSource, VectorSource
from offsphere.learning.data.training_data import TrainingData
from offsphere.learning.data.training_pairs import ItemPairs, TrainingPairs
from offsphere.learning.encoders.contrastive import check_widths
from offsphere.learning.encoders.encoder_recipe import EncoderRecipe
from offsphere.learning.encoders.fit import steps_of
from offsphere.learning.encoders.judging import TaskJudge, encode_task
from offsphere.learning.encoders.lora import add_lora
from offsphere.learning.encoders.prepare import Preparation, prepare
from offsphere.learning.encoders.projection import add_projection
from offsphere.learning.encoders.trainable import (
    SCRATCH,
    forget,
    load_model,
    set_pooling,
    set_prompts,
    share_cut,
    training_device,
)
from offsphere.learning.encoders.two_towers import freeze
from offsphere.learning.encoders.usual_rates import usual_rates
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import DOT

JUDGED_BY = 1_000  # documents that held-out queries are ranked among
MUCH_CUT = 0.5  # share of documents that are cut, above which a note says so


def text_data(
    task: Task,
    *,
    held_out: Task | None = None,
    judged: Sequence[Task] = (),
    new_documents: bool = False,
    metric: str | None = None,
    seed: int = 0,
    documents: int = JUDGED_BY,
) -> TrainingData[TextSource]:
    """Training data of an encoder, put apart.

    Held-out queries are ranked among at most so many ``documents``, since these are encoded anew at every evaluation.
    """
    data = TrainingData.of(
        TextSource(task),
        held_out=TextSource(held_out) if held_out is not None else None,
        judged=[TextSource(judged_task) for judged_task in judged],
        new_documents=new_documents,
        metric=metric,
        seed=seed,
    )
    return data.with_held_out(TextSource(data.held_out.task.with_fewer_documents(documents, seed)))


def pairs_for(recipe: EncoderRecipe, data: TrainingData[TextSource], seed: int) -> ItemPairs:
    """What a recipe learns from: the pairs of the data, or two views of every item."""
    if recipe.views == "pairs":
        return data.pairs(know_all=True)
    items = data.source.task.items_to_view(data.rows)
    return item_view_pairs(items, recipe.views, recipe.epochs or 1, seed)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EncoderSetup:
    """All that one training of an encoder needs: the model made ready, what it learns from, and what to mind."""

    model: Any
    name: str
    recipe: EncoderRecipe
    pairs: ItemPairs
    data: TrainingData[TextSource]
    prepared: Preparation
    seed: int
    notes: Sequence[str] = field(default=())
    counts: Mapping[str, int] = field(default_factory=dict)
    looked_at: int | None = None  # tokens of a text, before training

    @classmethod
    def of(
        cls,
        model: Any,
        data: TrainingData[TextSource],
        recipe: EncoderRecipe,
        seed: int,
        name: str = "model",
        device: str | None = None,
    ) -> EncoderSetup:
        """Load the model where a name is given, prepare it, and gather the pairs; hard negatives are not mined yet.

        A model in memory stays where it is unless a device is named.
        """
        if isinstance(model, str):
            name, model = model, load_model(model, device)
        elif device is not None:
            model.to(training_device(device))
        keep_texts(model)  # whoever loaded it: no text that is learned from may have anything fetched or opened
        if recipe.from_scratch:
            forget(model, seed, recipe.cut)
        if recipe.hard_negatives and (recipe.views != "pairs" or data.source.task.symmetric):
            raise ParameterError("hard negatives are for queries and documents: set --hard-negatives to 0")
        _check(model, recipe)
        if recipe.rate is None:
            named = name if name.startswith(SCRATCH) else model
            recipe = replace(recipe, rate=usual_rates(named, from_scratch=recipe.from_scratch).one)
        model.float()  # a model may be saved in less
        looked_at = model.max_seq_length
        set_reading(model, recipe)
        model.model_card_data.local_files_only = True  # nobody asked for the network
        model.model_card_data.generate_widget_examples = False
        model.model_card_data.ir_model = True  # the card shows encode_query and encode_document
        removed = add_projection(model, recipe.projection, seed) if recipe.projection else []
        prepared = prepare(model, recipe.normalize, recipe.normalize_input)
        prepared = prepared._replace(removed=[*removed, *prepared.removed])
        if recipe.frozen is not None and recipe.lora is not None:
            raise ParameterError("lora lets all other weights wait, and frozen a tower: give one of them")
        if recipe.frozen is not None:
            freeze(model, recipe.frozen)
        if recipe.lora is not None:
            add_lora(model, recipe.lora, seed)
        pairs = pairs_for(recipe, data, seed)
        _check_kinds(model, name, pairs)
        # or the card draws five texts, with a bar of its own
        model.model_card_data.widget = [{"text": text_of_item(pairs.sources[0].queries[0])}]
        notes, counts = _notes_and_counts(model, data, recipe, pairs)
        return cls(
            model=model,
            name=name,
            recipe=recipe,
            pairs=pairs,
            data=data,
            prepared=prepared,
            seed=seed,
            notes=notes,
            counts=counts,
            looked_at=looked_at,
        )

    def read_as_before(self) -> str:
        """Let the model look as far into a text as before its training, unless it is to stay; say so where it does."""
        trained = self.recipe.max_tokens
        if trained is None or self.recipe.keep_max_tokens or self.looked_at in (None, trained):
            return ""
        self.model.max_seq_length = self.looked_at
        return (
            f"trained and measured on the first {trained} tokens of a text; as saved it looks at {self.looked_at}, as "
            "before (keep_max_tokens leaves that out)"
        )

    def with_negatives(self) -> EncoderSetup:
        """Choose hard negatives where the recipe wants some: judged ones first, then what the model ranks high."""
        if not self.recipe.hard_negatives:
            return self
        return replace(self, pairs=self.pairs.with_negatives(_hard_negatives(self)))

    @property
    def judge(self) -> TaskJudge:
        """What measures the model on held-out data."""
        return TaskJudge(self.data.held_out.task, self.data.metric)

    @property
    def steps(self) -> int:
        """How many steps the training takes."""
        return steps_of(self.recipe, len(self.pairs))

    def plan(self) -> dict[str, Any]:
        """What will be done in the training, as plain values."""
        return {
            "model": self.name,
            "data": self.data.source.task.summary(),
            "counts": dict(self.counts),
            "held_out": self.data.held_out.task.summary(),
            "metric": self.data.metric,
            "recipe": plain(self.recipe.config()),
            "stages_removed": self.prepared.removed,
            "stages_added": self.prepared.added,
            "similarity": self.prepared.similarity,
            "steps": self.steps,
            "seed": self.seed,
            "notes": list(self.notes),
        }

    def digest(self) -> str:
        """A digest of everything that decides how the training goes, the texts included."""
        weights = [value.detach().cpu().numpy().tobytes() for value in self.model.parameters()]
        plan = json.dumps(self.plan() | {"notes": []}, sort_keys=True, default=str).encode()
        return digest_of([plan, str(self.model).encode(), self.data.digest().encode(), *weights])


def _check(model: Any, recipe: EncoderRecipe) -> None:
    """Refuse what this model cannot do."""
    if recipe.views == "same" and has_static_embedding_input(model):
        raise ParameterError("views = same: a static model has no dropout to tell a text from itself; try augmented")
    check_widths(model, recipe.dimensions)


def _check_kinds(model: Any, name: str, pairs: ItemPairs) -> None:
    """Refuse texts for a model of images, and images for one of texts."""
    (sides,) = pairs.sources
    for kind in {kind for items in (sides.queries, sides.documents) for kind in kinds_of(items)}:
        if not model.supports(kind):
            takes = " and ".join(f"{taken}s" for taken in model.modalities)
            raise DataError(f"{name} takes {takes}, not {kind}s: give a model that does, TEXT+IMAGE joins two")


def set_reading(model: Any, recipe: EncoderRecipe) -> None:
    """Set how a model reads texts: pooling, prompts, how many tokens it looks at."""
    if recipe.pooling is not None:
        set_pooling(model, recipe.pooling)
    set_prompts(model, recipe.prompts)
    if recipe.max_tokens is not None:
        most = getattr(getattr(model[0], "config", None), "max_position_embeddings", None)
        if most is not None and recipe.max_tokens > most:
            raise ParameterError(f"max_tokens = {recipe.max_tokens}: the model has places for {most} tokens only")
        model.max_seq_length = recipe.max_tokens


def _notes_and_counts(
    model: Any, data: TrainingData[TextSource], recipe: EncoderRecipe, pairs: ItemPairs
) -> tuple[list[str], dict[str, int]]:
    """What to mind about the data, and how much of it there is."""
    documents = pairs.sources[0].documents
    share = share_cut(model, [item for item in documents if isinstance(item, str)])
    left_out = data.judged_too + data.held_out_too
    counts = {
        "pairs": len(pairs),
        "held_out": data.held_out.task.units,
        "judged_too": left_out,
        "documents_cut": round(share * len(documents)),
    }
    notes = []
    if share > MUCH_CUT:
        notes.append(
            f"{counts['documents_cut']:,} of {len(documents):,} documents are longer than the "
            f"{model.max_seq_length} tokens the model looks at, and are cut: raise --max-tokens if the model allows it"
        )
    if left_out:
        notes.append(f"{left_out} queries or pairs stand in what is judged by too: left out of training")
    refused = data.judged_negatives()
    if refused and recipe.views == "pairs" and not recipe.hard_negatives:
        notes.append(f"{refused:,} documents are judged not relevant: use them with --hard-negatives 1")
    return notes, counts


def _hard_negatives(setup: EncoderSetup) -> Index:
    """Rows of documents, as many for each pair as the recipe asks for."""
    pairs, source, count = setup.pairs, setup.data.source, setup.recipe.hard_negatives
    rng = np.random.default_rng([setup.seed, 11])
    judged: dict[int, list[int]] = {}
    names = source.task.sides[0].ids or range(source.task.units)
    for query, document in zip(*source.task.judged_negatives(), strict=True):
        judged.setdefault(int(query), []).append(int(document))
    mined: MinedNegatives | None = None
    if any(len(judged.get(query, ())) < count for query in pairs.queries.tolist()):
        vectors = VectorSource(source.task, encode_task(setup.model, source.task))
        mined = MinedNegatives.by(Scorer(DOT), TrainingPairs.of(vectors, setup.data.rows), rng)
    negatives = np.empty((len(pairs), count), np.int64)
    for pair, query in enumerate(pairs.queries.tolist()):
        documents = list(judged.get(query, []))
        rng.shuffle(documents)
        if len(documents) < count and mined is not None:
            ranked = mined.negatives[query]
            documents += rng.permutation(np.setdiff1d(ranked[ranked >= 0], documents)).tolist()
        if len(documents) < count:
            raise DataError(
                f"query {names[query]!r} has {len(documents)} documents that could be hard negatives, fewer than "
                f"{count}: lower --hard-negatives"
            )
        negatives[pair] = documents[:count]
    return negatives
