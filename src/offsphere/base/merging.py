"""Merge many states as they come: two of equal weight at a time, so that large ones are copied as rarely as can be."""

from __future__ import annotations

from typing import Generic, Protocol, Self, TypeVar


class Mergeable(Protocol):
    """A state that merges with another of its kind."""

    def merge(self, other: Self) -> Self:
        """The state of both, ``other`` coming after this one."""
        ...


MergedState = TypeVar("MergedState", bound=Mergeable)


class Merging(Generic[MergedState]):
    """States so far, as the digits of a binary counter: the merged state of 1, 2, 4, 8, ... of them."""

    def __init__(self) -> None:
        self.digits: list[tuple[int, MergedState]] = []  # weight and merged state, the heaviest first

    def add(self, state: MergedState) -> None:
        """Take another state in, merging it with those of equal weight."""
        weight = 1
        while self.digits and self.digits[-1][0] == weight:
            weight, before = 2 * weight, self.digits.pop()[1]
            state = before.merge(state)
        self.digits.append((weight, state))

    def result(self) -> MergedState | None:
        """All of them merged, or nothing if there were none."""
        merged: MergedState | None = None
        for _, state in reversed(self.digits):
            merged = state if merged is None else state.merge(merged)
        return merged
