"""Tasks: queries, documents and judgments, or pairs with gold scores, and one loader a format."""

from offsphere.tasks.load import load_task
from offsphere.tasks.pairs import PairTask
from offsphere.tasks.ranking import RankingTask
from offsphere.tasks.vectors import PairVectors, RankingVectors, load_vectors

__all__ = ["PairTask", "PairVectors", "RankingTask", "RankingVectors", "load_task", "load_vectors"]
