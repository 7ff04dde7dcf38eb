"""The last stages of an encoder: what of a vector's length leaves the model, side by side.

A saved model must score as it was trained. So each side ends in what its exponent asks for: nothing (0), Normalize (1),
or a power of the length. While it is trained these stages let vectors pass as they are, so that the loss sees lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

from sentence_transformers.base.modules import Normalize as NormalizeStage
from sentence_transformers.base.modules import Router
from sentence_transformers.base.modules.module import Module
from torch import Tensor, nn

from offsphere.encode.picture_power import PictureTransformer
from offsphere.scoring.transforms import Side
from offsphere.vectors.powered import powered

DIGITS = 4  # of learned exponents: what is written is what is used
EMBEDDING = "sentence_embedding"
PASSING = "_offsphere_passing"  # the attribute by which a stage remembers that it lets lengths pass


class Power(Module):
    """``x / |x| ** exponent`` as a stage of a model, for exponents other than 0 and 1.

    sentence-transformers has no such stage: a model that ends in one needs offsphere to be loaded.
    """

    config_keys = ["exponent"]  # noqa: RUF012  # as its base class has it

    def __init__(self, exponent: float) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._exponent = float(exponent)
        self._learned: Callable[[], float] | None = None

    @property
    def exponent(self) -> float:
        """The exponent as it is now; a learned one is that of the training it follows."""
        return self._exponent if self._learned is None else round(self._learned(), DIGITS)

    def follow(self, learned: Callable[[], float]) -> None:
        """Take the exponent from where it is learned."""
        self._learned = learned

    def freeze(self) -> None:
        """Keep the exponent as it is now and follow no training any more."""
        self._exponent, self._learned = self.exponent, None

    def forward(self, features: dict[str, Tensor], **_: Any) -> dict[str, Tensor]:
        """Divide the embedding by a power of its length."""
        features[EMBEDDING] = powered(features[EMBEDDING], self.exponent)
        return features

    def save(self, output_path: str, *_: Any, **__: Any) -> None:
        """Write the exponent into the folder of the stage."""
        self.save_config(output_path)

    @classmethod
    def load(cls, model_name_or_path: str, subfolder: str = "", **options: Any) -> Self:  # type: ignore[override]
        """Read a stage from the folder or hub model where it was saved."""
        known = ("token", "cache_folder", "revision", "local_files_only")
        hub = {name: options[name] for name in known if name in options}
        return cls(**cls.load_config(model_name_or_path=model_name_or_path, subfolder=subfolder, **hub))


OUR_STAGES = {f"{stage.__module__}.{stage.__name__}": stage for stage in (Power, PictureTransformer)}


def is_output_stage(stage: nn.Module) -> bool:
    """Whether a stage takes away length from sentence embeddings."""
    return isinstance(stage, Power) or (isinstance(stage, NormalizeStage) and stage.module_output_name == EMBEDDING)


def remove_output_stages(model: Any) -> list[str]:
    """Take the stages out at the end that change the length of sentence embeddings, in routes too; name what was taken.

    One that others follow stays: they work on what it gives, so without it they would give another direction.
    """
    removed: list[str] = []

    def clean(stages: Any, path: str) -> None:
        for position in _last_positions(stages):
            stage = stages[position]
            if isinstance(stage, Router):
                for route, inner in reversed(list(stage.sub_modules.items())):
                    clean(inner, f"{path}{position}/{route}/")
                if any(list(inner.children()) for inner in stage.sub_modules.values()):
                    continue
            else:
                removed.append(f"{type(stage).__name__} (stage {path}{position})")
            del stages[position]  # which numbers the others anew: a gap would be filled by what is put in later

    clean(model, "")
    return removed[::-1]


def add_output_stages(model: Any, query: float, document: float, *, learned: bool = False) -> list[str]:
    """End each side in what its exponent asks for; name what was added."""
    stages = {"query": _output_stage(query, learned=learned), "document": _output_stage(document, learned=learned)}
    if query == document and not learned:
        stage = stages["query"]
        if stage is None:
            return []
        model.append(stage)
        return [type(stage).__name__]
    parts = {side: [stage] if stage is not None else [] for side, stage in stages.items()}
    model.append(Router.for_query_document(parts["query"], parts["document"], default_route="document"))
    return [f"{type(stage).__name__} for the {side}" for side, stage in stages.items() if stage is not None]


def output_stages(model: Any) -> Iterator[tuple[Side | None, nn.Module]]:
    """Every stage at the end that changes lengths, and the side it is for; no side where it is for both."""
    stages = list(model.children())
    for position in reversed(_last_positions(stages)):
        stage = stages[position]
        if not isinstance(stage, Router):
            yield None, stage
            continue
        for route, inner in stage.sub_modules.items():
            parts = list(inner.children())
            for number in reversed(_last_positions(parts)):
                yield ("query" if route == "query" else "document" if route == "document" else None), parts[number]


def _last_positions(stages: Any) -> list[int]:
    """Where the last stages stand that change lengths, or hold routes that may, last first; none other follows."""
    positions = []
    for position in reversed(range(len(stages))):
        stage = stages[position]
        if isinstance(stage, Router):
            positions.append(position)
            if not all(is_output_stage(part) for inner in stage.sub_modules.values() for part in inner.children()):
                break
        elif is_output_stage(stage):
            positions.append(position)
        else:
            break
    return positions


def exponent_of(stage: nn.Module) -> float:
    """The power of the length by which a stage divides."""
    return stage.exponent if isinstance(stage, Power) else 1.0


class LengthPass:
    """Lets vectors pass a stage as they came while it is trained. Nothing of this is saved."""

    def __init__(self, stage: nn.Module) -> None:
        self.vectors: list[Tensor] = []
        self.handles = [stage.register_forward_pre_hook(self.before), stage.register_forward_hook(self.after)]

    def before(self, stage: nn.Module, arguments: tuple[Any, ...]) -> None:
        """Remember the vectors that enter the stage."""
        if stage.training:
            self.vectors.append(arguments[0][EMBEDDING])

    def after(self, stage: nn.Module, _: tuple[Any, ...], features: dict[str, Tensor]) -> dict[str, Tensor]:
        """Put the vectors back that entered the stage."""
        if stage.training:
            features[EMBEDDING] = self.vectors.pop()
        return features


def let_lengths_pass(stage: nn.Module) -> None:
    """Make a stage hand vectors on as they came while it is trained."""
    if not hasattr(stage, PASSING):
        setattr(stage, PASSING, LengthPass(stage))


def lets_lengths_pass(stage: nn.Module) -> bool:
    """Whether a stage hands vectors on as they came while it is trained."""
    return hasattr(stage, PASSING)


def stop_lengths(stage: nn.Module) -> None:
    """Make a stage do what it is for, in training too, from now on."""
    length_pass: LengthPass | None = getattr(stage, PASSING, None)
    if length_pass is not None:
        for handle in length_pass.handles:
            handle.remove()
        delattr(stage, PASSING)


def _output_stage(exponent: float, *, learned: bool) -> Module | None:
    if not learned and exponent in (0.0, 1.0):
        return NormalizeStage() if exponent == 1 else None
    return Power(exponent)
