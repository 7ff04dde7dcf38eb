"""Families of tasks: what the two sides of a task are to each other, and what may be exchanged."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """A family of tasks, and whether its two sides play one role ("functional symmetry", Feng & Watanabe 2026).

    Attributes:
        name: What it is called in tables.
        one_role: Whether the sides could be exchanged without changing the task.
        exchange: What may be exchanged, or why nothing may, in a sentence.

    Example:
        >>> from offsphere.data.family import LINKS, RECOMMENDATION
        >>> RECOMMENDATION.one_role, LINKS.roles
        (False, 'one role')
    """

    name: str
    one_role: bool
    exchange: str

    @property
    def roles(self) -> str:
        """One role or two, in words."""
        return "one role" if self.one_role else "two roles"


RETRIEVAL = Family("retrieval", one_role=False, exchange="a query asks, a document answers: they cannot be exchanged")
PAIRS = Family("pairs", one_role=True, exchange="left and right mean the same to each other: they may be exchanged")
RECOMMENDATION = Family(
    "recommendation", one_role=False, exchange="a user wants, an item is wanted: they cannot be exchanged"
)
LINKS = Family("link prediction", one_role=True, exchange="an edge has no direction: its two nodes may be exchanged")
DIRECTED_LINKS = Family(
    "directed link prediction", one_role=False, exchange="one node points, the other is pointed to: two roles"
)
CLASSIFICATION = Family(
    "few-shot classification", one_role=False, exchange="an item is sorted, a class is what it is sorted into"
)
ANSWERS = Family(
    "question answering", one_role=False, exchange="a question asks, a passage holds the answer: two roles"
)
