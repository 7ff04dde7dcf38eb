"""The strategy that a race chose, kept beside the export: a killed export goes on with it, whoever would win now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, cast

from offsphere.base.digests import digest_of_texts
from offsphere.base.reading.file_access import is_there
from offsphere.base.reading.records import record_of
from offsphere.base.reading.sealed_json import read_sealed, write_sealed
from offsphere.engines.collection import IndexKind, NumberForm
from offsphere.engines.metric import Metric
from offsphere.engines.shipping.corpus import Corpus
from offsphere.engines.shipping.serving import Serving
from offsphere.engines.shipping.strategy import ExportWishes, Strategy
from offsphere.scoring.scorer import Scorer

STRATEGY = "strategy.json"


class StrategyRecord(NamedTuple):
    """A strategy as plain values, and a digest of what it was chosen for."""

    question: str
    metric: str
    lowered: bool
    radius: float | None
    kind: str
    effort: int | None
    stored: str
    edges: Sequence[float]


@dataclass(frozen=True, slots=True)
class KeptStrategy:
    """Where a strategy is kept, and for which question; nowhere without a folder."""

    path: Path | None
    question: str

    @classmethod
    def of(cls, folder: Path | None, scorer: Scorer, corpus: Corpus, asked: ExportWishes, target: str) -> KeptStrategy:
        """The strategy of one export."""
        parts = [scorer.key, repr(asked), target, str(corpus.vectors.shape), digest_of_texts(corpus.ids)]
        return cls(folder / STRATEGY if folder is not None else None, digest_of_texts(parts))

    def read(self, scorer: Scorer) -> Strategy | None:
        """The strategy that was chosen before for the same question; nothing where there is none."""
        if self.path is None or not is_there(self.path):
            return None
        record = record_of(StrategyRecord, read_sealed(self.path), str(self.path))
        if record.question != self.question:
            return None
        serving = Serving(scorer=scorer, metric=Metric(record.metric), lowered=record.lowered, radius=record.radius)
        return Strategy(
            serving=serving,
            index=cast("IndexKind", record.kind),
            effort=record.effort,
            stored=cast("NumberForm", record.stored),
            edges=tuple(record.edges),
        )

    def write(self, strategy: Strategy) -> None:
        """Keep what was chosen."""
        if self.path is None:
            return
        serving = strategy.serving
        record = StrategyRecord(
            question=self.question,
            metric=str(serving.metric),
            lowered=serving.lowered,
            radius=serving.radius,
            kind=strategy.index,
            effort=strategy.effort,
            stored=strategy.stored,
            edges=list(strategy.edges),
        )
        write_sealed(self.path, record._asdict(), {})
