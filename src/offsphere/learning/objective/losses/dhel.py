"""DHEL: negatives of the anchor's own side alone, ``log(Sum within e^s) - p``."""

from offsphere.learning.objective.losses.softmax import Softmax

LOSS = Softmax("dhel", "Koromilas et al. 2024, arXiv:2405.18045", across=0, within=1, positive=False)
