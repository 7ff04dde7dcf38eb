"""What decides how anything contrastive is trained, adapter or encoder, but for data and seed. Knows no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from math import isfinite
from types import MappingProxyType
from typing import Any, ClassVar

from offsphere.base.errors import ParameterError, UnknownNameError
from offsphere.learn.objective.exponents import Exponents, Normalize, read_normalize, written_normalize

LOSSES = ("infonce", "clip", "simclr", "dcl", "dhel", "siglip", "spectral")
SCALES = ("fixed", "learn", "calibrated")
WEIGHTS = ("vrns", "length_variance", "uniformity", "weight_decay", "grad_scale")  # may be zero
KINDS: Mapping[str, tuple[type, ...]] = MappingProxyType(
    {"int": (int,), "float": (int, float), "str": (str,), "bool": (bool,)}
)
POSITIVE = ("rate", "own_rate", "cut")


@dataclass(frozen=True, slots=True)
class ContrastiveOptions:
    """The objective, and how far and how fast it is followed."""

    AT_LEAST: ClassVar[Mapping[str, int]] = MappingProxyType(
        {"batch": 2, "patience": 1, "hard_negatives": 0, "dynamics_every": 0, "epochs": 0}
    )

    normalize: Normalize = "both"  # the output: the vector that is scored
    normalize_input: Normalize = "none"  # the input: what enters the adapter, or the token vectors of an encoder
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
    weight_decay: float = 0.01
    hard_negatives: int = 2  # mined for each query of a batch
    patience: int = 8  # evaluations without a better held-out value before it stops
    dynamics_every: int = 25  # steps between two looks at the probe; 0 for none

    def __post_init__(self) -> None:
        """Reject what cannot be trained."""
        self._check_types()
        Exponents.of(self.normalize)
        Exponents.of(self.normalize_input)
        for kind, name, known in (("loss", self.loss, LOSSES), ("scale", self.scale, SCALES)):
            if name is not None and name not in known:
                raise UnknownNameError(kind, name, list(known))
        self._check_numbers()

    def _check_types(self) -> None:
        for field in fields(self):
            value, kind = getattr(self, field.name), str(field.type)
            wanted = KINDS.get(kind.partition(" ")[0])
            if wanted is None or (value is None and "None" in kind):
                continue
            if not isinstance(value, wanted) or (isinstance(value, bool) and "bool" not in kind):
                raise ParameterError(f"{field.name} = {value!r}: expected {kind}")

    def _check_numbers(self) -> None:
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

    @property
    def exponents(self) -> Exponents:
        """Of the output."""
        return Exponents.of(self.normalize)

    def config(self) -> dict[str, Any]:
        """Plain values."""
        names = {name: written_normalize(getattr(self, name)) for name in ("normalize", "normalize_input")}
        return asdict(self) | names


def read_options(texts: Sequence[str] | None, kind: type[ContrastiveOptions]) -> dict[str, Any]:
    """Fields of a recipe as somebody types them: ``NAME=VALUE``, several values joined by commas."""
    known = {field.name: str(field.type) for field in fields(kind)}
    found: dict[str, Any] = {}
    for text in texts or []:
        name, _, value = text.partition("=")
        if name not in known:
            raise UnknownNameError("option", name, list(known))
        try:
            found[name] = _read(name, value, known[name])
        except (ValueError, KeyError, OverflowError) as error:
            raise ParameterError(f"{name} = {value!r}: expected {known[name]}, written as NAME=VALUE") from error
    return found


def read_field(name: str, value: Any, kind: type[ContrastiveOptions]) -> Any:
    """A value as a file has it: lists become tuples, and numbers that were read as texts numbers."""
    if isinstance(value, str):
        return read_options([f"{name}={value}"], kind)[name]
    return tuple(value) if isinstance(value, list) else value


def _read(name: str, value: str, kind: str) -> Any:
    """One value by the type of its field."""
    if value == "none" and "None" in kind:
        return None
    if name == "length_target":
        length, _, weight = value.partition(",")
        return float(length), float(weight or 1)
    if kind == "Normalize":
        return read_normalize(value)
    if "tuple" in kind:
        return tuple(int(part) if "int" in kind else part for part in value.split(","))
    if "bool" in kind:
        return {"true": True, "false": False}[value]
    return int(float(value)) if "int" in kind else float(value) if "float" in kind else value
