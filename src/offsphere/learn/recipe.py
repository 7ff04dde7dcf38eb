"""A recipe: everything that decides how an adapter is trained, but for data and seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from math import isfinite
from typing import Any

from offsphere.adapter import Combine
from offsphere.errors import ParameterError, UnknownNameError
from offsphere.learn.normalize import Exponents, Normalize, written_normalize

LOSSES = ("infonce", "clip", "simclr", "dcl", "dhel", "siglip", "spectral")
SCALES = ("fixed", "learn", "calibrated")
SIDES = ("auto", "untied", "tied", "query", "document")
MAGNITUDES = (None, "multiplied", "added")
BETAS = (0.9, 0.98)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to train. The defaults make a cosine adapter: a map for each side, InfoNCE at temperature 0.05."""

    normalize: Normalize = "both"  # the output: the vector that is scored
    normalize_input: Normalize = "none"  # the input: what enters the adapter
    sides: str = "auto"  # a map for each side (untied), one for both (tied), or for one side only; auto: see resolved
    rank: int | None = None  # of what is added to the identity; full without
    magnitude: Combine | None = None  # a learned length on top of the direction: multiplied or added
    loss: str = "infonce"
    within: bool | None = None  # within-view negatives; as the loss has them
    both_directions: bool | None = None  # documents as anchors too; as the loss has it
    temperature: float | None = None  # 0.05 for most losses
    scale: str | None = None  # fixed, learn, or calibrated to the lengths of the first batches; as the loss has it
    margin: float | None = None  # negatives that score that far above their positive do not count
    vrns: float = 0.0  # weights of what is added to the loss
    length_target: tuple[float, float] | None = None  # (length, weight)
    length_variance: float = 0.0
    uniformity: float = 0.0
    grad_scale: float = 0.0  # power of the length by which gradients are multiplied
    cut: float = 1.0  # what the start is divided by
    batch: int = 256
    epochs: int | None = None  # without: 10, and at least 500 steps
    rate: float = 1e-3
    own_rate: float = 1e-2  # of exponents, scale and bias
    weight_decay: float = 0.01  # towards the identity
    hard_negatives: int = 2  # mined for each query of a batch
    patience: int = 8  # evaluations without a better held-out value before it stops
    dynamics_every: int = 25  # steps between two looks at the probe; 0 for none

    def __post_init__(self) -> None:
        """Reject what cannot be trained."""
        Exponents.of(self.normalize)
        Exponents.of(self.normalize_input)
        for kind, name, known in (("loss", self.loss, LOSSES), ("scale", self.scale, SCALES)):
            if name is not None and name not in known:
                raise UnknownNameError(kind, name, list(known))
        if self.sides not in SIDES:
            raise ParameterError(f"sides = {self.sides!r}: choose {', '.join(SIDES)}")
        if self.magnitude not in MAGNITUDES:
            raise ParameterError(f"magnitude = {self.magnitude!r}: choose multiplied or added, or leave it out")
        self._check_numbers()

    def _check_numbers(self) -> None:
        at_least = {"batch": 2, "patience": 1, "hard_negatives": 0, "dynamics_every": 0}
        if self.epochs is not None:
            at_least["epochs"] = 0
        if self.rank is not None:
            at_least["rank"] = 1
        for name, least in at_least.items():
            if getattr(self, name) < least:
                raise ParameterError(f"{name} = {getattr(self, name)}: give at least {least}")
        weights = ("vrns", "length_variance", "uniformity", "weight_decay")
        for name in (*weights, "rate", "own_rate", "cut"):
            value = getattr(self, name)
            if not isfinite(value) or value < 0 or (value == 0 and name not in weights):
                raise ParameterError(f"{name} = {value} is not {'positive' if name not in weights else 'at least 0'}")

    def resolved(self, *, pairs: bool = False) -> Recipe:
        """With the sides chosen: one map for both where they play one role (pairs), else one for each."""
        return replace(self, sides="tied" if pairs else "untied") if self.sides == "auto" else self

    @property
    def exponents(self) -> Exponents:
        """Of the output."""
        return Exponents.of(self.normalize)

    @property
    def label(self) -> str:
        """What tells an adapter from others, besides its similarity."""
        parts = [self.sides]
        if self.rank is not None:
            parts.append(f"rank {self.rank}")
        if self.normalize_input != "none":
            parts.append(f"input {written_normalize(self.normalize_input)}")
        if self.magnitude is not None:  # the similarity says dot then, so this says what it was before
            similarity = self.exponents.similarity.name if not self.exponents.learned else "learned exponents"
            parts.append(f"{similarity}, length {self.magnitude}")
        return ", ".join(parts)

    def config(self) -> dict[str, Any]:
        """Plain values."""
        names = {name: written_normalize(getattr(self, name)) for name in ("normalize", "normalize_input")}
        return asdict(self) | names


def read_options(texts: Sequence[str] | None) -> dict[str, Any]:
    """Fields of a recipe as somebody types them: ``NAME=VALUE``, a number or several joined by commas."""
    known = {
        field.name: field.default
        for field in fields(Recipe)
        if isinstance(field.default, float | int) or field.name == "length_target"
    }
    found: dict[str, Any] = {}
    for text in texts or []:
        name, _, value = text.partition("=")
        if name not in known:
            raise UnknownNameError("option", name, list(known))
        try:
            numbers = [float(part) for part in value.split(",")]
        except ValueError as error:
            raise ParameterError(f"{text!r}: write NAME=VALUE with a number, such as uniformity=0.1") from error
        if name == "length_target":
            found[name] = tuple(numbers) if len(numbers) > 1 else (numbers[0], 1.0)
        else:
            found[name] = int(numbers[0]) if isinstance(known[name], int) else numbers[0]
    return found
