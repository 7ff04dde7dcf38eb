"""What decides how anything contrastive is trained, adapter or encoder, but for data and seed. Knows no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import isfinite
from types import MappingProxyType
from typing import Any, ClassVar, Self

from offsphere.base.errors import ParameterError, UnknownNameError
from offsphere.base.known_names import known_name
from offsphere.learning.objective.exponents import (
    Exponents,
    Normalize,
    known_normalize,
    read_normalize,
    write_normalize,
)
from offsphere.learning.objective.losses import ELSEWHERE, LOSSES
from offsphere.learning.objective.option_fields import READ, option_fields

SCALES = ("fixed", "learn", "calibrated")
WEIGHTS = ("vrns", "focal", "length_variance", "uniformity", "weight_decay", "grad_scale")  # may be zero
POSITIVE = ("rate", "own_rate", "cut")
TEMPERATURES = (1e-6, 1e6)  # beyond them scaled scores are no numbers any more


def read_length_target(text: str) -> tuple[float, float]:
    """A length and the weight of its penalty, joined by a comma; the weight is one where there is none."""
    length, _, weight = text.partition(",")
    return float(length), float(weight or 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastiveOptions:
    """Which objective is followed in a training, how far and how fast; recipes of adapters and encoders add to it."""

    AT_LEAST: ClassVar[Mapping[str, int]] = MappingProxyType(
        {"batch": 2, "patience": 1, "hard_negatives": 0, "dynamics_every": 0, "epochs": 0}
    )

    normalize: Normalize = field(default="both", metadata={READ: read_normalize})  # the output, which is scored
    # the input: what enters the adapter, or the token vectors of an encoder
    normalize_input: Normalize = field(default="none", metadata={READ: read_normalize})
    loss: str = "infonce"
    within: bool | None = None  # within-view negatives; as the loss has them
    both_directions: bool | None = None  # documents as anchors too; as the loss has it
    temperature: float | None = None  # 0.05 for most losses
    scale: str | None = None  # fixed, learn, or calibrated to the lengths of the first batches; as the loss has it
    margin: float | None = None  # negatives that score that far above their positive do not count
    vrns: float = 0.0  # weights of what is added to the loss
    # the length that vectors are drawn to, and the weight of it
    length_target: tuple[float, float] | None = field(default=None, metadata={READ: read_length_target})
    length_variance: float = 0.0
    uniformity: float = 0.0
    focal: float = 0.0  # power of focal weights, by cosine
    grad_scale: float = 0.0  # power of the length by which gradients are multiplied
    cut: float = 1.0  # what the start is divided by
    batch: int = 256
    epochs: int | None = None  # without: 10, but at least 500 steps and at most 1,280,000 pairs in all
    rate: float | None = None  # as fits what is trained
    own_rate: float = 1e-2  # of exponents, scale and bias
    weight_decay: float = 0.01
    hard_negatives: int = 2  # mined for each query of a batch
    patience: int | None = 8  # evaluations without a better held-out value before it stops; none: never
    dynamics_every: int = 25  # steps between two looks at the probe; 0 for none

    def __post_init__(self) -> None:
        """Reject what cannot be trained."""
        for option in option_fields(type(self)).values():
            value = getattr(self, option.name)
            if not option.fits(value):
                endless = isinstance(value, float) and not isfinite(value)
                expected = "a finite number" if endless else option.written
                raise ParameterError(f"{option.name} = {value!r}: expected {expected}")
        for site in ("normalize", "normalize_input"):
            object.__setattr__(self, site, known_normalize(getattr(self, site)))
            Exponents.of(getattr(self, site))
        for kind, name, known in (("loss", self.loss, LOSSES), ("scale", self.scale, SCALES)):
            if name is not None:
                object.__setattr__(self, kind, known_name(kind, name, known, ELSEWHERE))
        self._check_numbers()

    def _check_numbers(self) -> None:
        """Reject numbers that are too small, negative or not finite."""
        for name, least in self.AT_LEAST.items():
            value = getattr(self, name)
            if value is not None and value < least:
                raise ParameterError(f"{name} = {value}: give at least {least}")
        for name in (*WEIGHTS, *POSITIVE):
            value = getattr(self, name)
            if value is None or (name == "grad_scale" and isfinite(value)):  # a power may be negative
                continue
            if not isfinite(value) or value < 0 or (value == 0 and name not in WEIGHTS):
                raise ParameterError(f"{name} = {value} is not {'at least 0' if name in WEIGHTS else 'positive'}")
        if self.temperature is not None:
            check_temperature(self.temperature)
        self._check_length_target()

    def _check_length_target(self) -> None:
        """Reject a length to draw to, or its weight, that is negative or no number."""
        target = self.length_target
        if target is None:
            return
        plain = isinstance(target, tuple) and len(target) == len(("length", "weight"))
        if not plain or not all(type(part) in (int, float) and isfinite(part) and part >= 0 for part in target):
            raise ParameterError(f"length_target = {target!r}: give a length and its weight, both at least 0: 1,0.1")

    @property
    def exponents(self) -> Exponents:
        """The exponents by which the output, the vector that is scored, is divided."""
        return Exponents.of(self.normalize)

    def with_options(self, options: Mapping[str, Any], normalize: Normalize | None = None) -> Self:
        """The same recipe with some fields changed, by name; ``normalize`` too where it is given.

        Args:
            options: New values by the names of the fields.
            normalize: The new output; as it is without.

        Returns:
            Another recipe.

        Raises:
            UnknownNameError: A field is not known.
        """
        known = list(option_fields(type(self)))
        for name in options:
            if name not in known:
                raise UnknownNameError("option", name, known)
        changes = dict(options) if normalize is None else {**options, "normalize": normalize}
        return replace(self, **changes)

    def config(self) -> dict[str, Any]:
        """All fields as plain values, for a record or a plan."""
        names = {name: write_normalize(getattr(self, name)) for name in ("normalize", "normalize_input")}
        return asdict(self) | names


def check_temperature(value: float) -> None:
    """Refuse a temperature by which scores cannot be divided."""
    low, high = TEMPERATURES
    if not low <= value <= high:
        raise ParameterError(f"temperature = {value}: give a number from {low:g} to {high:g}")


def read_options(texts: Sequence[str] | None, kind: type[ContrastiveOptions]) -> dict[str, Any]:
    """Read fields of a recipe as somebody types them: ``NAME=VALUE``, several values joined by commas."""
    known = option_fields(kind)
    options: dict[str, Any] = {}
    for text in texts or []:
        name, _, value = text.partition("=")
        if name not in known:
            raise UnknownNameError("option", name, list(known))
        try:
            options[name] = known[name].read(value)
        except (ValueError, KeyError, OverflowError) as error:
            expected = known[name].written
            raise ParameterError(f"{name} = {value!r}: expected {expected}, written as NAME=VALUE") from error
    return options


def read_field(name: str, value: Any, kind: type[ContrastiveOptions]) -> Any:
    """Read a value as a file has it: lists become tuples, and numbers that were written as texts numbers."""
    if isinstance(value, str):
        return read_options([f"{name}={value}"], kind)[name]
    return tuple(value) if isinstance(value, list) else value
