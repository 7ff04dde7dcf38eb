"""DCL: SimCLR without the positive in the denominator, ``log(Sum across e^s + Sum within e^s) - p``."""

from offsphere.learning.objective.losses.softmax import Softmax

LOSS = Softmax("dcl", "Yeh et al. 2022, arXiv:2110.06848", within=1, positive=False)
