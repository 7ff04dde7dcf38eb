"""What the recommended scorer asks of whoever serves it, where it adds a number to every document."""

from __future__ import annotations

from offsphere.comparison.choice import Choice
from offsphere.wording.finding import Finding


def bias_finding(choice: Choice) -> Finding | None:
    """Say what a scorer with a document bias costs: what to do when the corpus changes, and how much more is stored.

    Args:
        choice: what is recommended.

    Returns:
        The finding; nothing where the scorer adds no number to documents.
    """
    upkeep = choice.scorer.upkeep
    if not upkeep.per_document:
        return None
    numbers = {"name": choice.name, **upkeep._asdict()}
    return Finding(topic="wrong", claim="bias costs", numbers=numbers, certainty="sure")
