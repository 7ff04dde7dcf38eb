"""A recipe for an adapter: everything that decides how it is trained, but for data and seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar

from offsphere.base.errors import ParameterError
from offsphere.learning.objective.contrastive_options import ContrastiveOptions
from offsphere.learning.objective.exponents import write_normalize
from offsphere.scoring.transforms.adapter_map import Combine

SIDES = ("auto", "untied", "tied", "query", "document")
MAGNITUDES = (None, "multiplied", "added")
BETAS = (0.9, 0.98)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(ContrastiveOptions):
    """How to train an adapter. The defaults make a cosine adapter: a map for each side, InfoNCE at temperature 0.05.

    Weight decay pulls towards the identity. The fields that adapters share with encoders are:

    Args:
        normalize: The output, which is scored: both (cosine), none (dot), query, document, half, learn, or a pair of
            exponents.
        normalize_input: What enters the adapter; the same values.
        loss: The name of a loss, such as infonce, clip or siglip.
        within: Whether vectors of the anchor's own side are negatives too; as the loss has it without.
        both_directions: Whether documents are anchors too; as the loss has it without.
        temperature: One over the scale of scores; as the loss has it without.
        scale: What becomes of the scale: fixed, learn or calibrated; as the loss has it without.
        margin: Negatives that score above their positive by more than this do not count.
        vrns: The weight of VRNS, for small batches.
        focal: The power of focal weights: anchors whose positive wins already by cosine count less.
        length_target: A length that vectors are drawn to, and the weight of it.
        length_variance: The weight of the penalty on how much lengths vary.
        uniformity: The weight of the penalty on directions that crowd together.
        grad_scale: The power of the length by which gradients are multiplied.
        cut: What the start is divided by.
        batch: Pairs in a batch.
        epochs: Passes over the pairs; without, ten, but at least 500 steps and at most 1,280,000
            pairs in all.
        rate: The learning rate.
        own_rate: The learning rate of exponents, scale and bias.
        weight_decay: How strongly weights are pulled back.
        hard_negatives: How many are mined for each query of a batch.
        patience: Evaluations without a better held-out value before it stops; None for never.
        dynamics_every: Steps between two measurements of the probe; 0 for none.
        sides: A map for each side (untied), one for both (tied), one for a single side (query, document), or auto: tied
            for pairs, else untied.
        rank: The rank of what is added to the start; full without.
        width: How many numbers both sides have after the map; the narrower one where they come in two widths, else as
            many as before.
        magnitude: A learned length on top of the direction: multiplied or added.

    Raises:
        ParameterError: If a value is out of its range or of another type.
        UnknownNameError: If a normalisation, a loss or a scale is not known.

    Example:
        >>> import offsphere as osp
        >>> recipe = osp.Recipe(normalize="query", rank=8)
        >>> recipe.loss, recipe.batch, recipe.exponents.similarity.name
        ('infonce', 256, 'query-normalized')
        >>> osp.Recipe(batch=1)
        Traceback (most recent call last):
        ...
        offsphere.base.errors.ParameterError: batch = 1: give at least 2
    """

    AT_LEAST: ClassVar[Mapping[str, int]] = MappingProxyType({**ContrastiveOptions.AT_LEAST, "rank": 1, "width": 1})

    rate: float = 1e-3
    sides: str = "auto"  # a map for each side (untied), one for both (tied), or for one side only; auto: see resolved
    rank: int | None = None  # of what is added to the start; full without
    width: int | None = None  # that both sides are mapped to; the narrower one of the two without
    magnitude: Combine | None = None  # a learned length on top of the direction: multiplied or added

    def __post_init__(self) -> None:
        """Reject what cannot be trained."""
        ContrastiveOptions.__post_init__(self)
        if self.sides not in SIDES:
            raise ParameterError(f"sides = {self.sides!r}: choose {', '.join(SIDES)}")
        if self.magnitude not in MAGNITUDES:
            raise ParameterError(f"magnitude = {self.magnitude!r}: choose multiplied or added, or leave it out")

    def resolved(self, *, pairs: bool = False) -> Recipe:
        """The recipe with its sides chosen: one map for both where they play one role (pairs), else one for each.

        Args:
            pairs: Whether both sides play one role.

        Returns:
            The recipe, whose sides are no longer auto.
        """
        return replace(self, sides="tied" if pairs else "untied") if self.sides == "auto" else self

    @property
    def label(self) -> str:
        """What tells an adapter of this recipe from others, besides its similarity."""
        parts = [self.sides]
        if self.rank is not None:
            parts.append(f"rank {self.rank}")
        if self.width is not None:
            parts.append(f"width {self.width}")
        if self.normalize_input != "none":
            parts.append(f"input {write_normalize(self.normalize_input)}")
        if self.magnitude is not None:  # the similarity says dot then, so this says what it was before
            similarity = self.exponents.similarity.name if not self.exponents.learned else "learned exponents"
            parts.append(f"{similarity}, length {self.magnitude}")
        return ", ".join(parts)
