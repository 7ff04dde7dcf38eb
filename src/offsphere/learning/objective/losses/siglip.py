"""SigLIP: every pair is judged for itself, ``log(1 + e^-p) + Sum across log(1 + e^s)``; scale and bias are learned."""

from torch import Tensor
from torch.nn import functional

from offsphere.learning.objective.losses.additive import Additive


def softplus(scores: Tensor) -> Tensor:
    """``log(1 + e^s)``, exactly: torch's own becomes a straight line at 20."""
    return -functional.logsigmoid(-scores)


LOSS = Additive(
    "siglip",
    "Zhai et al. 2023, arXiv:2303.15343",
    phi=functional.logsigmoid,
    psi=softplus,
    summed=True,
    scale=10.0,
    bias=-10.0,
)
