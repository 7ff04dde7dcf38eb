"""The one contrastive objective: normalisation, scale, a loss and what is added to it. Tensors in, a scalar out.

The one place where scores of a batch are formed. Adapters and encoders, plain, cached and distributed training all come
through here: ``contrast`` takes any number of anchors against any number of candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from offsphere.base.errors import ParameterError
from offsphere.learning.objective.batch import Batch, FalseNegatives
from offsphere.learning.objective.contrastive_options import ContrastiveOptions
from offsphere.learning.objective.exponents import Normalize, write_normalize
from offsphere.learning.objective.focal import focal_weights
from offsphere.learning.objective.gradient_control import grad_scale
from offsphere.learning.objective.losses import loss_of
from offsphere.learning.objective.losses.loss import Loss
from offsphere.learning.objective.normalization import Normalization
from offsphere.learning.objective.regularizers import (
    VRNS,
    LengthTarget,
    LengthVariance,
    Regularizer,
    RegularizerInput,
    Uniformity,
    config_of,
)
from offsphere.learning.objective.scale import Scale
from offsphere.scoring.transforms import Side
from offsphere.scoring.transforms.adapter_map import Combine
from offsphere.vectors.powered import powered

Span = tuple[int, int]  # rows from the first, below the second


class ScoredSides(NamedTuple):
    """The vectors of a batch as they are scored: normalised, with a learned length where there is a head."""

    queries: Tensor  # (pairs, dimension)
    documents: Tensor  # (pairs, dimension)
    hard: Tensor  # (hard negatives, dimension)


class Objective(nn.Module):
    """A loss of normalised, scaled scores, plus weighted regularisers.

    Args:
        normalize: The power of its length by which each side is divided: a name, or two exponents.
        loss: The name of a loss, or a loss.
        temperature: One over the scale to start from; as the loss has it without.
        scale: What becomes of the scale: fixed, learn or calibrated; as the loss has it without.
        within: Whether vectors of the anchor's own side are negatives too; as the loss has it without.
        both_directions: Whether documents are anchors too; as the loss has it without.
        margin: Negatives that score above their positive by more than this do not count: they may well be relevant.
        regularizers: What is added to the loss, each with its weight.
        grad_scale: The power of the length by which gradients are multiplied.
        focal: The power of focal weights, by cosine; 0 weighs all anchors alike.
        combine: How a magnitude head's length is put on a vector: multiplied or added.
        widths: Numbers of dimensions to which vectors may be cut, each with a calibrated scale of its own.
    """

    bias: Tensor | None

    def __init__(
        self,
        normalize: Normalize = "both",
        loss: str | Loss = "infonce",
        *,
        temperature: float | None = None,
        scale: str | None = None,
        within: bool | None = None,
        both_directions: bool | None = None,
        margin: float | None = None,
        regularizers: Sequence[Regularizer] = (),
        grad_scale: float = 0.0,
        focal: float = 0.0,
        combine: Combine = "multiplied",
        widths: Sequence[int] = (),
    ) -> None:
        super().__init__()
        self.loss = loss_of(loss)
        if within is not None:
            self.loss = replace(self.loss, within=float(within))
        if not (self.loss.across or self.loss.within):
            raise ParameterError(f"{self.loss.name} without within-view negatives has no negatives at all")
        if temperature is not None and not temperature > 0:
            raise ParameterError(f"temperature = {temperature} must be above zero")
        alpha, bias = self.loss.start
        self.normalize = normalize
        self.normalization = Normalization(normalize)
        self.scale = Scale(1 / temperature if temperature is not None else alpha, scale or self.loss.scaling)
        narrow = widths if self.scale.mode == "calibrated" else ()
        self.scales = nn.ModuleDict({str(width): Scale(self.scale.alpha, self.scale.mode) for width in narrow})
        self.both_directions = self.loss.both_directions if both_directions is None else both_directions
        self.margin = margin
        self.regularizers = tuple(regularizers)
        self.grad_scale = grad_scale
        self.focal = focal
        self.combine = combine
        learned = nn.Parameter(torch.tensor(float(bias))) if bias is not None else None
        self.register_parameter("bias", learned)

    def forward(self, batch: Batch, span: Span | None = None) -> Tensor:
        """The loss of a batch; or, with the pairs of a span as the only anchors, what these contribute to its mean."""
        self.observe(batch)
        return self.span_loss(batch, span or (0, len(batch.queries))) + self.regularization(batch)

    def observe(self, batch: Batch) -> None:
        """Calibrate the scale by the lengths of the first batches."""
        if len(batch.queries) < 2 and batch.hard is None:  # noqa: PLR2004
            raise ParameterError("a batch needs at least two pairs, or hard negatives: there is nothing to contrast")
        self._scale_of(batch.queries.shape[1]).observe(batch.queries, batch.documents)

    def span_loss(self, batch: Batch, span: Span) -> Tensor:
        """The mean loss of some anchors, the pairs of a span, against all candidates of the batch."""
        sides = self.scored_sides(batch)
        ignored = batch.ignored or FalseNegatives.none()
        rows = slice(*span)
        targets = torch.arange(*span, device=sides.queries.device)
        candidates, across = sides.documents, ignored.pairs
        if len(sides.hard):
            candidates = torch.cat([sides.documents, sides.hard])
            across = ignored.beyond(len(sides.documents))
        within = torch.cat([ignored.pairs, ignored.pairs.flip(0)], dim=1)

        def in_span(entries: Tensor) -> Tensor:
            return entries if span == (0, len(sides.queries)) else of_span(entries, span)

        among_peers = in_span(within)
        loss = self.contrast(
            sides.queries[rows], candidates, sides.queries, targets, across=in_span(across), within=among_peers
        )
        if not self.both_directions:
            return loss
        turned = in_span(ignored.pairs.flip(0))
        backwards = self.contrast(
            sides.documents[rows], sides.queries, sides.documents, targets, across=turned, within=among_peers
        )
        return (loss + backwards) / 2

    def contrast(
        self,
        anchors: Tensor,
        candidates: Tensor,
        peers: Tensor,
        targets: Tensor,
        *,
        across: Tensor,
        within: Tensor,
    ) -> Tensor:
        """The mean loss of some anchors, all given as scored vectors.

        Anchor i has its positive at ``candidates[targets[i]]`` and stands itself at ``peers[targets[i]]`` among the
        vectors of its own side. ``across`` and ``within`` are entries (anchor, column) that do not count as negatives.
        A part of a batch's anchors against all of its candidates gives that part's share of the batch's loss.
        """
        scores = mask(self.scores(anchors, candidates), across)
        if self.margin is not None:
            positive = scores.detach().gather(1, targets[:, None])
            likely = scores.detach() > positive + self.margin * float(self._scale(anchors.shape[1]))
            scores = scores.masked_fill(likely.scatter(1, targets[:, None], value=False), -inf)
        among_peers = None
        if self.loss.within:
            itself = torch.stack([torch.arange(len(anchors), device=targets.device), targets])
            among_peers = mask(self.scores(anchors, peers), torch.cat([within, itself], dim=1))
        weights = None
        if self.focal:
            weights = focal_weights(anchors, candidates, targets, across, self.scale.alpha, self.focal)
        return self.loss(scores, targets, among_peers, weights)

    def scored_sides(self, batch: Batch) -> ScoredSides:
        """All vectors of a batch as they are scored."""
        hard = batch.hard if batch.hard is not None else batch.documents[:0]
        heads = batch.heads or (None, None, None)
        return ScoredSides(
            self.scored_vectors(batch.queries, "query", heads[0]),
            self.scored_vectors(batch.documents, "document", heads[1]),
            self.scored_vectors(hard, "document", heads[2] if batch.hard is not None else None),
        )

    def scored_vectors(self, vectors: Tensor, side: Side, head: Tensor | None = None) -> Tensor:
        """Vectors of a side over a power of their length, then with the length a magnitude head gives them."""
        normalized: Tensor = self.normalization(grad_scale(vectors, self.grad_scale), side)
        if head is None:
            return normalized
        if self.combine == "multiplied":
            return normalized * head.exp()[:, None]
        lengths = normalized.norm(dim=-1)
        lengthened: Tensor = powered(normalized, 1.0) * (lengths + head).clamp_min(0)[:, None]
        return lengthened

    def scores(self, anchors: Tensor, candidates: Tensor) -> Tensor:
        """Scaled scores of scored vectors, plus the bias where there is one: (anchors, candidates)."""
        scores: Tensor = (anchors * self._scale(anchors.shape[1])) @ candidates.T
        return scores + self.bias if self.bias is not None else scores

    @property
    def current_scale(self) -> float:
        """The scale as it is now."""
        scale = self._scale()
        return float(scale.detach()) if isinstance(scale, Tensor) else float(scale)

    def _scale(self, width: int | None = None) -> Tensor | float:
        """The scale of vectors of that width as it is now, with a gradient where it has one."""
        exponent = self.normalization.exponent
        scale: Tensor | float = self._scale_of(width)(exponent("query"), exponent("document"))
        return scale

    def _scale_of(self, width: int | None) -> Scale:
        """What scales vectors of that width: a scale of their own where they have one."""
        name = str(width)
        return cast("Scale", self.scales[name]) if name in self.scales else self.scale

    def parameter_groups(self, rate: float) -> list[dict[str, Any]]:
        """Exponents, scale and bias with a rate of their own and no weight decay.

        At the rate of an encoder the exponents would hardly leave one half, and decay would pull them back to it.
        """
        parameters = list(self.parameters())
        return [{"params": parameters, "lr": rate, "weight_decay": 0.0}] if parameters else []

    def config(self) -> dict[str, Any]:
        """What the objective is, as plain values."""
        return {
            "loss": self.loss.name,
            "normalize": write_normalize(self.normalize),
            "scale": self.scale.mode,
            "temperature": 1 / self.scale.alpha,
            "across": self.loss.across,
            "within": self.loss.within,
            "both_directions": self.both_directions,
            "margin": self.margin,
            "grad_scale": self.grad_scale,
            "focal": self.focal,
            "regularizers": [config_of(regularizer) for regularizer in self.regularizers],
            "paper": self.loss.paper,
        }

    def regularization(self, batch: Batch) -> Tensor:
        """The sum of the weighted regularisers of a batch."""
        if not self.regularizers:
            return batch.queries.new_zeros(())
        queries, candidates = powered(batch.queries, 1.0), powered(batch.documents, 1.0)
        ignored = batch.ignored or FalseNegatives.none()
        across = ignored.pairs
        if batch.hard is not None:
            candidates = torch.cat([candidates, powered(batch.hard, 1.0)])
            across = ignored.beyond(len(batch.documents))
        positives = torch.arange(len(queries), device=queries.device).expand(2, -1)
        negatives = mask(queries @ candidates.T, torch.cat([across, positives], dim=1))
        terms = RegularizerInput(batch.queries, batch.documents, negatives)
        return torch.stack([regularizer.weight * regularizer(terms) for regularizer in self.regularizers]).sum()


def objective_of(
    options: ContrastiveOptions, training_size: int, *, combine: Combine = "multiplied", widths: Sequence[int] = ()
) -> Objective:
    """The objective that options ask for, for a training set of so many pairs."""
    regularizers: list[Regularizer] = []
    if options.vrns:
        regularizers.append(VRNS(training_size, options.vrns))
    if options.length_target is not None:
        regularizers.append(LengthTarget(*options.length_target))
    if options.length_variance:
        regularizers.append(LengthVariance(options.length_variance))
    if options.uniformity:
        regularizers.append(Uniformity(options.uniformity))
    return Objective(
        options.normalize,
        options.loss,
        temperature=options.temperature,
        scale=options.scale,
        within=options.within,
        both_directions=options.both_directions,
        margin=options.margin,
        regularizers=regularizers,
        grad_scale=options.grad_scale,
        focal=options.focal,
        combine=combine,
        widths=widths,
    )


def of_span(entries: Tensor, span: Span) -> Tensor:
    """The entries (row, column) whose row is in a span, counted from its start."""
    first, last = span
    inside = (entries[0] >= first) & (entries[0] < last)
    return entries[:, inside] - torch.tensor([[first], [0]], device=entries.device)


def mask(scores: Tensor, entries: Tensor) -> Tensor:
    """The scores with minus infinity at entries (row, column) that are no negatives."""
    if not entries.shape[1]:
        return scores
    return scores.index_put((entries[0], entries[1]), torch.tensor(-inf, dtype=scores.dtype, device=scores.device))
