"""The input site of an image encoder: pixels over a power of their own size, before anything else sees them.

The size of a picture is the root of the mean square of its standardised pixels, so that with the power 1 every picture
enters with the same contrast.
"""

from __future__ import annotations

from typing import Any

from sentence_transformers.base.modules import Transformer
from torch import Tensor

LEAST = 1e-6  # the size of a picture of one flat grey, at least
PIXELS = "pixel_values"


class PictureTransformer(Transformer):
    """A first stage that divides pictures by a power of their size.

    sentence-transformers has no such stage: a model that begins with one needs offsphere to be loaded.
    """

    config_keys = [*Transformer.config_keys, "picture_power"]  # noqa: RUF012  # as its base class has it

    def __init__(self, *arguments: Any, picture_power: float = 0.0, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.picture_power = picture_power

    def forward(self, features: dict[str, Any], **options: Any) -> dict[str, Any]:
        """Divide the pixels, and do what the stage does."""
        return super().forward(divided_pictures(features, self.picture_power), **options)


def divided_pictures(features: dict[str, Any], power: float) -> dict[str, Any]:
    """The features with every picture over a power of its size."""
    pixels: Tensor = features[PIXELS]
    size = pixels.square().mean(dim=(1, 2, 3), keepdim=True).sqrt().clamp_min(LEAST)
    return {**features, PIXELS: pixels / size**power}


def takes_pictures_alone(stage: Any) -> bool:
    """Whether a first stage is one of pictures, which have no table of tokens."""
    return isinstance(stage, Transformer) and list(stage.modalities) == ["image"]


def divide_pictures(stage: Any, power: float) -> None:
    """Let a first stage of pictures divide them for good."""
    stage.__class__ = PictureTransformer  # the same weights and settings under a class that is saved with its power
    stage.picture_power = power
