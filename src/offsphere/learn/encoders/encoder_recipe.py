"""Everything that decides how an encoder is trained, but for data, model and seed; and recipes that have a name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from offsphere.base.errors import ParameterError, UnknownNameError
from offsphere.learn.objective.contrastive_options import ContrastiveOptions

VIEWS = ("pairs", "same", "augmented", "crops")
SCHEDULES = ("cosine", "linear", "constant")
PRECISIONS = ("fp32", "bf16")
POOLINGS = (None, "mean", "cls", "max")


@dataclass(frozen=True, slots=True)
class EncoderRecipe(ContrastiveOptions):
    """How to train an encoder. The defaults are InfoNCE with cosine at temperature 0.05, one epoch of pairs of 32."""

    AT_LEAST: ClassVar[Mapping[str, int]] = MappingProxyType(
        dict(ContrastiveOptions.AT_LEAST)
        | {"epochs": 1, "steps": 1, "queue": 1, "max_tokens": 2, "mini_batch": 1, "evaluate_every": 1}
    )

    batch: int = 32
    epochs: int | None = 1
    rate: float = 2e-5
    hard_negatives: int = 0  # mined for each pair by the model's own score, before it is trained
    patience: int = 4
    dynamics_every: int = 50
    steps: int | None = None  # instead of epochs
    views: str = "pairs"  # what is learned from: pairs of the data, or two views of one text (same, augmented, crops)
    prompts: tuple[str, ...] = ()  # put before queries and documents; as the model has them
    momentum: float | None = None  # documents by a slow copy of the model
    queue: int = 4_096  # negatives it keeps
    first_cosine: float = 0.0  # share of the steps that cosine is trained first
    pooling: str | None = None  # mean, cls or max; as the model has it
    max_tokens: int | None = None  # that the model looks at; as it has it
    mini_batch: int | None = None  # texts that the model sees at a time (GradCache)
    dimensions: tuple[int, ...] = ()  # widths to which vectors are cut as well (Matryoshka)
    warmup: float = 0.1  # share of the steps
    schedule: str = "cosine"
    clip: float = 1.0  # the longest gradient
    precision: str = "fp32"
    from_scratch: bool = False  # forget the weights of the model
    evaluate_every: int | None = None  # steps; without, ten times in all

    def __post_init__(self) -> None:
        """Reject what cannot be trained."""
        ContrastiveOptions.__post_init__(self)
        for name, known in (("views", VIEWS), ("schedule", SCHEDULES), ("precision", PRECISIONS)):
            if getattr(self, name) not in known:
                raise UnknownNameError(name, str(getattr(self, name)), list(known))
        if self.pooling not in POOLINGS:
            raise UnknownNameError("pooling", str(self.pooling), ["mean", "cls", "max"])
        if len(self.prompts) not in (0, 2):
            raise ParameterError(f"prompts = {self.prompts}: give two, for queries and for documents")
        for name in ("first_cosine", "warmup"):
            if not 0 <= getattr(self, name) < 1:
                raise ParameterError(f"{name} = {getattr(self, name)}: a share of the steps, from 0 to below 1")
        if not self.clip > 0:
            raise ParameterError(f"clip = {self.clip}: give a number above 0")
        if self.cut != 1 and not self.from_scratch:
            raise ParameterError(f"cut = {self.cut:g} divides the weights of a start from scratch: add from_scratch")
        if self.momentum is not None and self.both_directions:
            raise ParameterError("documents of a momentum encoder have no gradient: leave out both_directions")

    @property
    def similarity(self) -> str:
        """What the trained vectors are scored by."""
        return "learned exponents" if self.exponents.learned else self.exponents.similarity.name

    @property
    def symmetry(self) -> str:
        """Whether queries and documents may change places: as anchors, in what is put before them, in their length."""
        from offsphere.learn.objective.losses import loss_of

        directions = loss_of(self.loss).both_directions if self.both_directions is None else self.both_directions
        if not directions:
            return "query to document"
        apart = self.exponents.one_sided or (self.prompts and self.prompts[0] != self.prompts[1])
        return "both directions, sides differ" if apart else "both directions"


class NamedRecipe(NamedTuple):
    """A recipe with a name: where it is from, what is its own, and what it does with length."""

    recipe: EncoderRecipe
    paper: str
    says: str
    length: str

    @property
    def negatives(self) -> str:
        """Where negatives come from."""
        recipe = self.recipe
        parts = ["batch"]
        parts += [f"queue of {recipe.queue:,}"] if recipe.momentum is not None else []
        parts += [f"{recipe.hard_negatives} mined"] if recipe.hard_negatives else []
        return ", ".join(parts)

    @property
    def temperature(self) -> str:
        """As it is printed."""
        found = f"{self.recipe.temperature:g}"
        return f"{found}, learned" if self.recipe.scale == "learn" else found


def _named(paper: str, says: str, length: str, **options: Any) -> NamedRecipe:
    return NamedRecipe(EncoderRecipe(**options), paper, says, length)


THROWN = "thrown away on both sides"

RECIPES: Mapping[str, NamedRecipe] = MappingProxyType(
    {
        "simcse": _named(
            "Gao et al. 2021, arXiv:2104.08821",
            "the same text twice, told apart by dropout alone",
            THROWN,
            views="same",
            temperature=0.05,
            batch=64,
        ),
        "simclr": _named(
            "Chen et al. 2020, arXiv:2002.05709",
            "two augmented views of a text, negatives from both views (NT-Xent)",
            THROWN,
            views="augmented",
            loss="simclr",
            temperature=0.1,
            batch=64,
        ),
        "moco": _named(
            "He et al. 2020, arXiv:1911.05722",
            "two augmented views, one by a slow copy of the model, whose former vectors are negatives",
            THROWN,
            views="augmented",
            temperature=0.07,
            momentum=0.999,
            queue=4_096,
        ),
        "dpr": _named(
            "Karpukhin et al. 2020, arXiv:2004.04906",
            "raw dot product, in-batch and hard negatives; one encoder for both sides here, two there",
            "kept on both sides; documents may use it",
            normalize="none",
            temperature=1.0,
            scale="fixed",
            hard_negatives=1,
        ),
        "contriever": _named(
            "Izacard et al. 2021, arXiv:2112.09118",
            "two random crops of a text, a slow copy with a long queue; the scale is calibrated here, fixed there",
            "kept on both sides; documents may use it",
            views="crops",
            normalize="none",
            temperature=0.05,
            momentum=0.9995,
            queue=32_768,
        ),
        "e5": _named(
            "Wang et al. 2022, arXiv:2212.03533",
            "prompts for each side, a low temperature, both directions",
            THROWN,
            loss="clip",
            temperature=0.01,
            prompts=("query: ", "passage: "),
        ),
        "gte": _named(
            "Li et al. 2023, arXiv:2308.03281",
            "a low temperature, both directions, negatives of the own side too; no prompts, as in the paper; one "
            "denominator a direction here, one for all there",
            THROWN,
            loss="simclr",
            temperature=0.01,
        ),
        "clip": _named(
            "Radford et al. 2021, arXiv:2103.00020",
            "both directions, the scale is learned",
            THROWN,
            loss="clip",
            temperature=0.07,
            scale="learn",
        ),
        "magnitude": _named(
            "Feng & Watanabe 2026, arXiv:2602.09229; calibrated scale and own rate are ours",
            "one side normalised, the scale calibrated to the lengths; learned exponents (--normalize learn) have "
            "a rate of their own",
            "kept on the document, which is ranked by it",
            normalize="query",
            temperature=0.05,
            scale="calibrated",
            own_rate=1e-2,
        ),
        "pace": _named(
            "PACE 2026",
            "cosine for the first half, then the dot product",
            "thrown away first, then kept on both sides",
            normalize="none",
            temperature=0.05,
            scale="calibrated",
            first_cosine=0.5,
        ),
    }
)


def recipe_of(name: str) -> EncoderRecipe:
    """The recipe of that name."""
    if name not in RECIPES:
        raise UnknownNameError("recipe", name, list(RECIPES))
    return RECIPES[name].recipe
