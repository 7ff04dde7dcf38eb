"""Layers of one to four models over the same texts: what they look like, and what fine-tuning changed in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from offsphere.base.errors import OffsphereError
from offsphere.base.plain import plain
from offsphere.base.progress import Progress
from offsphere.base.short_repr import short_repr
from offsphere.data.items import ItemSide, SideTexts
from offsphere.data.task import Task
from offsphere.encode.embedding import side_items
from offsphere.encode.runtime import USUAL, Runtime
from offsphere.encode.sources import load_encoder
from offsphere.encode.token_layers import transformer_of
from offsphere.geometry.change import SelfSimilarityChange, correlate_changes, self_similarity_change
from offsphere.geometry.frequent_tokens import AT_LEAST
from offsphere.geometry.layers import Layers, measure_layers
from offsphere.geometry.sample import random_keys, smallest
from offsphere.statistics.correlation import Correlation

AT_MOST = 2_000  # texts, beyond which they are drawn at random


@dataclass(frozen=True, slots=True, eq=False)
class LayerStudy:
    """The layers of a model, what changed since the model it was made from, and whether another pair changed alike."""

    side: ItemSide
    layers: Layers
    changes: Sequence[SelfSimilarityChange]
    agreement: Correlation | None

    __repr__ = short_repr

    @classmethod
    def of(cls, side: ItemSide, models: Sequence[Layers]) -> LayerStudy:
        """Study a model's layers; behind them may stand those of its base, of another model and of that one's base."""
        changes = [self_similarity_change(*models[start : start + 2]) for start in range(0, len(models) - 1, 2)]
        agreement = correlate_changes(*changes) if len(changes) == 2 else None  # noqa: PLR2004
        return cls(side, models[0], changes, agreement)

    def to_json(self) -> dict[str, Any]:
        """The layers, the changes and their agreement as plain values for machines."""
        return {
            "layers": {"sentence": self.layers.sentence, "side": self.side, **plain(self.layers)},
            "changes": [{"sentence": change.sentence, **plain(change)} for change in self.changes],
            "agreement": plain(self.agreement),
        }


def texts_to_read(task: Task, side: str | None = None, at_most: int = AT_MOST, seed: int = 0) -> SideTexts:
    """The texts of the side that was asked for, or of the one that is searched; some of them where there are many."""
    sides = {items.side: items for items in side_items(task)}
    name = side or ("left" if "left" in sides else "document")
    chosen = next((items for items in sides.values() if items.side == name), None)
    if chosen is None:
        raise OffsphereError(f"{task.name} has no side {name!r}: it has {' and '.join(sides)}")
    rows = smallest(random_keys(np.arange(len(chosen.items)), seed), at_most)
    return SideTexts(chosen.side, [chosen.items[row] for row in rows.tolist()])


def layers_of_model(
    model: str,
    read: SideTexts,
    *,
    at_least: int = AT_LEAST,
    seed: int = 0,
    progress: Progress | None = None,
    runtime: Runtime = USUAL,
) -> Layers:
    """Load a transformer by its name and measure its layers over some texts."""
    encoder = load_encoder(model, keep_normalize=True, runtime=runtime)  # the layers come before any such stage
    transformer_of(encoder, read.side)
    return measure_layers(encoder, read.texts, read.side, at_least=at_least, seed=seed, progress=progress)
