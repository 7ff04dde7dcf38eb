"""Learning dynamics of an encoder: a probe of texts, measured every few steps, by a callback of the trainer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from sentence_transformers.util import batch_to_device
from torch import Tensor
from transformers import TrainerCallback

from offsphere.base.errors import OffsphereError
from offsphere.base.files import write_whole
from offsphere.data.task import Task
from offsphere.encode.sentence import SentenceEncoder
from offsphere.encode.stages import output_stages
from offsphere.geometry.layers import layer_summaries
from offsphere.learn.data.probe_rows import probe_rows
from offsphere.learn.data.task_sources import TextSource
from offsphere.learn.encoders.contrastive import ContrastiveLoss
from offsphere.learn.objective.probe_geometry import probe_geometry
from offsphere.scoring.record import parquet_of

PAIRS = 64  # of the probe, and as many documents that are relevant to nothing
BATCH = 32

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class TextProbe:
    """Held-out positive pairs, no query twice, and documents that are relevant to none."""

    queries: Sequence[str]
    documents: Sequence[str]
    others: Sequence[str]

    @classmethod
    def of(cls, task: Task, seed: int = 0, pairs: int = PAIRS) -> TextProbe:
        """A random probe of a task, the same for the same seed."""
        left, right = TextSource(task).sides
        rows = probe_rows(task, task.positives(), pairs, seed)
        return cls(
            [left[row] for row in rows.queries.tolist()],
            [right[row] for row in rows.documents.tolist()],
            [right[row] for row in rows.others.tolist()],
        )

    def measure(self, model: Any, loss: ContrastiveLoss, *, layers: bool = False) -> list[Row]:
        """One row of sentences and of the last layer's tokens; with ``layers``, a row for every layer after it."""
        queries, documents = raw_vectors(model, self.queries, "query"), raw_vectors(model, self.documents, "document")
        others = raw_vectors(model, self.others, "document") if self.others else documents[:0]
        row: Row = {**probe_geometry(queries, documents, others, loss.current), "layer": None}
        training = model.training
        try:
            encoder = SentenceEncoder("model", "model", keep_normalize=True, model=model)
            summaries = layer_summaries(encoder, list(self.documents), "document")
        except OffsphereError:  # a static model has no layers
            return [row]
        finally:
            model.train(training)
        rows = [{**row, **_tokens(summaries[-1])}]
        if layers:
            rows += [{"layer": number, **_tokens(summary)} for number, summary in enumerate(summaries)]
        return rows


class Dynamics(TrainerCallback):
    """Measures a probe at the start, every ``every`` steps, and at the end.

    Rows are in ``rows``, and in ``dynamics.parquet`` where a folder is given. ``seen`` is called with every row.
    """

    def __init__(
        self,
        probe: TextProbe,
        loss: ContrastiveLoss,
        every: int = 50,
        *,
        layers: bool = False,
        folder: str | Path | None = None,
        seen: Callable[[Row], None] | None = None,
    ) -> None:
        self.probe, self.loss, self.every, self.layers = probe, loss, every, layers
        self.folder, self.seen = Path(folder) if folder is not None else None, seen
        self.rows: list[Row] = []

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:  # noqa: ARG002
        """Before the first step; rows of steps that will be gone over again are dropped."""
        self.rows = [row for row in self.rows if row["step"] <= state.global_step]
        if not self.rows:
            self.look(given["model"], 0)

    def on_step_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:  # noqa: ARG002
        """Every few steps."""
        if self.every and state.global_step % self.every == 0:
            self.look(given["model"], state.global_step)

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:  # noqa: ARG002
        """After the last one."""
        if self.rows and self.rows[-1]["step"] < state.global_step:
            self.look(given["model"], state.global_step)

    def look(self, model: Any, step: int) -> None:
        """Measure now."""
        if len(self.probe.queries) < 2:  # noqa: PLR2004
            return
        found = [{"step": step, **row} for row in self.probe.measure(model, self.loss, layers=self.layers)]
        self.rows += found
        if self.folder is not None:
            write_whole(self.folder / "dynamics.parquet", parquet_of(self.rows))
        if self.seen is not None:
            self.seen(found[0])


@torch.no_grad()
def raw_vectors(model: Any, texts: Sequence[str], side: str) -> Tensor:
    """Vectors before the last stages take length away, without dropout."""
    training = model.training
    model.eval()
    stages = [stage for _, stage in output_stages(model)]
    for stage in stages:
        stage.train()  # where it is joined to a loss it lets vectors pass then
    prompt = SentenceEncoder.prompt_of(model, side)
    order = sorted(range(len(texts)), key=lambda row: -len(texts[row]))
    parts = []
    for start in range(0, len(order), BATCH):
        chosen = [texts[row] for row in order[start : start + BATCH]]
        features = model.preprocess(chosen, prompt=prompt or None, task=side)
        parts.append(model(batch_to_device(features, model.device), task=side)["sentence_embedding"].float().cpu())
    model.train(training)
    back = torch.empty(len(order), dtype=torch.long)
    back[torch.tensor(order)] = torch.arange(len(order))
    return torch.cat(parts)[back]


def _tokens(summary: Any) -> Row:
    return {f"token_{name}": value for name, value in summary._asdict().items()}
