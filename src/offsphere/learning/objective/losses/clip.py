"""CLIP: InfoNCE in both directions, so that documents look for their queries too."""

from offsphere.learning.objective.losses.softmax import Softmax

LOSS = Softmax("clip", "Radford et al. 2021, arXiv:2103.00020")
