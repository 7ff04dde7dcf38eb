"""A scorer: transforms, then a similarity, plus an optional document bias. What one measures is what one deploys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Arrays, Rows, Vectors
from offsphere.base.cores import one_blas_thread
from offsphere.base.errors import DataError, OffsphereError, VectorError
from offsphere.scoring.bias_files import bias_arrays, bias_config, bias_of
from offsphere.scoring.document_bias import DocumentBias
from offsphere.scoring.lowering import Lowering
from offsphere.scoring.query_standardization import QueryStandardization
from offsphere.scoring.saved_maps import saved_maps
from offsphere.scoring.scorer_files import (
    read_scorer_files,
    with_prefix,
    without_prefix,
    write_scorer_files,
)
from offsphere.scoring.similarity import COSINE, FAMILIES, Similarity
from offsphere.scoring.transforms import (
    TRANSFORMS,
    AffineMap,
    FittedMap,
    Side,
    Transform,
    fit_chain,
    join_maps,
    parts_of,
)
from offsphere.scoring.value_key import value_key
from offsphere.vectors.as_vectors import as_vectors
from offsphere.vectors.block_fits import corpus_moments
from offsphere.vectors.blocks import Blocks, Documents
from offsphere.vectors.lengths import lengths
from offsphere.vectors.moments import Moments


class Upkeep(NamedTuple):
    """What a scorer costs whoever serves it.

    A bias is made for each document alone, from a bank of queries: a new or changed document is scored against the
    bank before it is indexed, and all are scored again when the bank is made anew.
    """

    dimensions: int  # that vectors get on top of the model's
    per_document: bool  # whether a new or changed document must be scored before it can be served
    bank: int  # queries that it is scored against; none where no bank is kept, and the scorer must be made again
    corpus_wide: bool  # whether the scorer must be made again, for all documents, when the corpus changes


@dataclass(frozen=True, eq=False)
class Scorer:
    """Transforms, a similarity, and an optional bias. ``fit`` it on documents where it has transforms.

    Args:
        similarity: the formula by which the transformed vectors are compared.
        transforms: what is done with the vectors before, in this order.
        bias: a number for each document that is added to its similarity; ``offsphere.nnn`` and ``offsphere.csls`` make
            one.
        map: the fitted transforms, as one; ``fit`` sets it.
        standardization: makes scores of different queries comparable; ``offsphere.standardize_queries`` sets it.

    Raises:
        OffsphereError: where the similarity is not linear in the inner product and there is a bias or a
            standardisation.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> documents = np.random.default_rng(0).normal(1, 1, (100, 4)).astype(np.float32)
        >>> scorer = osp.Scorer(osp.Polar(1, 0.75), (osp.Whiten(0.5),)).fit(documents)
        >>> scorer.name
        'whiten(0.5) + polar(1, 0.75)'
        >>> scorer.transform(documents).shape
        (100, 4)
    """

    similarity: Similarity = COSINE
    transforms: tuple[Transform, ...] = ()
    bias: DocumentBias | None = None
    map: FittedMap | None = None  # the fitted transforms, as one
    standardization: QueryStandardization | None = None  # makes scores of different queries comparable

    def __post_init__(self) -> None:
        """Refuse a bias or a standardisation of a value that is not linear in the inner product."""
        if (self.bias is not None or self.standardization is not None) and not self.similarity.linear:
            raise OffsphereError(
                f"{self.similarity.name} takes neither a document bias nor a query standardisation, since it is not "
                "linear in the inner product: use polar (cosine, dot, ...), norm-mix or radial-confidence"
            )

    def __str__(self) -> str:
        """The name of the scorer, as tables print it."""
        return self.name

    def __repr__(self) -> str:
        """The name, not the numbers."""
        return f"Scorer({self.name})"

    @property
    def name(self) -> str:
        """Transforms, similarity, bias and calibration, joined by plus signs."""
        parts = [*(transform.name for transform in self.transforms), self.similarity.name]
        parts += [self.bias.name] if self.bias is not None else []
        parts += ["z-score"] if self.standardization is not None else []
        return " + ".join(parts)

    @property
    def phrase(self) -> str:
        """What it does, as an instruction in plain words, for somebody who has never seen its name.

        Example:
            >>> import offsphere as osp
            >>> osp.parse_scorer("whiten(0.5) + euclidean").phrase
            'whiten at half strength, then take the distance between the points'
        """
        steps = [part.phrase for part in (*self.transforms, self.similarity)]
        phrase = ", then ".join([", ".join(steps[:-1]), steps[-1]] if self.transforms else steps)
        against_hubs = ", and hold back what is near to queries of any kind" if self.bias is not None else ""
        return phrase + against_hubs + (", on one scale for all queries" if self.standardization is not None else "")

    @cached_property
    def key(self) -> str:
        """A key that is equal for equal scorers, fitted content included, in every process and after a file."""
        parts = (self.map if self.transforms else None, self.bias, self.standardization)
        return value_key(
            [
                self.similarity.key,
                [transform.key for transform in self.transforms],
                [part.key if part is not None else None for part in parts],
            ]
        )

    @property
    def map_key(self) -> str:
        """A key that is equal for scorers whose transforms do the same with vectors; empty without transforms."""
        return self._fitted.key if self.transforms else ""

    @property
    def upkeep(self) -> Upkeep:
        """What it takes to serve the scorer, beyond an inner product of the vectors as they are.

        Example:
            >>> import numpy as np
            >>> import offsphere as osp
            >>> osp.Scorer().upkeep
            Upkeep(dimensions=0, per_document=False, bank=0, corpus_wide=False)
            >>> vectors = np.eye(3, dtype=np.float32)
            >>> osp.csls(osp.Scorer(), vectors, vectors, ids=["a", "b", "c"]).upkeep
            Upkeep(dimensions=1, per_document=True, bank=3, corpus_wide=False)
        """
        biased, standardised = self.bias is not None, self.standardization is not None
        return Upkeep(
            dimensions=int(self.similarity.has_offset or biased) + int(standardised),
            per_document=biased,
            bank=len(self.bias.bank.queries) if self.bias is not None and self.bias.bank is not None else 0,
            corpus_wide=standardised or (self.bias is not None and self.bias.ids is None),
        )

    @property
    def is_plain(self) -> bool:
        """Whether it is transforms and a similarity alone, without what is made from queries or corpus."""
        return self.bias is None and self.standardization is None

    @property
    def needs_fit(self) -> bool:
        """Whether it has transforms that were not fitted yet."""
        return bool(self.transforms) and self.map is None

    def fit(self, documents: Moments | Documents | Blocks) -> Scorer:
        """Fit the transforms on documents, to the same bits that ``compare`` measures.

        Args:
            documents: their vectors, a row each, read a block at a time; or their ``Moments``, where they were summed
                elsewhere.

        Returns:
            The same scorer, ready to score.

        Example:
            >>> import numpy as np
            >>> import offsphere as osp
            >>> documents = np.array([[1.0, 2.0], [3.0, 6.0]], np.float32)
            >>> scorer = osp.parse_scorer("center + dot").fit(documents)
            >>> scorer.transform(documents).tolist()
            [[-1.0, -2.0], [1.0, 2.0]]
        """
        moments = documents if isinstance(documents, Moments) else corpus_moments(documents)
        with one_blas_thread():  # with several, an eigenvector may round another way
            return replace(self, map=fit_chain(self.transforms, moments))

    def transform(self, vectors: Vectors, side: Side = "document") -> Rows:
        """Apply the fitted transforms to the vectors of a side.

        Args:
            vectors: vectors of the model on whose documents it was fitted, a row each.
            side: ``query`` or ``document``; only learned transforms treat them differently.

        Returns:
            The transformed vectors in float32, a row each.

        Raises:
            VectorError: where the vectors are no rows, or of another dimension.
            OffsphereError: where there are transforms that were never fitted.
        """
        vectors = as_vectors(vectors)
        if vectors.ndim != 2:  # noqa: PLR2004
            raise VectorError(f"vectors of shape {vectors.shape}: give rows, for one vector x write x[None]")
        if not self.transforms:
            with np.errstate(over="ignore"):  # who scores the vectors refuses what is not finite
                return np.asarray(vectors, dtype=np.float32)
        return self._fitted.apply(vectors, side)

    def score_pairs(self, left: Vectors, right: Vectors) -> Array:
        """Score each row of ``left``, as a query, with the same row of ``right``, as a document.

        Args:
            left: vectors, a row each.
            right: as many vectors of the same dimension.

        Returns:
            A value for each pair; minus infinity where it is not defined.

        Raises:
            VectorError: where the two are not of one shape.
            OffsphereError: where the scorer has a document bias or a query standardisation.

        Example:
            >>> import numpy as np
            >>> import offsphere as osp
            >>> left, right = np.array([[3.0, 4.0], [1.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 2.0]])
            >>> osp.parse_scorer("dot").score_pairs(left, right).tolist()
            [25.0, 0.0]
        """
        if not self.is_plain:
            raise OffsphereError("a document bias or a query standardisation has no meaning for pairs")
        left, right = as_vectors(left, "left vectors"), as_vectors(right, "right vectors")
        if left.shape != right.shape:
            raise VectorError(f"left vectors are {left.shape}, right vectors {right.shape}: pairs need two of a shape")
        queries, documents = self.transform(left, "query"), self.transform(right)
        dot = np.einsum("nd,nd->n", queries, documents, dtype=np.float64)
        return self.similarity(dot, lengths(queries), lengths(documents))

    def lower(self) -> Lowering:
        """Give the two maps, one a side, whose plain inner product ranks as this scorer does.

        Returns:
            ``lowering.documents(vectors)`` are the vectors to index, ``lowering.queries(vectors)`` those to ask with. A
            scorer with a bias needs the documents' ids too: ``lowering.documents(vectors, ids)``.

        Raises:
            NotLowerableError: where there are no such maps (norm-gap, overlap, tanh).

        Example:
            >>> import numpy as np
            >>> import offsphere as osp
            >>> lowering = osp.parse_scorer("cosine").lower()
            >>> (5 * lowering.documents(np.array([[3.0, 4.0]], np.float32))).tolist()
            [[3.0, 4.0]]
        """
        return Lowering(
            name=self.name,
            similarity=self.similarity,
            transform=self.transform,
            bias=self.bias,
            standardization=self.standardization,
        )

    def query(self, vectors: Vectors) -> Rows:
        """Make the vectors to ask a search engine with: ``lower().queries(vectors)``, for whoever serves the scorer.

        Args:
            vectors: query vectors as the model gave them, a row each.

        Returns:
            As many rows, whose inner product with ``lower().documents(...)`` ranks as the scorer does.

        Raises:
            NotLowerableError: where no engine can serve the scorer.

        Example:
            >>> import numpy as np
            >>> import offsphere as osp
            >>> (5 * osp.parse_scorer("norm-mix(0.5)").query(np.array([[3.0, 4.0]], np.float32))).tolist()
            [[3.0, 4.0, 5.0]]
        """
        return self.lower().queries(vectors)

    def save(self, folder: str | Path) -> None:
        """Write the scorer as JSON and safetensors.

        Args:
            folder: where to; it is made where it does not exist.

        Raises:
            DataError: where it has a transform that no file can describe.

        Example:
            >>> import tempfile
            >>> import offsphere as osp
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     osp.parse_scorer("polar(1, 0.75)").save(folder)
            ...     osp.Scorer.load(folder).name
            'polar(1, 0.75)'
        """
        write_scorer_files(Path(folder), self.config(), self.arrays())

    @classmethod
    def load(cls, folder: str | Path) -> Scorer:
        """Read a saved scorer. Nothing in the files is executed.

        Args:
            folder: where it was saved.

        Returns:
            The scorer as it was, with the same ``key``.

        Raises:
            DataError: where the files are missing, broken, or of a later version.
        """
        return read_scorer_files(Path(folder), cls.of)

    def config(self) -> dict[str, Any]:
        """Describe it as plain values for a JSON file."""
        for transform in self.transforms:
            if transform.kind not in TRANSFORMS:
                raise DataError(f"a {type(transform).__name__} cannot be saved: give it as a Linear map")
        return {
            "name": self.name,
            "similarity": self.similarity.config(),
            "transforms": [transform.config() for transform in self.transforms],
            "map": self._map_order(),
            **bias_config(self.bias),
        }

    def arrays(self) -> Arrays:
        """Give its numbers by name, those of its parts under a prefix each."""
        arrays = with_prefix("similarity", self.similarity.arrays())
        for position, transform in enumerate(self.transforms):
            arrays |= with_prefix(f"transform.{position}", transform.arrays())
        for number, part in enumerate(parts_of(self.map)):
            if isinstance(part, AffineMap):
                arrays |= with_prefix(f"map.{number}", part.arrays())
        arrays |= bias_arrays(self.bias)
        if self.standardization is not None:
            arrays |= with_prefix("standardization", self.standardization.arrays())
        return arrays

    @classmethod
    def of(cls, config: Mapping[str, Any], arrays: Arrays) -> Scorer:
        """Make the scorer again from what ``config()`` and ``arrays()`` gave.

        Args:
            config: Plain values.
            arrays: The numbers of all parts, by name.

        Returns:
            The same scorer.
        """
        family = FAMILIES[config["similarity"]["family"]]
        similarity = family.of(config["similarity"], without_prefix("similarity", arrays))
        transforms = tuple(
            TRANSFORMS[entry["kind"]].of(entry, without_prefix(f"transform.{position}", arrays))
            for position, entry in enumerate(config["transforms"])
        )
        moments = without_prefix("standardization", arrays)
        return cls(
            similarity,
            transforms,
            bias_of(config, arrays),
            join_maps(saved_maps(config["map"], transforms, arrays)),
            QueryStandardization.of(moments) if moments else None,
        )

    @property
    def _fitted(self) -> FittedMap:
        """The fitted map, of a scorer that has transforms and so needs one."""
        if self.map is None:
            raise OffsphereError(f"{self.name!r} has transforms that were never fitted: call its fit(moments) first")
        return self.map

    def _map_order(self) -> list[str | int]:
        """List the parts of the fitted map: an affine one by its arrays' prefix, any other by its transform."""
        itself = iter(position for position, transform in enumerate(self.transforms) if not transform.affine)
        return [
            f"map.{number}" if isinstance(part, AffineMap) else next(itself)
            for number, part in enumerate(parts_of(self.map))
        ]
