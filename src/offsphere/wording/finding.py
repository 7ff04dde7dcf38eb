"""A finding: what is claimed, which way, how sure, and the numbers it rests on. Its sentence is made from these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from offsphere.base.plain import plain
from offsphere.base.short_repr import short_repr
from offsphere.wording.claims_in_words import WORDS

Topic = Literal["scorer", "storing", "lists", "length", "expectation", "ceiling", "deployed", "training", "wrong"]
Direction = Literal["up", "down", "none"]
Certainty = Literal["sure", "unsure", "equal", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that was found, as data; people read its ``sentence``.

    Attributes:
        topic: What it is about.
        claim: The name of what is claimed: a key of ``WORDS``, which turns the numbers into the sentence.
        numbers: Everything the sentence may use, and nothing that it does not rest on.
        direction: ``up`` where something is better or longer, ``down`` where it is worse or shorter.
        certainty: ``sure`` (a test or an interval says so), ``unsure`` (it may be chance), ``equal`` (what is there
            cannot matter), ``unknown`` (these data cannot tell).

    Example:
        >>> from offsphere.wording.finding import Finding
        >>> numbers = {"metric": "ndcg@10", "keeps": 0.6, "dot_p": 0.0001}
        >>> finding = Finding(topic="wrong", claim="dot collapses", numbers=numbers, direction="down", certainty="sure")
        >>> finding.sentence.partition(":")[0]
        'Never put the vectors as they are into an index set to dot product'
    """

    topic: Topic
    claim: str
    numbers: Mapping[str, Any]
    direction: Direction = "none"
    certainty: Certainty = "unknown"

    __repr__ = short_repr

    @property
    def sentence(self) -> str:
        """The claim in words, made from its numbers: what people read."""
        return WORDS[self.claim](self.numbers)

    def to_json(self) -> dict[str, Any]:
        """Give everything as plain values, the sentence too."""
        return {
            "topic": self.topic,
            "claim": self.claim,
            "direction": self.direction,
            "certainty": self.certainty,
            "sentence": self.sentence,
            "numbers": plain(dict(self.numbers)),
        }
