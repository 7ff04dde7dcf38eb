"""Matrix factorisation ``X ~ X A B^T`` in closed form, under two regularisers (Steck et al. 2024, arXiv:2403.05440)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.base.errors import DataError, OffsphereError, ParameterError, VectorError
from offsphere.factors.factor_files import DESCRIPTION, read_factors, write_factors
from offsphere.factors.interactions import Weighting, interaction_matrix
from offsphere.factors.truncated_svd import truncated_svd
from offsphere.scoring.similarity import COSINE, Similarity

PRODUCT, FACTORS = 1, 2  # what the objective regularises


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Factors:
    """A model ``X A B^T``: users are ``X A``, items are the rows of B.

    Objective 1 penalises the product ``A B^T`` alone, so any invertible change between A and B leaves the model as
    good. Objective 2 penalises ``X A`` and B each, so they are unique up to a rotation.

    Example:
        >>> import numpy as np, offsphere as osp
        >>> osp.factorize(np.array([[2, 1, 0], [1, 2, 0], [0, 0, 4]]), k=2, regularization=0.5)
        Factors(3 items, k = 2, objective 2, lambda = 0.5)
    """

    users_from: Array  # A: (items, k)
    items: Array  # B: (items, k)
    singular_values: Array  # (k,)
    objective: int
    regularization: float
    weighting: Weighting
    empty_users: int
    empty_items: int
    scaling: Array  # (k,) by which A was multiplied, and B divided, after the fit

    def __repr__(self) -> str:
        """How many items and factors there are, and what was penalised by how much."""
        count, k = self.items.shape
        return f"Factors({count:,} items, k = {k}, objective {self.objective}, lambda = {self.regularization:g})"

    @property
    def shrinkage(self) -> Array:
        """What objective 1 leaves of each direction, ``1 / (1 + lambda / s^2)``.

        Returns:
            A number between 0 and 1 for each singular value.

        Example:
            >>> import numpy as np, offsphere as osp
            >>> factors = osp.factorize(np.diag([4.0, 2.0, 1.0]), k=2, regularization=4.0, objective=1)
            >>> factors.shrinkage.round(3).tolist()
            [0.8, 0.5]
        """
        return _shrinkage(self.singular_values, self.regularization)

    @property
    def used(self) -> int:
        """How many of the k directions are not zero.

        Returns:
            A number up to k; a large lambda of objective 2 makes some directions zero.

        Example:
            >>> import numpy as np, offsphere as osp
            >>> osp.factorize(np.diag([4.0, 2.0, 1.0]), k=2, regularization=3.0).used
            1
        """
        return int((np.abs(self.items).max(axis=0) > 0).sum())

    @property
    def unique(self) -> bool:
        """Whether the objective fixes the factors up to a rotation; without any penalty it does not.

        Returns:
            True for objective 2 with a lambda above zero.

        Example:
            >>> import numpy as np, offsphere as osp
            >>> [osp.factorize(np.diag([4.0, 2.0, 1.0]), k=2, objective=objective).unique for objective in (1, 2)]
            [False, True]
        """
        return self.objective == FACTORS and self.regularization > 0

    def users(self, interactions: Any) -> Array:
        """The factors of users, old or new (folding in), from what they have.

        Args:
            interactions: Users x items, sparse or dense; one user may be a row.

        Returns:
            A row a user, (users, k); zero for who has nothing.

        Raises:
            OffsphereError: Interactions with other items, or that are not finite and at least zero.

        Example:
            >>> import numpy as np, offsphere as osp
            >>> factors = osp.factorize(np.diag([4.0, 2.0, 1.0]), k=2, regularization=1.0)
            >>> factors.users([[4.0, 0.0, 0.0], [0.0, 0.0, 9.0]]).round(3).tolist()
            [[1.732, 0.0], [0.0, 0.0]]
        """
        matrix = interaction_matrix(interactions, empty=True)
        if matrix.shape[1] != len(self.users_from):
            raise VectorError(f"interactions with {matrix.shape[1]} items, the factors are of {len(self.users_from)}")
        return self.weighting.apply(matrix, self.users_from)

    def rescale(self, diagonal: Array) -> Factors:
        """Multiply A and divide B by a diagonal: another optimum of objective 1, with other cosines.

        Args:
            diagonal: A number other than zero for each of the k directions.

        Returns:
            Factors ``A D`` and ``B D^-1``, whose scores are the same.

        Raises:
            OffsphereError: Factors that their objective fixes, or a diagonal that is not k finite numbers.

        Example:
            >>> import numpy as np, offsphere as osp
            >>> x = np.array([[2, 1, 0], [1, 2, 1], [0, 1, 4]])
            >>> factors = osp.factorize(x, k=2, objective=1)
            >>> scaled = factors.rescale(np.array([1.0, 5.0]))
            >>> bool(np.allclose(scaled.scores(x), factors.scores(x)))
            True
            >>> [round(float(each.item_similarities()[0, 2]), 2) for each in (factors, scaled)]
            [-0.17, 0.71]
        """
        scale = np.asarray(diagonal, dtype=np.float64)
        if self.unique:
            raise OffsphereError("objective 2 fixes its factors up to a rotation: no rescaling is another optimum")
        if scale.shape != self.singular_values.shape or not (np.isfinite(scale).all() and (scale != 0).all()):
            raise ParameterError(f"the diagonal must be {len(self.singular_values)} finite numbers other than zero")
        scaled = self.scaling * scale
        return replace(self, users_from=self.users_from * scale, items=self.items / scale, scaling=scaled)

    def refit(self, interactions: Any) -> Factors:
        """Fit the same kind of model, with as many factors and the same penalty, to other interactions.

        Args:
            interactions: Users x items, sparse or dense.

        Returns:
            Factors of these interactions.

        Raises:
            OffsphereError: Interactions that are not finite and at least zero, or whose rank is too small.

        Example:
            >>> import numpy as np, offsphere as osp
            >>> factors = osp.factorize(np.diag([4.0, 2.0, 1.0]), k=2, regularization=0.5)
            >>> factors.refit(np.eye(4))
            Factors(4 items, k = 2, objective 2, lambda = 0.5)
        """
        return factorize(
            interactions,
            len(self.singular_values),
            self.regularization,
            objective=self.objective,
            weighting=self.weighting.name,
            power=self.weighting.power,
        )

    def scores(self, interactions: Any) -> Array:
        """What the model says for some users, ``X A B^T``, whatever the rescaling.

        Args:
            interactions: Users x items, sparse or dense.

        Returns:
            A score for each of these users and every item, (users, items).

        Example:
            >>> import numpy as np, offsphere as osp
            >>> x = np.diag([4.0, 2.0, 1.0])
            >>> osp.factorize(x, k=2, regularization=1.0).scores(x).round(3).tolist()
            [[3.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
        """
        return np.asarray(self.users(interactions) @ self.items.T)

    def item_similarities(self, similarity: Similarity = COSINE, rows: Index | None = None) -> Array:
        """The similarity of some items with all items.

        Args:
            similarity: Any formula in a dot product and two lengths.
            rows: Which items; all without it.

        Returns:
            Similarities (rows, items); zero where a formula divides by the length of an item that has none.

        Example:
            >>> import numpy as np, offsphere as osp
            >>> x = np.array([[2, 1, 0], [1, 2, 0], [0, 0, 4]])
            >>> osp.factorize(x, k=2).item_similarities(rows=np.array([0])).round(3).tolist()
            [[1.0, 1.0, 0.0]]
        """
        return similarities(self.items if rows is None else self.items[rows], self.items, similarity)

    def user_similarities(self, interactions: Any, similarity: Similarity = COSINE) -> Array:
        """The similarity of some users with each other.

        Args:
            interactions: What these users have, users x items.
            similarity: Any formula in a dot product and two lengths.

        Returns:
            Similarities (users, users).

        Example:
            >>> import numpy as np, offsphere as osp
            >>> x = np.array([[2, 1, 0], [1, 2, 0], [0, 0, 4]])
            >>> osp.factorize(x, k=2).user_similarities(x)[0].round(3).tolist()
            [1.0, 1.0, 0.0]
        """
        users = self.users(interactions)
        return similarities(users, users, similarity)

    def user_item_similarities(self, interactions: Any, similarity: Similarity = COSINE) -> Array:
        """The similarity of some users with all items.

        Args:
            interactions: What these users have, users x items.
            similarity: Any formula in a dot product and two lengths.

        Returns:
            Similarities (users, items).

        Example:
            >>> import numpy as np, offsphere as osp
            >>> x = np.array([[2, 1, 0], [1, 2, 0], [0, 0, 4]])
            >>> osp.factorize(x, k=2).user_item_similarities(x)[2].round(3).tolist()
            [0.0, 0.0, 1.0]
        """
        return similarities(self.users(interactions), self.items, similarity)

    def in_original_space(self, interactions: Any) -> Array:
        """Items as columns of ``X A B^T``: the remedy that no rescaling touches.

        Args:
            interactions: The users whose scores make the columns, users x items.

        Returns:
            A vector an item, (items, k); their cosines are those of the columns of scores.

        Example:
            >>> import numpy as np, offsphere as osp
            >>> x = np.diag([4.0, 2.0, 1.0])
            >>> items = osp.factorize(x, k=2, regularization=1.0).in_original_space(x)
            >>> np.linalg.norm(items, axis=1).round(3).tolist()
            [3.0, 1.0, 0.0]
        """
        return original_space(self.items, self.users(interactions))

    def users_in_original_space(self, interactions: Any) -> Array:
        """Users as rows of ``X A B^T``.

        Args:
            interactions: What these users have, users x items.

        Returns:
            A vector a user, (users, k); their cosines are those of the rows of scores.

        Example:
            >>> import numpy as np, offsphere as osp
            >>> x = np.diag([4.0, 2.0, 1.0])
            >>> users = osp.factorize(x, k=2, regularization=1.0).users_in_original_space(x)
            >>> np.linalg.norm(users, axis=1).round(3).tolist()
            [3.0, 1.0, 0.0]
        """
        return original_space(self.users(interactions), self.items)

    def config(self) -> dict[str, Any]:
        """What the factors are besides their arrays: objective, lambda, weighting, and how much is empty.

        Returns:
            A dictionary that JSON knows; ``of`` takes it back.

        Example:
            >>> import numpy as np, offsphere as osp
            >>> config = osp.factorize(np.diag([4.0, 2.0, 1.0]), k=2).config()
            >>> config["objective"], config["lambda"], config["weighting"]
            (2, 1.0, 'none')
        """
        return {
            "objective": self.objective,
            "lambda": self.regularization,
            "weighting": self.weighting.name,
            "power": self.weighting.power,
            "empty_users": self.empty_users,
            "empty_items": self.empty_items,
        }

    def arrays(self) -> dict[str, Array]:
        """The arrays by name: both factors, singular values, rescaling, and the weighting of the items.

        Returns:
            A dictionary of arrays; ``of`` takes it back.

        Example:
            >>> import numpy as np, offsphere as osp
            >>> {
            ...     name: array.shape
            ...     for name, array in osp.factorize(2 * np.eye(3), k=2).arrays().items()
            ...     if array.ndim == 2
            ... }
            {'items': (3, 2), 'users_from': (3, 2)}
        """
        return {
            "items": self.items,
            "users_from": self.users_from,
            "singular_values": self.singular_values,
            "scaling": self.scaling,
            "scale": self.weighting.scale,
            "shift": self.weighting.shift,
        }

    @classmethod
    def of(cls, config: Mapping[str, Any], arrays: Mapping[str, Array]) -> Factors:
        """The factors that described themselves by ``config`` and ``arrays``.

        Args:
            config: As ``config()`` gives it.
            arrays: As ``arrays()`` gives them.

        Returns:
            The same factors.

        Example:
            >>> import numpy as np, offsphere as osp
            >>> factors = osp.factorize(np.diag([4.0, 2.0, 1.0]), k=2)
            >>> osp.Factors.of(factors.config(), factors.arrays())
            Factors(3 items, k = 2, objective 2, lambda = 1)
        """
        return cls(
            users_from=arrays["users_from"],
            items=arrays["items"],
            singular_values=arrays["singular_values"],
            objective=config["objective"],
            regularization=config["lambda"],
            weighting=Weighting(arrays["scale"], arrays["shift"], config["weighting"], config["power"]),
            empty_users=config["empty_users"],
            empty_items=config["empty_items"],
            scaling=arrays["scaling"],
        )

    def save(self, folder: str | Path) -> None:
        """Write the factors into a folder, as JSON and .npy.

        Args:
            folder: Made where it does not exist; factors in it are replaced.

        Raises:
            OffsphereError: A folder that cannot be written.

        Example:
            >>> import tempfile, numpy as np, offsphere as osp
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     osp.factorize(np.diag([4.0, 2.0, 1.0]), k=2).save(folder)
            ...     osp.Factors.load(folder)
            Factors(3 items, k = 2, objective 2, lambda = 1)
        """
        write_factors(Path(folder), self.config(), self.arrays())

    @classmethod
    def load(cls, folder: str | Path) -> Factors:
        """Read factors that were saved; nothing in the folder is executed.

        Args:
            folder: As ``save`` wrote it.

        Returns:
            The same factors.

        Raises:
            DataError: A file that is missing, cut short, or not of these factors.

        Example:
            >>> import offsphere as osp
            >>> osp.Factors.load("nowhere")
            Traceback (most recent call last):
            offsphere.base.errors.DataError: no factors in nowhere: factors.json is missing
        """
        config, arrays = read_factors(Path(folder))
        if config["objective"] not in (PRODUCT, FACTORS):
            path = Path(folder) / DESCRIPTION
            raise DataError(f"{path}: objective {config['objective']!r} is neither 1 nor 2: fit the factors again")
        return cls.of(config, arrays)


def factorize(
    interactions: Any,
    k: int = 64,
    regularization: float = 1.0,
    *,
    objective: int = FACTORS,
    weighting: str = "none",
    power: float = 0.5,
    seed: int = 0,
) -> Factors:
    """The best factors of rank k under one of two objectives, in closed form.

    With the first k singular values s and right vectors V of X, objective 1, ``|X - X A B^T|^2 + lambda |A B^T|^2``,
    has ``A = B = V diag(1 / (1 + lambda / s^2))^(1/2)``; objective 2, ``|X - X A B^T|^2 + lambda (|X A|^2 + |B|^2)``,
    has ``A = V diag((1 - lambda/s)_+ / s)^(1/2)`` and ``B = V diag(s (1 - lambda/s)_+)^(1/2)``.

    The matrix stays sparse, unless there are more items than users and all singular values are wanted: then the answer
    is as large as the dense matrix. A user or an item without interactions is kept, as zero.

    Args:
        interactions: Users x items, sparse or dense, finite and at least zero.
        k: How many factors.
        regularization: lambda, the weight of the penalty.
        objective: 1 penalises the product of the factors, 2 each of them.
        weighting: What is done to each item before: ``none``, ``standardize``, or ``popularity`` (divide by a power of
            its popularity).
        power: Of the popularity.
        seed: Of the solver's first vector; it changes nothing but rounding.

    Returns:
        The factors of users and items.

    Raises:
        OffsphereError: Interactions that are not finite and at least zero, a rank that they do not have, or a lambda
            that leaves nothing.

    Example:
        >>> import numpy as np, offsphere as osp
        >>> factors = osp.factorize(np.diag([4.0, 2.0, 1.0]), k=2, regularization=1.0)
        >>> factors.singular_values.round(3).tolist()
        [4.0, 2.0]
        >>> factors.items.round(3).tolist()
        [[1.732, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """
    matrix = interaction_matrix(interactions)
    if isinstance(k, bool) or not isinstance(k, int | np.integer):
        raise ParameterError(f"k = {k!r}: how many factors is a whole number")
    if objective not in (PRODUCT, FACTORS):
        raise ParameterError(f"objective = {objective}: 1 penalises the product, 2 each factor")
    if not (np.isfinite(regularization) and regularization >= 0):
        raise ParameterError(f"lambda = {regularization} is not a finite number of at least 0")
    weights = Weighting.of(matrix, weighting, power)
    values, vectors = truncated_svd(matrix, weights, k, seed)
    if objective == PRODUCT:
        root = np.sqrt(_shrinkage(values, regularization))
        a, b = vectors * root, vectors * root
    else:
        left = np.maximum(1 - regularization / values, 0)
        if not left.any():
            raise ParameterError(
                f"lambda = {regularization:g} makes every factor zero: the largest useful lambda is {values[0]:.6g}, "
                "the first singular value"
            )
        a, b = vectors * np.sqrt(left / values), vectors * np.sqrt(left * values)
    empty_users = int((np.diff(matrix.indptr) == 0).sum())
    empty_items = int((np.bincount(matrix.indices, minlength=matrix.shape[1]) == 0).sum())
    return Factors(
        users_from=a,
        items=b,
        singular_values=values,
        objective=objective,
        regularization=float(regularization),
        weighting=weights,
        empty_users=empty_users,
        empty_items=empty_items,
        scaling=np.ones(k),
    )


def _shrinkage(values: Array, regularization: float) -> Array:
    """What objective 1 leaves of each singular value."""
    return np.asarray(1 / (1 + regularization / values**2))


def similarities(left: Array, right: Array, similarity: Similarity) -> Array:
    """All similarities of two sets of vectors; zero where one has no length and the formula divides by it."""
    left_lengths, right_lengths = np.linalg.norm(left, axis=1)[:, None], np.linalg.norm(right, axis=1)[None, :]
    values = similarity(left @ right.T, left_lengths, right_lengths)
    return np.where(np.isfinite(values), values, 0.0)


def original_space(items: Array, users: Array) -> Array:
    """Item factors of any dot-product model as the columns of all its scores, in k dimensions.

    With ``users = Q R`` the inner products of the rows of ``items @ R^T`` are exactly those of the columns of ``users @
    items^T``, which is never formed. No invertible change between the two sides changes them. Exchange the arguments
    for users as rows of scores.

    Args:
        items: Item factors, (items, k).
        users: User factors, (users, k).

    Returns:
        A vector an item, (items, k).

    Raises:
        VectorError: Factors that are no matrices, or of different k.

    Example:
        >>> import numpy as np, offsphere as osp
        >>> users, items = np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([[3.0, 0.0], [0.0, 1.0]])
        >>> change = np.array([[2.0, 1.0], [0.0, 5.0]])  # no score changes, but items look otherwise
        >>> for vectors in (items, items @ np.linalg.inv(change).T):
        ...     given = users if vectors is items else users @ change
        ...     rows = osp.original_space(vectors, given)
        ...     print((rows @ rows.T).round(6).tolist())
        [[18.0, 6.0], [6.0, 4.0]]
        [[18.0, 6.0], [6.0, 4.0]]
    """
    if items.ndim != 2 or users.ndim != 2 or items.shape[1] != users.shape[1]:  # noqa: PLR2004
        raise VectorError(f"item factors are {items.shape}, user factors {users.shape}: the last numbers must be equal")
    triangle = np.asarray(np.linalg.qr(np.asarray(users, np.float64), mode="r"))
    return np.asarray(np.asarray(items, np.float64) @ triangle.T)
