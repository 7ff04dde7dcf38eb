"""Views of pictures: random changes that a picture is still known by, on whole batches, by kornia.

The changes of Chen et al. 2020 (arXiv:2002.05709, appendix A): a random part in the old size, a flip, other colours, no
colours, a blur. The same seed gives the same views.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from offsphere.base.extras import load_extra

SMALLEST_PART = 0.2  # of a picture's area
COLOURS = (0.4, 0.4, 0.4, 0.1)  # how far brightness, contrast, saturation and hue may go
BLUR = (0.1, 2.0)  # standard deviations, in pixels
SMALLEST_KERNEL = 3  # pixels of a blur; a tenth of a picture where that is more


class PictureViews:
    """Makes a random view of every picture of a batch.

    Args:
        kind: ``crops`` (a random part, perhaps flipped) or ``augmented`` (colours, grey and blur too); ``same`` and
            ``none`` change nothing.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.changes: dict[tuple[int, int], Any] = {}

    def __call__(self, pictures: Tensor, seed: int) -> Tensor:
        """Make a view of each picture.

        Args:
            pictures: (pictures, 3, height, width), from 0 to 1.
            seed: Decides every random choice.

        Returns:
            As many views of the same size.
        """
        if self.kind in ("same", "none"):
            return pictures
        size = (int(pictures.shape[-2]), int(pictures.shape[-1]))
        if size not in self.changes:
            self.changes[size] = changes_of(self.kind, size)
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.manual_seed(seed)
            views: Tensor = self.changes[size](pictures)
        return views


def changes_of(kind: str, size: tuple[int, int]) -> Any:
    """The changes of a kind of view as one module of kornia's."""
    kornia = load_extra("kornia.augmentation")
    changes = [kornia.RandomResizedCrop(size, scale=(SMALLEST_PART, 1.0)), kornia.RandomHorizontalFlip()]
    if kind == "augmented":
        kernel = max(SMALLEST_KERNEL, min(size) // 10 // 2 * 2 + 1)
        changes += [
            kornia.ColorJitter(*COLOURS, p=0.8),
            kornia.RandomGrayscale(p=0.2),
            kornia.RandomGaussianBlur((kernel, kernel), BLUR, p=0.5),
        ]
    return torch.nn.Sequential(*changes)
