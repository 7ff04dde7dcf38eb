"""The fields of a Milvus collection: which one has the vectors, which one the ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from offsphere.base.arrays import Rows
from offsphere.base.errors import DataError

KEY_FIELD, ID, VECTOR = "key", "id", "vector"  # of a collection of ours
VECTORS = {"FLOAT_VECTOR": "float32", "FLOAT16_VECTOR": "float16"}  # those that are read


class MilvusFields(NamedTuple):
    """What is known of a collection from its description."""

    vector: str
    width: int
    stored: str
    id: str
    ours: bool  # whether it has the fields of an export

    @classmethod
    def of(
        cls, description: Mapping[str, Any], id_field: str | None, vector_name: str | None, where: str
    ) -> MilvusFields:
        """Choose the fields of a collection.

        Args:
            description: As Milvus gives it.
            id_field: The field with the ids; without it ``id`` in a collection of ours, else the primary key.
            vector_name: The field with the vectors; needed where there are several.
            where: The collection, for errors.

        Raises:
            DataError: There is no such field, or several and nobody says which.
        """
        fields = {field["name"]: field for field in description["fields"]}
        dense = [name for name, field in fields.items() if field["type"].name in VECTORS]
        if vector_name is None and len(dense) != 1:
            names = ", ".join(dense) or "none that is dense"
            raise DataError(f"{where} has several fields of vectors, or none ({names}): say which with --vector-column")
        vector = dense[0] if vector_name is None else vector_name
        if vector not in dense:
            raise DataError(f"{where} has no vectors called {vector!r}: it has {', '.join(dense) or 'none'}")
        ours = set(fields) == {KEY_FIELD, ID, VECTOR}
        primary = next(name for name, field in fields.items() if field.get("is_primary"))
        name = id_field or (ID if ours else primary)
        if name not in fields:
            raise DataError(f"{where} has no field {name!r}: it has {', '.join(fields)}")
        stored = VECTORS[fields[vector]["type"].name]
        return cls(vector, int(fields[vector]["params"]["dim"]), stored, name, ours)

    def numbers(self, vectors: list[Any]) -> Rows:
        """The vectors as they come, as rows; halves come as bytes."""
        if vectors and isinstance(vectors[0], bytes):
            return np.frombuffer(b"".join(vectors), np.float16).astype(np.float32).reshape(-1, self.width)
        return np.asarray(vectors, np.float32).reshape(-1, self.width)
