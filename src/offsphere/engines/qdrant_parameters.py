"""What Qdrant's configuration says of vectors, and how its points are named: a folder, a shard and a server alike."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from hashlib import sha1
from types import MappingProxyType
from typing import Any, NamedTuple

from offsphere.base.errors import DataError
from offsphere.data.vector_files import id_texts
from offsphere.engines.metric import Metric

DISTANCES: Mapping[Metric, str] = MappingProxyType(
    {Metric.COSINE: "Cosine", Metric.INNER_PRODUCT: "Dot", Metric.EUCLIDEAN: "Euclid"}
)
ID = "id"  # the field of the payload that has the id
_NAMESPACE = uuid.UUID("6f66f5fe-7068-4572-8565-766563746f72")


class VectorParameters(NamedTuple):
    """One kind of vectors that the points of a collection have."""

    name: str  # empty for the one without a name
    width: int
    distance: str

    @property
    def metric(self) -> Metric | None:
        """By which it ranks; nothing for a metric that we do not have."""
        return {distance: metric for metric, distance in DISTANCES.items()}.get(self.distance)

    @property
    def other_metric(self) -> str:
        """The name of a metric that we do not have; empty for one that we have."""
        return self.distance if self.metric is None else ""


def chosen_vector(parameters: object, vector_name: str | None, where: str) -> VectorParameters:
    """Choose among the vectors that points have.

    Args:
        parameters: Of the one vector without a name, or of each by its name, as Qdrant writes them.
        vector_name: Which one; needed where there are several.
        where: The collection, for errors.

    Raises:
        DataError: There is none of that name, or several and nobody says which, or it is none that can be read.

    Example:
        >>> from offsphere.engines.qdrant_parameters import chosen_vector
        >>> chosen_vector({"text": {"size": 2, "distance": "Dot"}}, None, "docs")
        VectorParameters(name='text', width=2, distance='Dot')
    """
    named = parameters if isinstance(parameters, dict) else {}
    if "size" in named and not isinstance(named["size"], dict):
        named = {"": named}
    names = ", ".join(name or "one without a name" for name in named) or "none that is dense"
    if vector_name is None and len(named) != 1:
        raise DataError(f"{where} has several vectors a point, or none ({names}): say which with --vector-column")
    name = vector_name if vector_name is not None else next(iter(named))
    chosen = named.get(name)
    if not isinstance(chosen, dict):
        raise DataError(f"{where} has no vectors called {name!r}: it has {names}")
    if chosen.get("multivector_config"):
        raise DataError(f"{where} has several vectors a point, to be compared at once: only one a point can be read")
    width, distance = chosen.get("size"), chosen.get("distance")
    if type(width) is not int or width < 1:
        raise DataError(f"{where} claims vectors of {width!r} dimensions")
    return VectorParameters(name, width, str(getattr(distance, "value", distance)))


def point_id(name: str) -> str:
    """The id of a point, which must be a number or a UUID: the same for the same text."""
    digits = sha1(_NAMESPACE.bytes + name.encode(), usedforsecurity=False).hexdigest()
    variant = "89ab"[int(digits[16], 16) & 3]  # a UUID of version 5 (RFC 9562), five times as fast as by its class
    return f"{digits[:8]}-{digits[8:12]}-5{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"


def point_names(points: Sequence[tuple[Any, Any]], id_field: str | None, where: str) -> list[str]:
    """The ids of points: what their payloads say, or the points' own where no payload says anything.

    Args:
        points: The id of each, and what its payload has in the field; nothing where it has no such field.
        id_field: The field that somebody asked for; ``id`` without.
        where: The collection, for errors.

    Raises:
        DataError: Some payloads have the field and others lack it, or none has one that was asked for.
    """
    lacking = [name for name, given in points if given is None]
    field = id_field or ID
    if lacking and (id_field is not None or len(lacking) < len(points)):
        others = "and others have" if len(lacking) < len(points) else "nor has any other"
        raise DataError(f"{where}: point {lacking[0]!r} has no {field!r} in its payload, {others}: give each one")
    return id_texts([_plain(name) if lacking else given for name, given in points], where)


def hit_name(point: Any, id_field: str | None) -> str:
    """The id of a point that was returned."""
    given = (point.payload or {}).get(id_field or ID)
    return str(point.id if given is None else given)


def _plain(name: Any) -> Any:
    return str(name) if isinstance(name, uuid.UUID) else name
