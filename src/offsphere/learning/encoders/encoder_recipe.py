"""A recipe for an encoder: everything that decides how it is trained, but for data, model and seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

from offsphere.base.errors import ParameterError, UnknownNameError
from offsphere.learning.objective.contrastive_options import ContrastiveOptions
from offsphere.learning.objective.exponents import (
    Exponents,
    Normalize,
    known_normalize,
    read_normalize,
    write_normalize,
)
from offsphere.learning.objective.losses import loss_of
from offsphere.learning.objective.option_fields import READ

VIEWS = ("pairs", "same", "augmented", "crops")
AUGMENTS = ("none", "crops", "augmented")
SCHEDULES = ("cosine", "linear", "constant")
PRECISIONS = ("fp32", "bf16")
ARROW = "->"  # between what is trained first and what then
POOLINGS = (None, "mean", "cls", "max")


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderRecipe(ContrastiveOptions):
    """How to train an encoder. The defaults are InfoNCE with cosine at temperature 0.05, one epoch of pairs of 32.

    The objective has the fields that ``Recipe`` describes: normalize, normalize_input (here of token vectors), loss,
    within, both_directions, temperature, scale, margin, vrns, length_target, length_variance, uniformity, grad_scale,
    cut, own_rate and weight_decay.

    Args:
        batch: Pairs in a batch.
        epochs: Passes over the pairs.
        rate: The learning rate; without, 2e-5 for a transformer and 3e-3 for a static model.
        hard_negatives: How many each pair has: judged ones first, then mined by the model before it is trained.
        patience: Evaluations without a better held-out value before it stops; None for never.
        dynamics_every: Steps between two measurements of the probe; 0 for none.
        steps: How many steps there are, instead of epochs.
        views: What is learned from: pairs of the data, or two views of one item (same, augmented, crops).
        augment: What is done with images of pairs while they are learned from: none, crops or augmented.
        projection: The width of a head that is trained on top and dropped afterwards; 0 for none.
        frozen: The tower that does not learn, text or image, of a model that has both.
        prompts: What is put before queries and before documents; as the model has them without.
        momentum: How slowly a copy of the model follows it, by which documents are encoded; without it there is none.
        queue: How many former vectors of that copy are negatives.
        first: Another output that is trained first, with the same names as ``normalize``; ``normalize="both->none"``
            says both at once.
        first_share: The share of the steps for which it is.
        lora: The rank of thin matrices that learn alone while ``first`` is trained; without, all weights do.
        pooling: How tokens are pooled: mean, cls or max; as the model has it without.
        max_tokens: How many tokens of a text the model looks at; as the model has it without.
        keep_max_tokens: Whether the saved model looks at no more tokens either; else it looks as far as before.
        mini_batch: How many texts the model sees at a time, for batches larger than memory (GradCache).
        dimensions: Widths to which vectors are cut as well (Matryoshka).
        warmup: The share of the steps in which the rate rises.
        schedule: How the rate falls after that: cosine, linear or constant.
        clip: The longest gradient.
        precision: fp32 or bf16, of the products of a training: its steps, its held-out values and its probe. What is
            judged in the end multiplies as it is saved.
        from_scratch: Whether the weights of the model are forgotten first.
        evaluate_every: Steps between two evaluations; without, there are ten in all.

    Raises:
        ParameterError: If a value is out of its range or of another type, or two contradict each other.
        UnknownNameError: If a name is not known.

    Example:
        >>> import offsphere as osp
        >>> recipe = osp.EncoderRecipe(normalize="document", loss="clip", steps=100)
        >>> recipe.batch, recipe.similarity, recipe.symmetry
        (32, 'document-normalized', 'both directions, sides differ')
        >>> osp.EncoderRecipe(views="crop")
        Traceback (most recent call last):
        ...
        offsphere.base.errors.UnknownNameError: unknown views 'crop': did you mean crops?
    """

    AT_LEAST: ClassVar[Mapping[str, int]] = MappingProxyType(
        dict(ContrastiveOptions.AT_LEAST)
        | {
            "epochs": 1,
            "steps": 1,
            "queue": 1,
            "max_tokens": 2,
            "mini_batch": 1,
            "evaluate_every": 1,
            "projection": 0,
            "lora": 1,
        }
    )

    batch: int = 32
    epochs: int | None = 1
    hard_negatives: int = 0  # mined for each pair by the model's own score, before it is trained
    patience: int | None = 4
    dynamics_every: int = 50
    steps: int | None = None  # instead of epochs
    views: str = "pairs"  # what is learned from: pairs of the data, or two views of one item (same, augmented, crops)
    augment: str = "none"  # what is done with images of pairs: none, crops or augmented
    projection: int = 0  # width of a head that is dropped afterwards
    frozen: str | None = None  # the tower that does not learn: text or image
    prompts: tuple[str, ...] = ()  # put before queries and documents; as the model has them
    momentum: float | None = None  # documents by a slow copy of the model
    queue: int = 4_096  # negatives it keeps
    # another output that is trained first; none where there is one output only
    first: Normalize | None = field(default=None, metadata={READ: read_normalize})
    first_share: float = 0.5  # of the steps
    lora: int | None = None  # rank of thin matrices that learn alone in the first part
    pooling: str | None = None  # mean, cls or max; as the model has it
    max_tokens: int | None = None  # that the model looks at; as it has it
    keep_max_tokens: bool = False  # in the saved model too
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
        self._take_switch()
        ContrastiveOptions.__post_init__(self)
        self._check_first()
        named = (("views", VIEWS), ("augment", AUGMENTS), ("schedule", SCHEDULES), ("precision", PRECISIONS))
        for name, known in named:
            if getattr(self, name) not in known:
                raise UnknownNameError(name, str(getattr(self, name)), list(known))
        if self.frozen not in (None, "text", "image"):
            raise UnknownNameError("frozen", str(self.frozen), ["text", "image"])
        if self.pooling not in POOLINGS:
            raise UnknownNameError("pooling", str(self.pooling), ["mean", "cls", "max"])
        if len(self.prompts) not in (0, 2):
            raise ParameterError(f"prompts = {self.prompts}: give two, for queries and for documents")
        self._check_shares()
        if self.cut != 1 and not self.from_scratch:
            raise ParameterError(f"cut = {self.cut:g} divides the weights of a start from scratch: add from_scratch")
        if self.momentum is not None and self.both_directions:
            raise ParameterError("documents of a momentum encoder have no gradient: leave out both_directions")

    def _take_switch(self) -> None:
        """Read ``both->none`` as what is trained first and what then."""
        if isinstance(self.normalize, str) and ARROW in self.normalize:
            before, _, after = self.normalize.partition(ARROW)
            object.__setattr__(self, "first", read_normalize(before.strip()))
            object.__setattr__(self, "normalize", read_normalize(after.strip()))

    def _check_first(self) -> None:
        """Reject what cannot be trained first."""
        if self.first is not None:
            object.__setattr__(self, "first", known_normalize(self.first))
            if Exponents.of(self.first).learned:
                raise ParameterError("first = learn: exponents are learned for what is scored in the end")
        if self.lora is not None and self.first is None:
            raise ParameterError("lora is for what is trained first: add first=both, or --normalize both->none")

    def _check_shares(self) -> None:
        """Reject shares and lengths outside their range."""
        for name in ("first_share", "warmup"):
            if not 0 <= getattr(self, name) < 1:
                raise ParameterError(f"{name} = {getattr(self, name)}: a share of the steps, from 0 to below 1")
        if not self.clip > 0:
            raise ParameterError(f"clip = {self.clip}: give a number above 0")
        if self.momentum is not None and not 0 <= self.momentum <= 1:
            raise ParameterError(f"momentum = {self.momentum}: give a number from 0 to 1")

    def config(self) -> dict[str, Any]:
        """All fields as plain values, for a record or a plan."""
        config = ContrastiveOptions.config(self)
        return config | {"first": write_normalize(self.first) if self.first is not None else None}

    @property
    def similarity(self) -> str:
        """What the trained vectors are scored by."""
        return "learned exponents" if self.exponents.learned else self.exponents.similarity.name

    @property
    def symmetry(self) -> str:
        """Whether queries and documents may change places: as anchors, in what is put before them, in their length."""
        directions = loss_of(self.loss).both_directions if self.both_directions is None else self.both_directions
        if not directions:
            return "query to document"
        apart = self.exponents.one_sided or (self.prompts and self.prompts[0] != self.prompts[1])
        return "both directions, sides differ" if apart else "both directions"
