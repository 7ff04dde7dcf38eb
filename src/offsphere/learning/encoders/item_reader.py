"""Items on their way to the trainer: a data set holds texts as they are and images by their rows, read when needed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from offsphere.data.image import Image
from offsphere.data.items import Item, kinds_of
from offsphere.learning.encoders.inputs import entrances
from offsphere.learning.encoders.picture_views import PictureViews

KEPT = 2**30  # bytes of decoded pixels that stay in memory


class ItemReader:
    """Makes the features of a column of a batch: texts by the model, images by their rows, as random views.

    The views of a batch depend on the seed, the side and the rows in it alone, so a training that goes on after a kill
    sees the same ones.

    Args:
        model: The model that is trained.
        sides: The items of each side; a column of images holds rows into them.
        views: What is done with pictures.
        seed: Of the views.
    """

    def __init__(self, model: Any, sides: Mapping[str, Sequence[Item]], views: PictureViews, seed: int) -> None:
        self.model, self.sides, self.views, self.seed = model, sides, views, seed
        self.pixels: dict[tuple[str, int], NDArray[np.uint8]] = {}
        self.kept = 0
        images = any("image" in kinds_of(items[:1]) for items in sides.values())
        self.processor = image_processor(model) if images else None

    def __call__(
        self, inputs: Sequence[Any], prompt: str | None = None, task: str | None = None, **options: Any
    ) -> Any:
        """The features of texts, or of rows that stand for images; ``task`` is the side."""
        if isinstance(inputs[0], str):
            return self.model.preprocess(list(inputs), prompt=prompt, task=task, **options)
        rows, side = [int(row) for row in inputs], task or "document"
        pictures = torch.from_numpy(np.stack([self._read(side, row) for row in rows]))
        return self.features(pictures, _seed_of(self.seed, side, rows))

    def features(self, pictures: Tensor, seed: int) -> dict[str, Any]:
        """The features of pixels (pictures, 3, height, width) of uint8: a view of each, standardised."""
        views = self.views(pictures.float() / 255, seed)
        processor = cast("Any", self.processor)
        if processor.do_normalize:
            mean, deviation = (
                torch.tensor(value).view(1, -1, 1, 1) for value in (processor.image_mean, processor.image_std)
            )
            views = (views - mean) / deviation
        return {"pixel_values": views, "modality": "image"}

    def _read(self, side: str, row: int) -> NDArray[np.uint8]:
        """The pixels of an image in the size that the model wants; kept as far as there is room."""
        kept = self.pixels.get((side, row))
        if kept is not None:
            return kept
        image = cast("Image", self.sides[side][row])
        processor = cast("Any", self.processor)
        processed = processor([image.picture()], do_rescale=False, do_normalize=False, return_tensors="np")
        pixels: NDArray[np.uint8] = np.clip(np.rint(processed["pixel_values"][0]), 0, 255).astype(np.uint8)
        if self.kept + pixels.nbytes <= KEPT:
            self.pixels[side, row] = pixels
            self.kept += pixels.nbytes
        return pixels


def image_processor(model: Any) -> Any:
    """What the model does with pictures before it sees them."""
    stage = next(stage for stage in entrances(model) if "image" in getattr(stage, "modalities", ()))
    return getattr(stage.processor, "image_processor", stage.processor)


def _seed_of(seed: int, side: str, rows: Sequence[int]) -> int:
    """A number that depends on nothing but the seed, the side and the rows of a batch."""
    content = f"{seed} {side} ".encode() + np.array(rows, np.int64).tobytes()
    return int.from_bytes(hashlib.sha256(content).digest()[:7], "big")
