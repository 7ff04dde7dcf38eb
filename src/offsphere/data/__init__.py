"""Tasks (queries, documents and judgments, or pairs with gold scores), their vectors, and a loader for each format."""

from offsphere.data.load import load_task
from offsphere.data.pair_task import PairTask
from offsphere.data.ranking_task import RankingTask
from offsphere.data.task_vectors import PairVectors, RankingVectors, load_vectors

__all__ = ["PairTask", "PairVectors", "RankingTask", "RankingVectors", "load_task", "load_vectors"]
