"""Every claim that a finding can make, and the one function that puts it into words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from offsphere.wording.ceiling_words import CEILING_WORDS
from offsphere.wording.deployed_words import DEPLOYED_WORDS
from offsphere.wording.expectation_words import EXPECTATION_WORDS
from offsphere.wording.length_words import LENGTH_WORDS
from offsphere.wording.list_words import LIST_WORDS
from offsphere.wording.scorer_words import SCORER_WORDS
from offsphere.wording.storing_words import STORING_WORDS
from offsphere.wording.training_words import TRAINING_WORDS
from offsphere.wording.warning_words import WARNING_WORDS

WORDS: Mapping[str, Callable[[Mapping[str, Any]], str]] = MappingProxyType(
    {
        **SCORER_WORDS,
        **STORING_WORDS,
        **LIST_WORDS,
        **LENGTH_WORDS,
        **EXPECTATION_WORDS,
        **CEILING_WORDS,
        **DEPLOYED_WORDS,
        **TRAINING_WORDS,
        **WARNING_WORDS,
    }
)
