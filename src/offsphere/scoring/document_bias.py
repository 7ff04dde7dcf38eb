"""A document bias: a number for each document that is added to its similarity, kept by the document's id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.digests import digest_of_texts
from offsphere.base.errors import VectorError
from offsphere.scoring.query_bank import QueryBank
from offsphere.scoring.value_key import value_key


@dataclass(frozen=True, eq=False)
class DocumentBias:
    """A number added to each document's similarity.

    With ids it follows its documents, in whatever order and company they come. Without ids it goes by row number, and
    serves no corpus but the one that it was made for, in that corpus' order.

    Args:
        name: as it stands in the scorer's name.
        values: a number for each document.
        ids: the documents' ids, in the order of the values.
        bank: gives a bias to documents that are not among these.

    Raises:
        VectorError: where there are more or fewer ids than values, or an id stands there twice.
    """

    name: str
    values: Array  # (documents,)
    ids: Sequence[str] | None = None
    bank: QueryBank | None = None

    def __post_init__(self) -> None:
        """Refuse what is no number for each document, which would rank at random, and ids that do not name them."""
        if self.values.ndim != 1 or not np.isfinite(self.values).all():
            rows = np.flatnonzero(~np.isfinite(self.values)).tolist()
            where = f": that of document {rows[0]} is {self.values.flat[rows[0]]}" if rows else ""
            raise VectorError(f"a bias is one finite number for each document{where}")
        if self.ids is not None:
            check_ids(self.ids, len(self.values))

    def __repr__(self) -> str:
        """The name and the counts, not the numbers."""
        bank = f", a bank of {len(self.bank.queries):,} queries" if self.bank is not None else ""
        return f"DocumentBias({self.name}: {len(self.values):,} documents{'' if self.ids else ' by row'}{bank})"

    @cached_property
    def key(self) -> str:
        """A key that is equal for equal biases, whichever process they are in."""
        config: list[object] = ["bias", self.name]
        arrays: dict[str, Array] = {"values": self.values}
        if self.ids is not None:
            config.append(digest_of_texts(self.ids))
        if self.bank is not None:
            config += [self.bank.neighbours, self.bank.share]
            arrays["bank"] = self.bank.queries  # type: ignore[assignment]
        return value_key(config, arrays)

    def of_rows(self, ids: Sequence[str] | None, count: int) -> Array:
        """Look up the biases of a corpus; not-a-number stands where only the bank can tell.

        Args:
            ids: of the documents, in their order; nothing where nobody knows them.
            count: how many documents there are.

        Returns:
            A number for each of them.

        Raises:
            VectorError: where the bias cannot be matched with the documents.
        """
        if self.ids is None:
            if count != len(self.values):
                raise VectorError(
                    f"the bias is of {len(self.values)} documents, there are {count}: {self.name} was made without "
                    "ids and fits its own corpus alone, in its order; make it again with ids=..."
                )
            return self.values
        if ids is None:
            raise VectorError(
                f"{self.name} knows its {len(self.values)} documents by id: say which these {count} are, with ids=..."
            )
        check_ids(ids, count)
        if list(ids) == list(self.ids):
            return self.values
        rows = self._rows
        numbers = np.array([rows.get(name, -1) for name in ids], dtype=np.int64)
        unknown = numbers < 0
        if unknown.any() and self.bank is None:
            first = ids[int(np.flatnonzero(unknown)[0])]
            raise VectorError(
                f"{self.name} has no bias for document {first!r} ({int(unknown.sum())} are unknown) and no query bank "
                "to make one from: fit it again on these documents"
            )
        biases = np.full(count, np.nan)
        biases[~unknown] = self.values[numbers[~unknown]]
        return biases

    @cached_property
    def _rows(self) -> dict[str, int]:
        """The row of each id."""
        return {name: row for row, name in enumerate(self.ids or ())}


def check_ids(ids: Sequence[str], count: int) -> None:
    """Refuse ids that are more or fewer than their documents, that repeat, or that are no texts."""
    if len(ids) != count:
        raise VectorError(f"there are {len(ids)} ids for {count} documents: give one for each, in their order")
    strange = next((name for name in ids if not isinstance(name, str)), None)
    if strange is not None:
        raise VectorError(f"document id {strange!r} is of type {type(strange).__name__}: ids are texts, write str(id)")
    if len(set(ids)) < count:
        seen: set[str] = set()
        twice = next(name for name in ids if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise VectorError(f"document id {twice!r} stands there twice: ids must not repeat")
