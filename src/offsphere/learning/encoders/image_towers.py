"""Image encoders from scratch: small towers by transformers' own configurations, as models of sentence-transformers.

``resnet`` is a residual network with a stem for small pictures: one 3 x 3 convolution, then ResNet's bottleneck blocks
that narrow nothing. The class that has it is transformers' RegNet, with one group of convolutions: the stem of
transformers' ResNet class cannot be chosen and leaves a sixteenth of the pixels. ``vit`` is a vision transformer with
seven patches a side.
"""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import Any

import torch
from sentence_transformers import SentenceTransformer
from transformers import RegNetConfig, RegNetModel, ViTConfig, ViTImageProcessorPil, ViTModel
from transformers.utils import logging

from offsphere.base.errors import ParameterError
from offsphere.base.known_names import known_name
from offsphere.encode.text_marks import keep_texts

TOWERS = ("resnet", "vit")
SMALLEST, LARGEST = 8, 1_024  # pixels a side
PATCHES = 7  # a side, of a vision transformer


def image_tower(kind: str = "resnet", size: int = 32, width: int = 128, seed: int = 0) -> Any:
    """Make an untrained encoder of square pictures.

    Args:
        kind: ``resnet`` or ``vit``.
        size: How many pixels a picture has a side; others are resized.
        width: How many numbers a vector has; a multiple of 8.
        seed: Of the weights.

    Returns:
        A SentenceTransformer that takes images, ready for ``train``.

    Raises:
        ParameterError: A size or a width that there cannot be.
        UnknownNameError: There is no tower of that kind.

    Example:
        >>> import offsphere as osp
        >>> tower = osp.image_tower("vit", size=28, width=64)
        >>> tower.get_embedding_dimension(), tower.modalities
        (64, ['image'])
    """
    kind = known_name("tower", kind, TOWERS)
    if not SMALLEST <= size <= LARGEST:
        raise ParameterError(f"size = {size}: a picture has {SMALLEST} to {LARGEST:,} pixels a side")
    if width < 8 or width % 8:  # noqa: PLR2004
        raise ParameterError(f"width = {width}: give a multiple of 8")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model: Any = _resnet(width) if kind == "resnet" else _vit(size, width)
    processor = ViTImageProcessorPil(size={"height": size, "width": size}, image_mean=[0.5] * 3, image_std=[0.5] * 3)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call,unused-ignore]  # there is one bar, ours
    with TemporaryDirectory(prefix="offsphere-") as folder:  # sentence-transformers takes a model from a folder
        model.save_pretrained(folder)
        processor.save_pretrained(folder)
        return keep_texts(SentenceTransformer(folder, device="cpu", local_files_only=True))


def tower_of_name(name: str) -> Any:
    """Make the tower that ``scratch:KIND:SIZE`` or ``scratch:KIND:SIZE:WIDTH`` names."""
    _, kind, *numbers = name.split(":")
    if len(numbers) > 2 or not all(number.isdigit() for number in numbers):  # noqa: PLR2004
        raise ParameterError(f"{name}: write scratch:KIND:SIZE, such as scratch:resnet:32, or scratch:vit:28:64")
    return image_tower(kind, *map(int, numbers))


def _resnet(width: int) -> Any:
    """Three stages of one residual block each, at a half, a quarter and an eighth of the pixels a side."""
    widths = [width // 4, width // 2, width]
    make: Any = RegNetModel
    return make(
        RegNetConfig(
            embedding_size=width // 4,
            hidden_sizes=widths,
            depths=[1, 1, 1],
            groups_width=width,  # one group everywhere, which makes a block of RegNet one of ResNet
            layer_type="x",
            downsample_in_first_stage=False,
        )
    )


def _vit(size: int, width: int) -> Any:
    """Four layers with heads of 16 numbers."""
    return ViTModel(
        ViTConfig(
            hidden_size=width,
            num_hidden_layers=4,
            num_attention_heads=max(1, width // 16),
            intermediate_size=2 * width,
            image_size=size,
            patch_size=max(1, -(-size // PATCHES)),
        ),
    )
