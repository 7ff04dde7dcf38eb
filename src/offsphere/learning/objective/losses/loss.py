"""What every contrastive loss is: a function of scaled scores, and what it wants to be given."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from torch import Tensor


class Loss(Protocol):
    """A loss of anchors, each with one positive among its candidates. It is a frozen dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def paper(self) -> str:
        """Where it is from."""
        ...

    @property
    def across(self) -> float:
        """The weight of negatives of the other side; none where it is zero."""
        ...

    @property
    def within(self) -> float:
        """The weight of negatives of the anchor's own side; none where it is zero."""
        ...

    @property
    def both_directions(self) -> bool:
        """Whether documents are anchors too."""
        ...

    @property
    def scaling(self) -> str:
        """What becomes of the scale unless one says otherwise: fixed, learn or calibrated."""
        ...

    @property
    def start(self) -> tuple[float, float | None]:
        """The scale to start from, and the bias where there is one."""
        ...

    def __call__(self, scores: Tensor, targets: Tensor, within: Tensor | None, weights: Tensor | None = None) -> Tensor:
        """The mean over anchors, each times its weight where there are some.

        ``scores`` (anchors, candidates) hold the positive of anchor i in column ``targets[i]``, ``within`` (anchors,
        others) those of its own side; minus infinity marks what does not count.
        """
        ...
