"""What asking an embedding API will cost, before it starts, and what to know of what came back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from offsphere.base.token_estimate import tokens_about
from offsphere.data.items import texts_alone
from offsphere.data.store import is_store
from offsphere.data.task import Task
from offsphere.encode.embedding import SideItems, items_by_store
from offsphere.encode.encoder import Encoder
from offsphere.encode.served import ServedEncoder

MILLION = 1e6


class ServedPlan(NamedTuple):
    """How much an API is to be asked for one side of a task."""

    model: str
    texts: int
    tokens: int  # about

    def sentence(self, price: float | None = None) -> str:
        """Say it in words, with the cost where the price of a million tokens is known.

        Example:
            >>> from offsphere.encode.served_plan import ServedPlan
            >>> ServedPlan("openai:small", 5_183, 1_400_000).sentence(0.02)
            '5,183 texts for openai:small, about 1,400,000 tokens, which cost about 0.028'
        """
        cost = f", which cost about {self.tokens / MILLION * price:.2g}" if price is not None else ""
        return f"{self.texts:,} texts for {self.model}, about {self.tokens:,} tokens{cost}"


def served_plans(
    task: Task,
    encoder: Encoder,
    asking: Encoder | None,
    folder: Path,
    stores: Mapping[str, SideItems] | None = None,
) -> dict[str, ServedPlan]:
    """What each side that an API encodes will take; nothing for those whose vectors are there already.

    Args:
        task: Whose texts are encoded.
        encoder: Encodes them.
        asking: Encodes the side that asks, where that is another one.
        folder: Where the stores are or will be.
        stores: What is encoded, by the names of its stores; all of the task unless told otherwise.

    Returns:
        A plan for each store that is not finished, by its name; empty where no API is asked.
    """
    plans = {}
    for name, side in (items_by_store(task) if stores is None else stores).items():
        encodes = asking if asking is not None and name == task.sides[0].stored_as else encoder
        if isinstance(encodes, ServedEncoder) and not is_store(folder / name):
            texts = texts_alone(side.items, encodes.named.name)
            plans[name] = ServedPlan(encodes.named.name, len(texts), tokens_about(texts))
    return plans


def served_notes(*encoders: Encoder | None) -> list[str]:
    """What one must know of the vectors that APIs gave, each once."""
    notes = [note for encoder in encoders if isinstance(encoder, ServedEncoder) for note in encoder.notes]
    return list(dict.fromkeys(notes))
