"""InfoNCE: a query's document against all other candidates, ``log(e^p + Sum across e^s) - p``."""

from offsphere.learning.objective.losses.softmax import Softmax

LOSS = Softmax("infonce", "van den Oord et al. 2018, arXiv:1807.03748", both_directions=False)
