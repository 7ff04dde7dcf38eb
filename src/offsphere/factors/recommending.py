"""Factors judged as recommenders: users ask, items are ranked, held-out interactions are relevant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.stats import spearmanr

from offsphere.base.arrays import Flags, Index
from offsphere.base.plain import plain
from offsphere.base.short_repr import short_repr
from offsphere.comparison.breakdown import judge_groups
from offsphere.comparison.compare_scorers import compare
from offsphere.comparison.table import Comparison
from offsphere.data.family import RECOMMENDATION
from offsphere.data.holding_out import SHARE, take_share
from offsphere.data.judgments import Judgments
from offsphere.data.linked_task import LinkedTask
from offsphere.data.task_vectors import RankingVectors
from offsphere.factors.closed_form import Factors
from offsphere.factors.interactions import interaction_matrix
from offsphere.learning.adapters.adapt_vectors import adapt
from offsphere.scoring.adapter import Adapter
from offsphere.scoring.scorer import Scorer
from offsphere.statistics.significance import ALPHA
from offsphere.wording.written_numbers import certainty, chance, with_interval

SCORERS = ("dot", "half")
THIRDS = ("few", "some", "many")


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutInteractions:
    """Interactions to learn from, and a task of those that were taken from some users.

    Args:
        train: The interactions that are left, users by items.
        task: The users as queries, the items as documents, what was taken from a user as relevant to him.
        users: The row of each of the task's users.
    """

    train: sparse.csr_array
    task: LinkedTask
    users: Index  # the row of each of the task's users

    __repr__ = short_repr

    def vectors(self, factors: Factors) -> RankingVectors:
        """Give the users and items of a model as the vectors of the task.

        Args:
            factors: A model that was fitted on ``train``.

        Returns:
            The vectors of users and items, in the order of the task.
        """
        users = factors.users(self.train[self.users]).astype(np.float32)
        return RankingVectors.of(self.task, users, factors.items.astype(np.float32))


class Group(NamedTuple):
    """A group of users, and what the length of item vectors is worth to them."""

    name: str
    users: int
    cosine: float
    dot: float
    difference: float  # dot less cosine
    low: float
    high: float
    p: float  # corrected for all groups


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Recommendations:
    """What scorers are worth on held-out interactions, and for whom length (popularity, mostly) helps."""

    table: Comparison
    groups: Sequence[Group]
    length_and_popularity: float  # rank correlation over items

    @property
    def sentences(self) -> list[str]:
        """The conclusion, whether length is popularity, and for whom it helps."""
        follows = f"with a rank correlation of {self.length_and_popularity:+.2f}"
        sentences = [self.table.conclusion, f"The length of an item's vector follows its popularity {follows}."]
        for group in self.groups:
            effect = "helps" if group.difference > 0 else "hurts"
            who = f"{group.name} ({group.users:,} users)"
            sure = f"Length {effect} {who}, {certainty(group.p)}"
            told = sure if group.p < ALPHA else f"Whether length helps {who} cannot be told"
            around = f"{with_interval(group.difference, group.low, group.high)}, {chance(group.p)}"
            sentences.append(f"{told}: dot less cosine {around}.")
        return sentences

    def to_json(self) -> dict[str, Any]:
        """Give everything as plain values, for JSON."""
        return {
            "comparison": self.table.to_json(),
            "groups": plain(list(self.groups)),
            "length_and_popularity": self.length_and_popularity,
            "sentences": self.sentences,
        }


def hold_out(interactions: Any, share: float = SHARE, seed: int = 0, most_users: int = 5_000) -> HeldOutInteractions:
    """Take a share of their interactions from users who have at least five, to judge by.

    Args:
        interactions: Users by items, a matrix or a sparse matrix.
        share: The share of a user's interactions that is taken.
        seed: Of the choice.
        most_users: From how many users something is taken at most.

    Returns:
        The interactions that are left to learn from, and the task of those that were taken.

    Raises:
        ParameterError: If the share is not between 0 and 1, or there is no user to ask.
        DataError: If no user has enough interactions.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> interactions = (np.random.default_rng(0).random((30, 12)) < 0.5).astype(float)
        >>> held = osp.hold_out(interactions)
        >>> int(interactions.sum()), held.train.nnz, held.task.units
        (162, 139, 22)
    """
    matrix = interaction_matrix(interactions)
    counts = np.diff(matrix.indptr).astype(np.int64)
    held = take_share(counts, share, seed, most_users)
    rows = np.repeat(np.arange(matrix.shape[0]), counts)
    kept = ~held.taken
    train = sparse.csr_array((matrix.data[kept], (rows[kept], matrix.indices[kept])), shape=matrix.shape)
    known, wanted = (
        Judgments.of(rows[flags], matrix.indices[flags].astype(np.int64), matrix.data[flags], *matrix.shape)
        for flags in (kept, held.taken)
    )
    wanted = replace(wanted, grades=np.ones_like(wanted.grades))
    users, items = (
        [f"{side} {row}" for row in range(count)] for side, count in zip(("user", "item"), matrix.shape, strict=True)
    )
    task = LinkedTask.of_links("interactions", users, items, known, wanted, RECOMMENDATION)
    return HeldOutInteractions(train, task, held.sources)


def recommend(
    factors: Factors,
    held: HeldOutInteractions,
    scorers: Sequence[Scorer | str] = SCORERS,
    *,
    metric: str = "ndcg@10",
    seed: int = 0,
) -> Recommendations:
    """Compare scorers on held-out interactions; what a user has already is never recommended.

    Args:
        factors: A model that was fitted on ``held.train``.
        held: Interactions that were held out.
        scorers: What to compare with cosine, by name or as scorers; the dot product is always compared.
        metric: By which they are compared.
        seed: Of the resampling.

    Returns:
        The comparison, what length is worth to groups of users, and how it follows popularity.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> interactions = (np.random.default_rng(0).random((60, 12)) < 0.5).astype(float)
        >>> held = osp.hold_out(interactions)
        >>> judged = osp.recommend(osp.factorize(held.train, 4), held)
        >>> sorted(row.name for row in judged.table.rows)
        ['cosine', 'dot', 'half']
    """
    named = [scorer if isinstance(scorer, str) else scorer.name for scorer in scorers]
    asked = scorers if "dot" in named else ["dot", *scorers]  # the groups are about it
    table = compare(held.task, held.vectors(factors), asked, metric=metric, seed=seed)
    popularity = np.bincount(held.train.indices, minlength=len(factors.items))
    lengths = np.linalg.norm(factors.items, axis=1)
    correlation = float(spearmanr(lengths, popularity).statistic) if np.ptp(lengths) and np.ptp(popularity) else 0.0
    return Recommendations(table, _groups(held, table, popularity, seed), correlation)


class CosineFactors(NamedTuple):
    """Factors, and an adapter for them that was trained with cosine."""

    factors: Factors
    adapter: Adapter


def train_with_cosine(
    interactions: Any, factors: Factors, *, most_users: int = 5_000, seed: int = 0, **options: Any
) -> CosineFactors:
    """Train an adapter with the cosine one wants to use, as a remedy where the cosine of factors is an accident.

    The factors are fitted again without some interactions of some users, so that these can be learned from and judged
    by: users are made of most of their interactions, the others are relevant, and no item they have is a negative.

    Args:
        interactions: Users by items, a matrix or a sparse matrix.
        factors: A model of them.
        most_users: From how many users interactions are taken at most.
        seed: Of what is taken and of the training.
        options: Further options of ``adapt``.

    Returns:
        The factors that were fitted again, and the adapter, which belongs to them.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> interactions = (np.random.default_rng(0).random((60, 12)) < 0.5).astype(float)
        >>> remedy = osp.train_with_cosine(interactions, osp.factorize(interactions, 4), epochs=2)
        >>> remedy.adapter.scorer.name, remedy.factors.items.shape
        ('adapter(untied) + cosine', (12, 4))
    """
    held_out = hold_out(interactions, seed=seed, most_users=most_users)
    again = factors.refit(held_out.train)
    return CosineFactors(again, adapt(held_out.task, held_out.vectors(again), normalize="both", seed=seed, **options))


def _groups(held_out: HeldOutInteractions, table: Comparison, popularity: Index, seed: int) -> list[Group]:
    """Users by how many items they have, and by how popular what they want is: thirds, equal users together."""
    cosine, dot = table["cosine"].values, table["dot"].values
    if cosine is None or dot is None:
        return []
    judgments = held_out.task.judgments
    activity = np.diff(held_out.train.indptr)[held_out.users].astype(np.float64)
    popularity_wanted = np.bincount(judgments.queries, popularity[judgments.documents], len(held_out.users))
    taste = popularity_wanted / np.maximum(judgments.relevant, 1)
    parts: list[tuple[str, Flags]] = []
    for label, values in (("users with {} items", activity), ("users who want what {} others have", taste)):
        third = np.searchsorted(np.quantile(values, (1 / 3, 2 / 3)), values)
        if len(np.unique(third)) == len(THIRDS):
            parts += [(label.format(name), third == number) for number, name in enumerate(THIRDS)]
    if not parts:
        return []
    gained = np.stack([np.where(chosen, dot - cosine, np.nan) for _, chosen in parts], axis=1)
    return [
        Group(name, int(chosen.sum()), float(cosine[chosen].mean()), float(dot[chosen].mean()), *judged)
        for (name, chosen), judged in zip(parts, judge_groups(gained, seed), strict=True)
    ]
