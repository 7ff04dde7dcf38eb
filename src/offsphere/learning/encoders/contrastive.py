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
from offsphere.learning.encoders.citations import bibtex_of
from offsphere.learning.encoders.momentum import Momentum
from offsphere.learning.encoders.text_keys import BatchKeys
from offsphere.learning.objective.batch import Batch
from offsphere.learning.objective.exponents import Normalize
from offsphere.learning.objective.losses.loss import Loss
from offsphere.learning.objective.objective import Objective, Span
from offsphere.scoring.transforms import Side

ROWS = 128  # anchors whose scores are held at a time in cached mode


class NotFiniteError(OffsphereError):
    """The loss of a training is no number any more."""


class Context(NamedTuple):
    """What belongs to a batch besides its vectors that have a gradient."""

    keys: BatchKeys
    slow: Tensor | None = None  # documents and hard negatives by a momentum encoder


class ContrastiveLoss(CachedLossMixin, nn.Module):
    """A contrastive loss for sentence-transformers' own trainer, with each side's normalisation under control.

    The first column of the data are queries, the second their documents, all further ones hard negatives. Every
    document and hard negative of the batch is a negative for every query, of all processes together; the same text, and
    documents of the same query, are not. Call ``prepare`` on the model first, so that the loss sees lengths.

    Args:
        model: The SentenceTransformer to be trained.
        normalize: The power of its length by which each side is divided: both (cosine), none (dot), query, document,
            half, learn, or a pair of exponents.
        family: The name of a loss, such as infonce, clip or siglip, or a loss.
        objective: An objective instead of ``normalize``, ``family`` and ``options``.
        first: An objective to begin with, until ``begun`` is set.
        mini_batch: How many texts the model sees at a time, twice, with the gradients of the whole batch (GradCache,
            Gao et al. 2021, arXiv:2101.06983).
        dimensions: Widths to which vectors are cut, each with a loss of its own, their lengths as they come out
            (Matryoshka, Kusupati et al. 2022, arXiv:2205.13147).
        momentum: How slowly a copy of the model follows it, by which documents are encoded (He et al. 2020,
            arXiv:1911.05722); without it the model itself encodes them.
        queue: How many former vectors of the slow copy are negatives.
        known: Pairs of a query's and a document's key that belong together, sorted; keys are those of the labels.
        options: Further options of the objective: temperature, scale, within, both_directions, margin, regularizers,
            grad_scale.

    Raises:
        ParameterError: If options contradict each other or the model.

    Example:
        >>> import offsphere as osp
        >>> from sentence_transformers import SentenceTransformer
        >>> from sentence_transformers.sentence_transformer.modules import StaticEmbedding
        >>> from tokenizers import Tokenizer, models, pre_tokenizers
        >>> words = Tokenizer(models.WordLevel({"?": 0, "red": 1, "cat": 2, "blue": 3, "dog": 4}, unk_token="?"))
        >>> words.pre_tokenizer = pre_tokenizers.Whitespace()
        >>> model = SentenceTransformer(modules=[StaticEmbedding(words, embedding_dim=8)], device="cpu")
        >>> _ = osp.prepare(model, "query")
        >>> loss = osp.ContrastiveLoss(model, "query", temperature=0.1)
        >>> columns = [model.preprocess(texts) for texts in (["red", "blue"], ["red cat", "blue dog"])]
        >>> loss(columns).shape, loss.get_config_dict()["normalize"]
        (torch.Size([]), 'query')
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

    def __repr__(self) -> str:
        """What the loss is; the model has a text of its own."""
        return f"ContrastiveLoss({self.objective.loss.name}, normalize={self.objective.normalize!r})"

    def forward(self, sentence_features: Iterable[dict[str, Any]], labels: Tensor | None = None) -> Tensor:
        """The loss of a batch, as the trainer gives it.

        Args:
            sentence_features: The tokens of each column.
            labels: A key for every text, a column for each column of texts, as the same text has the same key; keys are
                made of the tokens without.

        Returns:
            The loss, a number with a gradient.

        Raises:
            ParameterError: If there are fewer than two columns.
            NotFiniteError: If the loss is no number any more.
        """
        columns = list(sentence_features)
        if len(columns) < 2:  # noqa: PLR2004
            raise ParameterError(
                f"the data has {len(columns)} column of texts: a loss needs at least two, queries and their documents"
            )
        self._check_wrapping()
        for stage in self.passing:  # in evaluation too the loss is to see lengths
            stage.train()
        keys = _gather_keys(BatchKeys.of(columns, labels))
        slow = self._encode_slowly(columns[1:]) if self.momentum is not None else None
        context = Context(keys, slow)
        with_gradient = columns if slow is None else columns[:1]
        if self.uses_gradient_cache:
            loss = self.forward_cached(with_gradient, context)  # type: ignore[arg-type]  # labels, to its mind
        else:
            loss = self._loss([[column] for column in embed_columns(self.model, with_gradient)], context)
        if slow is not None and self.training and self.momentum is not None:
            pairs = len(keys.documents)
            self.momentum.push(slow[:pairs], keys.documents)
        if not torch.is_grad_enabled():  # else GradCache comes here once more
            for stage in self.passing:
                stage.train(self.model.training)
        if not bool(torch.isfinite(loss.detach())):
            raise NotFiniteError(
                f"the loss is {float(loss.detach())}: lower the rate, or raise the temperature (the scale is "
                f"{self.objective.current_scale:.3g})"
            )
        return loss

    def calculate_loss(self, reps: list[list[Tensor]], labels: Any = None, *, with_backward: bool = False) -> Tensor:
        """The loss of vectors that came in parts, as GradCache wants it; ``labels`` are the batch's context.

        Args:
            reps: The vectors of each column of the batch, part by part.
            labels: The context of the batch.
            with_backward: Whether gradients are computed at once, span by span.

        Returns:
            The loss; without a graph where gradients were computed.
        """
        return self._loss(reps, labels, with_backward=with_backward)

    def _loss(self, columns: list[list[Tensor]], context: Context, *, with_backward: bool = False) -> Tensor:
        """The loss of all widths together; ``with_backward`` goes back span by span, and what it gives has no graph."""
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
                    terms.append(_go_back(self.current.span_loss(batch, part) * share, now=with_backward))
                if self.current.regularizers:
                    terms.append(_go_back(self.current.regularization(batch), now=with_backward))
        return torch.stack(terms).sum()

    @property
    def current(self) -> Objective:
        """The objective that is followed now."""
        return self.objective if self.begun or self.first is None else self.first

    def _batch(self, columns: list[list[Tensor]], context: Context) -> tuple[Batch, Span]:
        """Vectors of all processes, and which of the pairs are of this process."""
        sides = [_single_precision(torch.cat(parts)) for parts in columns]
        pairs = len(sides[0])
        rank = distributed.get_rank() if _several_processes() else 0
        span = (rank * pairs, (rank + 1) * pairs)
        queries = _gather(sides[0])
        keys = context.keys
        if context.slow is None:
            documents = _gather(sides[1])
            hard = _gather(torch.cat(sides[2:])) if len(sides) > 2 else None  # noqa: PLR2004
        else:
            assert self.momentum is not None
            documents, rest = context.slow[: len(queries)], context.slow[len(queries) :]
            waiting, waiting_keys = self.momentum.queue
            hard = torch.cat([rest, waiting.to(rest.dtype)])
            keys = keys._replace(hard=torch.cat([*([keys.hard] if keys.hard is not None else []), waiting_keys]))
            hard = hard if len(hard) else None
            keys = keys if hard is not None else keys._replace(hard=None)
        return Batch(queries, documents, hard, keys.false_negatives(self.known)), span

    def _encode_slowly(self, columns: Sequence[dict[str, Any]]) -> Tensor:
        """Documents, then hard negatives, of all processes, by the momentum encoder."""
        assert self.momentum is not None
        if self.training and torch.is_grad_enabled():
            self.momentum.follow(self.model)
        documents, *hard = [_single_precision(self.momentum.encode(features)) for features in columns]
        return torch.cat([_gather(documents), *([_gather(torch.cat(hard))] if hard else [])])

    def _check(self, model: Any) -> None:
        """Reject options that contradict each other or the model."""
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
                stage.follow(partial(_learned_exponent, self.objective, side))
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
            parameter.register_hook(_average)  # type: ignore[no-untyped-call]

    def _check_wrapping(self) -> None:
        """Refuse sentence-transformers' own MatryoshkaLoss, which normalises every slice: all lengths would be gone."""
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

    @property
    def citation(self) -> str:
        """The paper of the loss as BibTeX, for the model card."""
        return "\n\n".join(bibtex_of(self.objective.loss.paper))

    def get_config_dict(self) -> dict[str, Any]:
        """What the loss is, for the model card."""
        config = self.objective.config()
        config |= {"first": self.first.config()} if self.first is not None else {}
        config |= {"mini_batch": self.mini_batch_size} if self.uses_gradient_cache else {}
        config |= {"dimensions": list(self.dimensions)} if self.dimensions else {}
        if self.momentum is not None:
            config |= {"momentum": self.momentum.momentum, "queue": self.momentum.size}
        return config

    def own_state(self) -> dict[str, Tensor]:
        """Everything learned or remembered in the loss that is no part of the model, to go on from."""
        state = {name: value for name, value in self.state_dict().items() if not name.startswith("model.")}
        return {name: value.clone().contiguous() for name, value in state.items()}

    def load_own_state(self, state: dict[str, Tensor]) -> None:
        """Take a state that ``own_state`` gave, to go on from there.

        Args:
            state: What ``own_state`` gave.

        Raises:
            OffsphereError: If it is the state of another loss.
        """
        _, unknown = self.load_state_dict(state, strict=False)
        if unknown or set(state) != set(self.own_state()):
            raise OffsphereError("the state of a loss is of another configuration")


