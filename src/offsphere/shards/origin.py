"""What a state was made of: by it states of one question are told from those of another, and no shard counts twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from offsphere.base.errors import DataError

NAMED = 5  # missing shards that an error names


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The question that a state is part of the answer to, and which shards are in it.

    Attributes:
        question: A digest of everything that all shards of one question have in common.
        described: The same in words, for errors.
        version: Of offsphere, whose mathematics it is.
        documents: How many there are in all shards.
        shards: How many shards there are.
        parts: The shards that are in this state, each with a digest of its documents.
    """

    question: str
    described: Mapping[str, str]
    version: str
    documents: int
    shards: int
    parts: Mapping[str, str]

    @property
    def missing(self) -> list[int]:
        """The shards that are not in this state yet."""
        return [number for number in range(1, self.shards + 1) if str(number) not in self.parts]

    def merge(self, other: Origin, what: str = "a state") -> Origin:
        """The origin of both.

        Raises:
            DataError: They are of different questions, or have a shard in common.
        """
        self._refuse_others(other, what, "the others")
        if self.question != other.question:
            raise DataError(
                f"{what} is of another question: the same options, and other queries, judgments or fitted transforms: "
                "were the data changed, or the shards searched on different kinds of processor?"
            )
        twice = sorted({*self.parts} & {*other.parts}, key=int)
        if twice:
            raise DataError(f"{what} has shard {twice[0]}/{self.shards}, which is there already: give each shard once")
        parts = sorted([*self.parts.items(), *other.parts.items()], key=lambda part: int(part[0]))
        return Origin(
            question=self.question,
            described=self.described,
            version=self.version,
            documents=self.documents,
            shards=self.shards,
            parts=dict(parts),
        )

    def check_kept(self, kept: Origin, what: str) -> None:
        """Refuse a state that was kept by an earlier run, where this one would make another.

        Args:
            kept: The origin of the state that was kept.
            what: What it is called.

        Raises:
            DataError: It is of another question, or of documents that were changed since.
        """
        self._refuse_others(kept, what, "this run")
        if kept.parts != self.parts:
            (number,) = self.parts
            raise DataError(
                f"the documents of shard {number}/{self.shards} were changed since {what} was made: remove its folder "
                "and run again, or put them back"
            )
        if kept.question != self.question:
            raise DataError(f"{what} is of another question, with the same options: remove it, and run again")

    def _refuse_others(self, other: Origin, what: str, whose: str) -> None:
        """Refuse an origin whose numbers or words differ; the first difference is told."""
        for name in ("version", "shards", "documents"):
            mine, others = getattr(self, name), getattr(other, name)
            if mine != others:
                raise DataError(f"{what} is of another question: its {name} is {others}, that of {whose} {mine}")
        for name in sorted({*self.described, *other.described}):
            mine, others = self.described.get(name), other.described.get(name)
            if mine != others:
                raise DataError(f"{what} is of another question: its {name} is {others}, that of {whose} {mine}")

    def check_whole(self) -> None:
        """Refuse a state from which shards are missing.

        Raises:
            DataError: One is missing; the first few are named.
        """
        missing = self.missing
        if missing:
            named = ", ".join(f"{number}/{self.shards}" for number in missing[:NAMED])
            named += ", ..." if len(missing) > NAMED else ""
            raise DataError(f"{len(missing)} of {self.shards} shards are missing ({named}): run them, and merge again")

    def check_unchanged(self, fitted: Origin) -> None:
        """Refuse documents that are not those that were fitted.

        Raises:
            DataError: A shard was changed since; it is named.
        """
        if (self.documents, self.shards) != (fitted.documents, fitted.shards):
            raise DataError(
                f"what was fitted has {fitted.documents:,} documents in {fitted.shards} shards, this has "
                f"{self.documents:,} in {self.shards}: fit it again"
            )
        for number, digest in self.parts.items():
            if fitted.parts.get(number) != digest:
                raise DataError(f"the documents of shard {number}/{self.shards} were changed since they were fitted")
