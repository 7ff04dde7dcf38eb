"""``ContrastiveLoss``: the objective of adapters as a loss for sentence-transformers' own trainer."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from sentence_transformers.base.losses.gradcache import CachedLossMixin, has_static_embedding_input
from sentence_transformers.base.losses.merged_forward import embed_columns
from torch import Tensor, distributed, nn
from torch.distributed import nn as differentiable

from offsphere.base.arrays import Index
from offsphere.base.errors import OffsphereError, ParameterError
from offsphere.encode.stages import Power, exponent_of, let_lengths_pass, output_stages
from offsphere.learn.encoders.momentum import Momentum
from offsphere.learn.encoders.text_keys import BatchKeys
from offsphere.learn.objective.batch import Batch
from offsphere.learn.objective.exponents import Normalize
from offsphere.learn.objective.losses.loss import Loss
from offsphere.learn.objective.objective import Objective, Span
from offsphere.scoring.transforms import Side

ROWS = 128  # anchors whose scores are held at a time in cached mode


class NotFiniteError(OffsphereError):
    """A loss that is no number any more."""


class Context(NamedTuple):
    """What belongs to a batch besides its vectors with a gradient."""

    keys: BatchKeys
    slow: Tensor | None = None  # documents and hard negatives by a momentum encoder


class ContrastiveLoss(CachedLossMixin, nn.Module):
    """Pairs, triplets or n hard negatives: the first column are queries, the second their documents, then negatives.

    ``family`` is a loss by its name (infonce, clip, simclr, dcl, dhel, siglip, spectral); ``normalize`` and all other
    ``options`` are those of ``Objective``, and an ``objective`` may be given instead. Every
    document and hard negative of the batch is a negative for every query, of all processes together; the same text, and
    documents of the same query, are not. ``mini_batch`` turns on GradCache (Gao et al. 2021, arXiv:2101.06983): the
    model sees so many texts at a time, twice, and the gradients are those of the whole batch. ``dimensions`` are
    widths to which vectors are cut, each with a loss of its own (Matryoshka, Kusupati et al. 2022, arXiv:2205.13147),
    their lengths as they come out. ``momentum`` and ``queue`` encode documents by a slow copy of the model.
    ``first`` is an objective to begin with, until ``begun`` is set.
    """

    def __init__(
        self,
        model: Any,
        normalize: Normalize = "both",
        family: str | Loss = "infonce",
        *,
        objective: Objective | None = None,
        first: Objective | None = None,
        mini_batch: int | None = None,
        dimensions: Sequence[int] = (),
        momentum: float | None = None,
        queue: int = 4_096,
        known: Index | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self.model = model
        self.objective = objective or Objective(normalize, family, widths=dimensions, **options)
        self.first = first
        self.begun = first is None
        self.dimensions = tuple(dimensions)
        self.momentum = Momentum(model, momentum, queue) if momentum is not None else None
        self.known = known
        self.mini_batch_size = mini_batch or 0
        self.uses_gradient_cache = mini_batch is not None
        self._check(model)
        self._join(model)

    def forward(self, sentence_features: Iterable[dict[str, Any]], labels: Tensor | None = None) -> Tensor:
        """The loss of a batch as the trainer gives it."""
        columns = list(sentence_features)
        if len(columns) < 2:  # noqa: PLR2004
            raise ParameterError(
                f"the data has {len(columns)} column of texts: a loss needs at least two, queries and their documents"
            )
        self._check_wrapping()
        for stage in self.passing:  # in evaluation too the loss is to see lengths
            stage.train()
        keys = _gathered_keys(BatchKeys.of(columns, labels))
        slow = self._slow(columns[1:]) if self.momentum is not None else None
        context = Context(keys, slow)
        with_gradient = columns if slow is None else columns[:1]
        if self.uses_gradient_cache:
            found = self.forward_cached(with_gradient, context)  # type: ignore[arg-type]  # labels, to its mind
        else:
            found = self._loss([[column] for column in embed_columns(self.model, with_gradient)], context)
        if slow is not None and self.training and self.momentum is not None:
            pairs = len(keys.documents)
            self.momentum.push(slow[:pairs], keys.documents)
        if not torch.is_grad_enabled():  # else GradCache comes here once more
            for stage in self.passing:
                stage.train(self.model.training)
        if not bool(torch.isfinite(found.detach())):
            raise NotFiniteError(
                f"the loss is {float(found.detach())}: lower the rate, or raise the temperature (the scale is "
                f"{self.objective.current_scale:.3g})"
            )
        return found

    def calculate_loss(self, reps: list[list[Tensor]], labels: Any = None, *, with_backward: bool = False) -> Tensor:
        """The loss of vectors that came in parts, as GradCache wants it; ``labels`` are the batch's context."""
        return self._loss(reps, labels, with_backward=with_backward)

    def _loss(self, columns: list[list[Tensor]], context: Context, *, with_backward: bool = False) -> Tensor:
        """All widths together; with ``with_backward`` span by span, and what is returned has no graph."""
        whole, (first, last) = self._batch(columns, context)
        step = ROWS if with_backward else last - first
        terms = []
        # scores are exact, whatever the model computes in
        with torch.autocast(whole.queries.device.type, enabled=False):
            for width in self.dimensions or (whole.queries.shape[1],):
                batch = whole.cut(width)
                self.current.observe(batch)
                for start in range(first, last, step):
                    part = (start, min(start + step, last))
                    share = (part[1] - part[0]) / (last - first)
                    terms.append(_done(self.current.part(batch, part) * share, with_backward=with_backward))
                if self.current.regularizers:
                    terms.append(_done(self.current.added(batch), with_backward=with_backward))
        return torch.stack(terms).sum()

    @property
    def current(self) -> Objective:
        """The objective that is followed now."""
        return self.objective if self.begun or self.first is None else self.first

    def _batch(self, columns: list[list[Tensor]], context: Context) -> tuple[Batch, Span]:
        """Vectors of all processes, and which of the pairs are this one's own."""
        sides = [_exact(torch.cat(parts)) for parts in columns]
        own = len(sides[0])
        rank = distributed.get_rank() if _many() else 0
        span = (rank * own, (rank + 1) * own)
        queries = _gathered(sides[0])
        keys = context.keys
        if context.slow is None:
            documents = _gathered(sides[1])
            hard = _gathered(torch.cat(sides[2:])) if len(sides) > 2 else None  # noqa: PLR2004
        else:
            assert self.momentum is not None
            documents, rest = context.slow[: len(queries)], context.slow[len(queries) :]
            waiting, waiting_keys = self.momentum.queue
            hard = torch.cat([rest, waiting.to(rest.dtype)])
            keys = keys._replace(hard=torch.cat([*([keys.hard] if keys.hard is not None else []), waiting_keys]))
            hard = hard if len(hard) else None
            keys = keys if hard is not None else keys._replace(hard=None)
        return Batch(queries, documents, hard, keys.false_negatives(self.known)), span

    def _slow(self, columns: Sequence[dict[str, Any]]) -> Tensor:
        """Documents, then hard negatives, of all processes by the momentum encoder."""
        assert self.momentum is not None
        if self.training and torch.is_grad_enabled():
            self.momentum.follow(self.model)
        documents, *hard = [_exact(self.momentum.encode(features)) for features in columns]
        return torch.cat([_gathered(documents), *([_gathered(torch.cat(hard))] if hard else [])])

    def _check(self, model: Any) -> None:
        if self.uses_gradient_cache and self.mini_batch_size < 1:
            raise ParameterError(f"mini_batch = {self.mini_batch_size}: give at least 1")
        if self.uses_gradient_cache and has_static_embedding_input(model):
            raise ParameterError("mini_batch is of no use to a static model: its texts cost no memory; leave it out")
        check_widths(model, self.dimensions)
        if self.momentum is not None and self.objective.both_directions:
            raise ParameterError("documents of a momentum encoder have no gradient and cannot be anchors too")

    def _join(self, model: Any) -> None:
        """Let lengths pass the last stages while training; warn where a stage takes away what is to be learned."""
        exponents = self.objective.normalization.exponents
        self.passing: list[nn.Module] = []  # stages that hand vectors on as they came
        for side, stage in output_stages(model):
            wanted = {getattr(exponents, name) for name in ((side,) if side is not None else ("query", "document"))}
            if isinstance(stage, Power) and exponents.learned and side is not None:
                stage.follow(partial(_learned, self.objective, side))
            elif wanted != {exponent_of(stage)}:
                warnings.warn(
                    f"the model ends in {type(stage).__name__}{f' for the {side}' if side else ''}, so the loss never "
                    "sees the lengths it is to learn: call offsphere.prepare(model, normalize) first",
                    stacklevel=3,
                )
                continue
            let_lengths_pass(stage)
            self.passing.append(stage)
        for parameter in self.objective.parameters():
            parameter.register_hook(_averaged)  # type: ignore[no-untyped-call]

    def _check_wrapping(self) -> None:
        """sentence-transformers' own MatryoshkaLoss normalises every slice, and with it all lengths are gone."""
        from sentence_transformers.sentence_transformer.losses import matryoshka

        exponents = self.objective.normalization.exponents
        wrapped = (matryoshka.ForwardDecorator, matryoshka.CachedLossDecorator)
        if (exponents.query, exponents.document) == (1, 1):
            return
        forward = getattr(self.model, "forward", None)
        if isinstance(forward, wrapped) or isinstance(self.calculate_loss, wrapped):
            raise ParameterError(
                "MatryoshkaLoss of sentence-transformers scales every slice to length one: give "
                "ContrastiveLoss(..., dimensions=[...]) instead, which keeps lengths"
            )

    def get_config_dict(self) -> dict[str, Any]:
        """What it is, for the model card."""
        config = self.objective.config()
        config |= {"first": self.first.config()} if self.first is not None else {}
        config |= {"mini_batch": self.mini_batch_size} if self.uses_gradient_cache else {}
        config |= {"dimensions": list(self.dimensions)} if self.dimensions else {}
        if self.momentum is not None:
            config |= {"momentum": self.momentum.momentum, "queue": self.momentum.size}
        return config

    def own_state(self) -> dict[str, Tensor]:
        """Everything learned or remembered here that is no part of the model, to go on from."""
        found = {name: value for name, value in self.state_dict().items() if not name.startswith("model.")}
        return {name: value.clone().contiguous() for name, value in found.items()}

    def load_own_state(self, state: dict[str, Tensor]) -> None:
        """Go on from it."""
        _, unknown = self.load_state_dict(state, strict=False)
        if unknown or set(state) != set(self.own_state()):
            raise OffsphereError("the state of a loss is of another configuration")


