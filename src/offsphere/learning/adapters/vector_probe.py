"""The probe of an adapter's training: vectors of held-out pairs, measured as the adapter maps them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from offsphere.learning.adapters.adapter_module import AdapterModule
from offsphere.learning.data.probe_rows import probe_rows
from offsphere.learning.data.task_sources import VectorSource
from offsphere.learning.data.training_data import TrainingData
from offsphere.learning.objective.objective import Objective
from offsphere.learning.objective.probe_geometry import probe_geometry

PAIRS = 256  # of the probe, and as many documents that are relevant to nothing


@dataclass(frozen=True, slots=True, eq=False)
class VectorProbe:
    """Held-out positive pairs, no query twice, and documents that are relevant to none of them."""

    queries: Tensor  # (pairs, dimension)
    documents: Tensor  # (pairs, dimension)
    others: Tensor  # (documents, dimension); empty for pair tasks

    @classmethod
    def of(cls, data: TrainingData[VectorSource], seed: int = 0, device: torch.device | None = None) -> VectorProbe:
        """A random probe of the held-out data; its others are documents that nothing learned from wants either."""
        held_out = data.held_out
        # documents that are judged by may be among the others, as they always were: published numbers rest on it
        wanted = data.wanted_documents(by_judged=False)
        rows = probe_rows(held_out.task, held_out.positives(), PAIRS, seed, wanted)
        queries, documents = held_out.vectors.sides
        # sorted, since vectors may be read from a file
        sides = (queries[rows.queries], documents[rows.documents], documents[np.sort(rows.others)])
        return cls(*(torch.from_numpy(np.array(side, np.float32)).to(device) for side in sides))

    @torch.no_grad()
    def measure(self, module: AdapterModule, objective: Objective) -> dict[str, float]:
        """The geometry of the probe as the adapter maps it now."""
        queries, documents = module(self.queries, "query")[0], module(self.documents, "document")[0]
        return probe_geometry(queries, documents, module(self.others, "document")[0], objective)
