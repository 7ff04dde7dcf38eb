"""What the commands call is what Python users call: the verbs are at the front door, and no room hides them."""

from __future__ import annotations

import inspect

import offsphere as osp
from offsphere.learning.ablation.ablation import Ablation
from offsphere.learning.adapters.learn import Learned, learn
from offsphere.scoring.training_record import Training


def test_what_learning_gives_and_takes_is_public():
    assert osp.learn is learn  # though the room of that name has been imported
    assert (osp.Learned, osp.Ablation, osp.Training) == (Learned, Ablation, Training)
    assert inspect.isfunction(osp.audit)
    assert osp.sweep(osp.Recipe(), "batch")[0].name == "batch 16"
    assert isinstance(osp.encoder_sweep(osp.EncoderRecipe(), "batch")[0], osp.Variant)
