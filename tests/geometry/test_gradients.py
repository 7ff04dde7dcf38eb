from __future__ import annotations

import numpy as np
import torch

from offsphere.geometry.gradients import gradient_norms, gradients
from offsphere.geometry.positives import Positives


def test_the_norm_is_that_of_autograd():
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(2, 20, 5))
    z = torch.tensor(left, requires_grad=True)
    cosines = torch.nn.functional.cosine_similarity(z, torch.tensor(right))
    cosines.sum().backward()
    norms = gradient_norms(cosines.detach().numpy(), np.linalg.norm(left, axis=1))
    assert np.allclose(norms, z.grad.norm(dim=1).numpy())


def test_long_and_opposite_pairs_hardly_learn():
    cosines = np.array([0.2] * 16 + [0.2, 0.2, -0.9, 0.99999])
    lengths = np.array([1.0] * 16 + [50, 9.9, 0.1, 60])
    index = np.arange(20)
    side = gradients("query", Positives(index, index, cosines, lengths, lengths), lengths)
    shares = (side.hardly_learn, side.hardly_learn_long, side.hardly_learn_opposite, side.alike_already)
    assert np.allclose(shares, (0.15, 0.1, 0.05, 0.05))
    long = gradients("query", Positives(index, index, cosines[:16], lengths, lengths), np.full(16, 1e4))
    assert long.hardly_learn == 1
