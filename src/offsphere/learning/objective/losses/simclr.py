"""SimCLR (NT-Xent): negatives of both sides, ``log(e^p + Sum across e^s + Sum within e^s) - p``."""

from offsphere.learning.objective.losses.softmax import Softmax

LOSS = Softmax("simclr", "Chen et al. 2020, arXiv:2002.05709", within=1)
