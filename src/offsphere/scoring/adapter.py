"""An adapter: a learned map for each side with the similarity it was trained for, and how the training went."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from offsphere.base.arrays import Arrays, Rows, Vectors
from offsphere.base.errors import ParameterError
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE, Similarity
from offsphere.scoring.training_record import Training
from offsphere.scoring.transforms import AdapterMap, Side, Transform
from offsphere.scoring.transforms.adapter_map import SideAdapter
from offsphere.vectors.as_vectors import as_vectors
from offsphere.vectors.moments import Moments


@dataclass(frozen=True, eq=False, repr=False)
class Adapter(Transform):
    """A map for each side, the similarity it was trained for, and how the training went.

    ``adapter.scorer`` is what was trained. An adapter is also a transform, which can stand in a chain before another
    similarity: ``Scorer(similarity, (Whiten(0.5), adapter))``.

    Args:
        query: what is done with query vectors.
        document: what is done with document vectors.
        similarity: what the mapped vectors are compared by.
        label: what tells it from other adapters in a table.
        record: how the training went; nothing where nobody kept it.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> from offsphere.scoring.transforms.adapter_map import SideAdapter
        >>> adapter = osp.Adapter(SideAdapter(np.diag([2.0, 1.0])), SideAdapter(), osp.Polar(0, 0), "by hand")
        >>> adapter.apply(np.ones((1, 2)), "query").tolist(), adapter.apply(np.ones((1, 2)), "document").tolist()
        ([[2.0, 1.0]], [[1.0, 1.0]])
        >>> adapter.scorer.name
        'adapter(by hand) + dot'
    """

    query: SideAdapter
    document: SideAdapter
    similarity: Similarity = COSINE
    label: str = ""
    record: Training | None = field(default=None)

    kind = AdapterMap.kind
    by_name = False
    affine = False

    @cached_property
    def transform(self) -> AdapterMap:
        """The map of each side as a transform that knows no similarity."""
        return AdapterMap(self.query, self.document, self.label, self.record)

    @property
    def scorer(self) -> Scorer:
        """The scorer it was trained as: this map, then its similarity."""
        return Scorer(self.similarity, (self.transform,), map=self.transform)

    @property
    def name(self) -> str:
        """The name with what tells it from other adapters."""
        return self.transform.name

    @property
    def symmetric(self) -> bool:
        """Whether a score does not depend on which of two vectors is the query."""
        query, document = self.query.arrays(), self.document.arrays()
        powers = self.similarity.parameters
        equal = powers.get("query") == powers.get("document")
        return (
            equal
            and query.keys() == document.keys()
            and all(np.array_equal(query[name], document[name]) for name in query)
        )

    def __repr__(self) -> str:
        """The scorer, and what it is worth."""
        return f"Adapter({self.scorer.name}{f', {self.record}' if self.record is not None else ''})"

    def fit(self, moments: Moments) -> AdapterMap:
        """Give the map of each side: there is nothing to fit.

        Args:
            moments: of the documents, to check their dimension.

        Returns:
            The map, to apply to vectors.

        Raises:
            VectorError: where the adapter was trained on vectors of another dimension.
        """
        return self.transform.fit(moments)

    def config(self) -> dict[str, Any]:
        """Describe the map as plain values for a JSON file."""
        return self.transform.config()

    def arrays(self) -> Arrays:
        """Give the numbers of both sides by name."""
        return self.transform.arrays()

    def apply(self, vectors: Vectors, side: Side = "document") -> Rows:
        """Map the vectors of a side.

        Args:
            vectors: vectors of the model it was trained on, a row each.
            side: ``query`` or ``document``.

        Returns:
            The mapped vectors, a row each.

        Raises:
            VectorError: where the vectors have another dimension.
            ParameterError: where there is no such side.
        """
        return self.transform.apply(as_vectors(vectors), side)

    def save(self, folder: str | Path) -> None:
        """Write it as a scorer, with the record of its training beside.

        Args:
            folder: where to; it is made where it does not exist.

        Example:
            >>> import tempfile
            >>> import numpy as np
            >>> import offsphere as osp
            >>> from offsphere.scoring.transforms.adapter_map import SideAdapter
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     osp.Adapter(SideAdapter(np.eye(2)), SideAdapter(), label="query side").save(folder)
            ...     osp.Adapter.load(folder)
            Adapter(adapter(query side) + cosine)
        """
        if self.record is not None:
            self.record.save(Path(folder))
        self.scorer.save(folder)

    @classmethod
    def load(cls, folder: str | Path) -> Adapter:
        """Read a saved adapter and, where it is there, its record. Nothing in the files is executed.

        Args:
            folder: where it was saved.

        Returns:
            The adapter, with the similarity of the scorer it was saved as.

        Raises:
            DataError: where the files are missing or broken.
            ParameterError: where the folder holds a scorer without an adapter.
        """
        scorer = Scorer.load(folder)
        adapter = next((part for part in scorer.transforms if isinstance(part, AdapterMap)), None)
        if adapter is None:
            raise ParameterError(f"{folder} holds a scorer without an adapter: load it with Scorer.load")
        record = Training.load(Path(folder))
        return cls(adapter.query, adapter.document, scorer.similarity, adapter.label, record)
