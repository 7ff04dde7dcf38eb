"""What workers do to measure: one shard of the vectors after the other, wherever these lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from offsphere.data.located_side import LocatedFile, LocatedSide
from offsphere.runners.gathering import ShardPiece
from offsphere.shards.measure_state import MeasureState, VectorFacts, measure_origin, measure_shard, shard_rows


@dataclass(frozen=True, slots=True)
class MeasureJob:
    """Vectors to be measured: those of a file, or of the documents of a task in its order."""

    facts: VectorFacts
    located: LocatedFile | LocatedSide
    seed: int

    def prepare(self) -> Callable[[ShardPiece], MeasureState | None]:
        """Open the vectors, once for all shards."""
        opened, facts, seed = self.located.opened(), self.facts, self.seed

        def work(piece: ShardPiece) -> MeasureState | None:
            mine = opened.rows(shard_rows(facts, piece.shard))
            if piece.is_kept(lambda: measure_origin(facts, piece.shard, mine, seed)):
                return None
            return measure_shard(facts, piece.shard, mine, seed)

        return work
