"""What became of stored vectors: told from numbers, against torch's own rounding."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from offsphere.engines.trials.stored_forms import stored_form_of

ROWS = (np.random.default_rng(0).normal(size=(50, 16)) * 3).astype(np.float32)


def rounded(kind):
    return torch.from_numpy(ROWS).to(kind).float().numpy()


@pytest.mark.parametrize(
    ("back", "form"),
    [
        (ROWS.copy(), "as they were"),
        (rounded(torch.float16), "float16"),
        (rounded(torch.bfloat16), "bfloat16"),
        (torch.nn.functional.normalize(torch.from_numpy(ROWS)).numpy(), "normalised"),
        (np.concatenate([ROWS, ROWS[:, :1]], axis=1), "augmented"),
        (ROWS[:, :8], "changed"),
        (np.sign(ROWS), "changed"),
        (np.round(ROWS * 4) / 4, "changed"),
    ],
)
def test_what_became_of_vectors_is_told(back, form):
    assert stored_form_of(ROWS, back) == form