def check_widths(model: Any, dimensions: Sequence[int]) -> None:
    """Refuse widths that the vectors of a model do not have."""
    widest = model.get_embedding_dimension()
    for width in dimensions:
        if not 1 <= width <= widest:
            raise ParameterError(f"dimensions: {width} is not between 1 and the model's {widest}")


def _single_precision(rows: Tensor) -> Tensor:
    """The rows in single precision at least."""
    return rows.float() if rows.dtype in (torch.bfloat16, torch.float16) else rows


def _learned_exponent(objective: Objective, side: Side) -> float:
    """The exponent of a side as it is learned now."""
    return float(getattr(objective.normalization.exponents, side))


def _go_back(term: Tensor, *, now: bool) -> Tensor:
    """Go back through a term at once, where that is asked for, and let go of its graph."""
    if now:
        term.backward()  # type: ignore[no-untyped-call]
        return term.detach()
    return term


def _several_processes() -> bool:
    """Whether several processes train together."""
    return distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1


def _gather(rows: Tensor) -> Tensor:
    """Rows of all processes in their order; gradients find their way back."""
    if not _several_processes():
        return rows
    if not rows.requires_grad:
        parts = [torch.empty_like(rows) for _ in range(distributed.get_world_size())]
        distributed.all_gather(parts, rows.contiguous())
        return torch.cat(parts)
    gathered: Tensor = torch.cat(differentiable.all_gather(rows.contiguous()))  # type: ignore[no-untyped-call]
    return gathered


def _gather_keys(keys: BatchKeys) -> BatchKeys:
    """Keys of all processes in their order."""
    hard = _gather(keys.hard) if keys.hard is not None else None
    return BatchKeys(_gather(keys.queries), _gather(keys.documents), hard)


def _average(gradient: Tensor) -> Tensor:
    """The mean of a gradient over processes: nobody else does it for what the loss itself learns."""
    if not _several_processes():
        return gradient
    total = gradient.clone()
    distributed.all_reduce(total)
    return total / distributed.get_world_size()
