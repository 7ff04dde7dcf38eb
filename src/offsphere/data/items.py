"""Items: what is encoded, and the side of a task it stands on. A text today; anything a model can encode."""

from __future__ import annotations

from typing import Literal

Item = str  # the one place that says what an item is
ItemSide = Literal["query", "document", "left", "right"]