def check_widths(model: Any, dimensions: Sequence[int]) -> None:
    """Vectors can only be cut to what they have."""
    widest = model.get_embedding_dimension()
    for width in dimensions:
        if not 1 <= width <= widest:
            raise ParameterError(f"dimensions: {width} is not between 1 and the model's {widest}")


def _exact(rows: Tensor) -> Tensor:
    """In single precision at least."""
    return rows.float() if rows.dtype in (torch.bfloat16, torch.float16) else rows


def _learned(objective: Objective, side: Side) -> float:
    return float(getattr(objective.normalization.exponents, side))


def _done(part: Tensor, *, with_backward: bool) -> Tensor:
    if with_backward:
        part.backward()  # type: ignore[no-untyped-call]
        return part.detach()
    return part


def _many() -> bool:
    return distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1


def _gathered(rows: Tensor) -> Tensor:
    """Rows of all processes in their order; gradients find their way back."""
    if not _many():
        return rows
    if not rows.requires_grad:
        parts = [torch.empty_like(rows) for _ in range(distributed.get_world_size())]
        distributed.all_gather(parts, rows.contiguous())
        return torch.cat(parts)
    found: Tensor = torch.cat(differentiable.all_gather(rows.contiguous()))  # type: ignore[no-untyped-call]
    return found


def _gathered_keys(keys: BatchKeys) -> BatchKeys:
    hard = _gathered(keys.hard) if keys.hard is not None else None
    return BatchKeys(_gathered(keys.queries), _gathered(keys.documents), hard)


def _averaged(gradient: Tensor) -> Tensor:
    """The mean over processes: nobody else does it for what the loss itself learns."""
    if not _many():
        return gradient
    found = gradient.clone()
    distributed.all_reduce(found)
    return found / distributed.get_world_size()
