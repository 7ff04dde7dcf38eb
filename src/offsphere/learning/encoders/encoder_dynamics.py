"""Learning dynamics of an encoder: a probe of items, measured every few steps, by a callback of the trainer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from sentence_transformers.util import batch_to_device
from torch import Tensor
from transformers import TrainerCallback

from offsphere.base.errors import OffsphereError
from offsphere.base.files import write_whole
from offsphere.base.short_repr import short_repr
from offsphere.base.written_tables import csv_of, latex_of, pandas_of
from offsphere.data.items import Item, kinds_of, size_of, texts_alone
from offsphere.data.task import Task
from offsphere.encode.sentence import SentenceEncoder
from offsphere.encode.stages import let_lengths_pass, lets_lengths_pass, output_stages, stop_lengths
from offsphere.encode.text_marks import texts_kept
from offsphere.geometry.layers import layer_summaries
from offsphere.learning.data.probe_rows import ProbeRows, probe_rows
from offsphere.learning.data.task_sources import TextSource
from offsphere.learning.data.training_data import TrainingData
from offsphere.learning.encoders.contrastive import ContrastiveLoss
from offsphere.learning.objective.probe_geometry import probe_geometry
from offsphere.scoring.training_record import DynamicsRow, parquet_of

if TYPE_CHECKING:
    import pandas as pd

PAIRS = 64  # of the probe, and as many documents that are relevant to nothing
BATCH = 32  # texts that are encoded at a time


@dataclass(frozen=True, slots=True, eq=False)
class TextProbe:
    """Items whose vectors are measured while a model learns: positive pairs, and documents that nobody wants.

    Args:
        queries: The queries of the pairs, none twice.
        documents: The document of each query.
        others: Documents that are relevant to no query; none for pair tasks.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> left, right = [["red cat", "blue dog", "old tree"], ["a cat", "a dog", "a house"]]
        >>> task = osp.PairTask("pairs", np.array([5.0, 4.5, 0.0]), left, right)
        >>> probe = osp.TextProbe.of(task)  # pairs that people call similar
        >>> sorted(zip(probe.queries, probe.documents)), len(probe.others)
        ([('blue dog', 'a dog'), ('red cat', 'a cat')], 0)
    """

    queries: Sequence[Item]
    documents: Sequence[Item]
    others: Sequence[Item]

    __repr__ = short_repr

    @classmethod
    def of(cls, task: Task, seed: int = 0, pairs: int = PAIRS, wanted: Collection[Item] = ()) -> TextProbe:
        """Choose a random probe of a task, the same for the same seed.

        Args:
            task: A task with texts, best one that is not learned from.
            seed: Of the choice.
            pairs: How many pairs, and how many other documents, there are at most.
            wanted: Documents that are relevant to queries of other tasks, and so none of the others.

        Returns:
            The probe.
        """
        right = TextSource(task).sides[1]
        known = np.array([item in wanted for item in right], np.bool_) if wanted else None
        return cls._of_rows(task, probe_rows(task, task.positives(), pairs, seed, known))

    @classmethod
    def of_data(cls, data: TrainingData[TextSource], seed: int = 0) -> TextProbe:
        """Choose a probe of held-out data; its others are documents that nobody wants, in no part of the data.

        Args:
            data: Training data, put apart.
            seed: Of the choice.

        Returns:
            The probe.
        """
        held_out, wanted = data.held_out, data.wanted_documents(by_judged=True)
        return cls._of_rows(held_out.task, probe_rows(held_out.task, held_out.positives(), PAIRS, seed, wanted))

    @classmethod
    def _of_rows(cls, task: Task, rows: ProbeRows) -> TextProbe:
        """The texts of some rows of a task."""
        left, right = TextSource(task).sides
        return cls(
            [left[row] for row in rows.queries.tolist()],
            [right[row] for row in rows.documents.tolist()],
            [right[row] for row in rows.others.tolist()],
        )

    def measure(self, model: Any, loss: ContrastiveLoss | None = None, *, layers: bool = False) -> list[DynamicsRow]:
        """Measure the probe's vectors as they are now, before the last stages take length away.

        Args:
            model: The model that is trained.
            loss: Its loss, for exponents and scale; without one of ours there are none of these.
            layers: Whether every layer of a transformer has a row of its own too.

        Returns:
            A row of sentences and of the last layer's tokens; with ``layers``, then a row for every layer.
        """
        with texts_kept(model):
            return self._measure(model, loss, layers=layers)

    def _measure(self, model: Any, loss: ContrastiveLoss | None, *, layers: bool) -> list[DynamicsRow]:
        """Measure the probe with a model that takes any string for a text."""
        queries, documents = raw_vectors(model, self.queries, "query"), raw_vectors(model, self.documents, "document")
        others = raw_vectors(model, self.others, "document") if self.others else documents[:0]
        objective = loss.current if loss is not None else None
        row: DynamicsRow = {**probe_geometry(queries, documents, others, objective), "layer": None}
        if "image" in kinds_of(self.documents):  # whose layers have no tokens to be told apart
            return [row]
        training = model.training
        try:
            encoder = SentenceEncoder("model", "model", keep_normalize=True, model=model)
            summaries = layer_summaries(encoder, texts_alone(self.documents, "a probe of layers"), "document")
        except OffsphereError:  # a static model has no layers
            return [row]
        finally:
            model.train(training)
        rows = [{**row, **_tokens(summaries[-1])}]
        if layers:
            rows += [{"layer": number, **_tokens(summary)} for number, summary in enumerate(summaries)]
        return rows


class Dynamics(TrainerCallback):
    """Measures a probe at the start, every few steps, and at the end: a callback of the trainer, or of your own loop.

    The measurements are in ``rows``; ``to_pandas``, ``to_csv`` and ``to_latex`` give them as tables, and
    ``offsphere.save_figures`` draws them.

    Args:
        probe: What is measured.
        loss: The loss of the training, where it is a ``ContrastiveLoss``, for exponents and scale.
        every: Steps between two measurements; 0 for none but at both ends.
        layers: Whether every layer of a transformer is measured too.
        folder: Where ``dynamics.parquet`` is written, if anywhere.
        seen: Called with every measurement.

    Example:
        >>> import offsphere as osp
        >>> from sentence_transformers import SentenceTransformer
        >>> from sentence_transformers.sentence_transformer.modules import StaticEmbedding
        >>> from tokenizers import Tokenizer, models, pre_tokenizers
        >>> words = Tokenizer(models.WordLevel({"?": 0, "red": 1, "cat": 2, "blue": 3, "dog": 4}, unk_token="?"))
        >>> words.pre_tokenizer = pre_tokenizers.Whitespace()
        >>> model = SentenceTransformer(modules=[StaticEmbedding(words, embedding_dim=8)], device="cpu")
        >>> probe = osp.TextProbe(["red", "blue"], ["cat", "dog"], [])
        >>> dynamics = osp.Dynamics(probe, osp.ContrastiveLoss(model, "none"), every=10)
        >>> dynamics.look(model, 0)  # the trainer calls it; Trainer(..., callbacks=[dynamics])
        >>> dynamics.rows[0]["step"], "query_length" in dynamics.rows[0]
        (0, True)

        A loop of your own, whatever its loss, calls ``step``:

        >>> dynamics = osp.Dynamics(probe, every=10)
        >>> [dynamics.step(model, step) for step in (0, 1, 10)]  # after so many steps; was it measured?
        [True, False, True]
        >>> dynamics.to_csv().splitlines()[0].split(",")[:2]
        ['step', 'query_length']
    """

    def __init__(
        self,
        probe: TextProbe,
        loss: ContrastiveLoss | None = None,
        every: int = 50,
        *,
        layers: bool = False,
        folder: str | Path | None = None,
        seen: Callable[[DynamicsRow], None] | None = None,
    ) -> None:
        self.probe, self.loss, self.every, self.layers = probe, loss, every, layers
        self.folder, self.seen = Path(folder) if folder is not None else None, seen
        self.rows: list[DynamicsRow] = []

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:  # noqa: ARG002
        """Measure before the first step; rows of steps that will be gone over again are dropped."""
        self.rows = [row for row in self.rows if row["step"] <= state.global_step]
        if not self.rows:
            self.look(given["model"], 0)

    def on_step_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:  # noqa: ARG002
        """Measure every few steps."""
        if self.every and state.global_step % self.every == 0:
            self.look(given["model"], state.global_step)

    def on_save(self, args: Any, state: Any, control: Any, **given: Any) -> None:  # noqa: ARG002
        """Measure the last step before its checkpoint is marked as whole: whoever goes on from it measures no more."""
        if control.should_training_stop:
            self._look_at_end(given["model"], state.global_step)

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:  # noqa: ARG002
        """Measure after the last step, where no checkpoint was written."""
        self._look_at_end(given["model"], state.global_step)

    def _look_at_end(self, model: Any, step: int) -> None:
        """Measure the last step, once."""
        if self.rows and self.rows[-1]["step"] < step:
            self.look(model, step)

    def step(self, model: Any, step: int, *, last: bool = False) -> bool:
        """Measure the probe if it is time, from a training loop of your own.

        Args:
            model: The SentenceTransformer that is trained; its mode and the state of random numbers stay as they are.
            step: After how many steps this is; 0 before the first.
            last: Whether no step follows, after which it is time in any case.

        Returns:
            Whether it was measured: at the first call, every so many steps, and at the last.
        """
        due = not self.rows or last or (self.every > 0 and step % self.every == 0)
        if not due or (self.rows and self.rows[-1]["step"] == step):
            return False
        before = len(self.rows)
        self.look(model, step)
        return len(self.rows) > before

    def to_pandas(self) -> pd.DataFrame:
        """The measurements as a pandas table, a row a measurement."""
        return pandas_of(self.rows)

    def to_csv(self) -> str:
        """The measurements as CSV."""
        return csv_of(self.rows)

    def to_latex(self, columns: Sequence[str] | None = None) -> str:
        """The measurements as a LaTeX table.

        Args:
            columns: Which quantities, besides the step; all that were measured without.

        Returns:
            The lines of the table, for a document that uses booktabs.
        """
        return latex_of(self.rows, ["step", *columns] if columns is not None else None)

    def look(self, model: Any, step: int) -> None:
        """Measure the probe now; one of a single pair shows nothing and is not measured.

        Args:
            model: The model that is trained.
            step: The step after which this is.
        """
        if len(self.probe.queries) < 2:  # noqa: PLR2004
            return
        rows = [{"step": step, **row} for row in self.probe.measure(model, self.loss, layers=self.layers)]
        self.rows += rows
        if self.folder is not None:
            write_whole(self.folder / "dynamics.parquet", parquet_of(self.rows))
        if self.seen is not None:
            self.seen(rows[0])


@torch.no_grad()
def raw_vectors(model: Any, items: Sequence[Item], side: str) -> Tensor:
    """The vectors of items before the last stages take length away, without dropout."""
    training = model.training
    model.eval()
    stages = [stage for _, stage in output_stages(model)]
    free = [stage for stage in stages if not lets_lengths_pass(stage)]  # joined to no loss
    for stage in stages:
        let_lengths_pass(stage)
        stage.train()  # in which it lets vectors pass
    prompt = SentenceEncoder.prompt_of(model, side)
    order = sorted(range(len(items)), key=lambda row: -size_of(items[row]))
    parts = []
    for start in range(0, len(order), BATCH):
        batch = [items[row] for row in order[start : start + BATCH]]
        chosen = [item if isinstance(item, str) else item.picture() for item in batch]
        features = model.preprocess(chosen, prompt=prompt or None, task=side)
        parts.append(model(batch_to_device(features, model.device), task=side)["sentence_embedding"].float().cpu())
    for stage in free:
        stop_lengths(stage)
    model.train(training)
    back = torch.empty(len(order), dtype=torch.long)
    back[torch.tensor(order)] = torch.arange(len(order))
    return torch.cat(parts)[back]


def _tokens(summary: Any) -> DynamicsRow:
    """The measurements of a layer's tokens, by names that say so."""
    row = {f"token_{name}": value for name, value in summary._asdict().items()}
    return row | {"token_self_gap": row["token_self_semantic"] - row["token_self_functional"]}
