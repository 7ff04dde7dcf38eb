"""The learning rate that fits a model where nobody says one: a table of token vectors wants a far higher one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from offsphere.base.errors import OffsphereError
from offsphere.base.reading.json_files import read_json
from offsphere.encode.sources import model_source
from offsphere.encode.static import is_model2vec
from offsphere.learning.encoders.trainable import SCRATCH

STAGES = "modules.json"  # of a folder of sentence-transformers
STATIC = "StaticEmbedding"


class UsualRates(NamedTuple):
    """The rate of a single training, and those among which a variant of an ablation chooses."""

    one: float
    several: tuple[float, ...]


RATES: Mapping[str, UsualRates] = MappingProxyType(
    {
        "static": UsualRates(3e-3, (1e-3, 3e-3)),
        "transformer": UsualRates(2e-5, (1e-5, 5e-5)),
        "transformer from scratch": UsualRates(1e-4, (5e-5, 2e-4)),
        "image tower from scratch": UsualRates(1e-3, (3e-4, 1e-3)),
    }
)


def usual_rates(model: Any, *, from_scratch: bool = False) -> UsualRates:
    """The usual rates of a model, by its kind: static, a transformer, or one whose weights were never trained.

    Args:
        model: A SentenceTransformer, or the name of one; a name is looked up in its folder and nothing is loaded.
        from_scratch: Whether its weights are forgotten first.

    Returns:
        The rate of one training, and those of an ablation.
    """
    if isinstance(model, str):
        static, untrained = _is_static(model), model.rpartition("+")[2].startswith(SCRATCH)
    else:
        from sentence_transformers.base.losses.gradcache import has_static_embedding_input

        static, untrained = has_static_embedding_input(model), False
    if untrained:
        return RATES["image tower from scratch"]
    if static:
        return RATES["static"]
    return RATES["transformer from scratch" if from_scratch else "transformer"]


def _is_static(name: str) -> bool:
    """Whether a name stands for a table of token vectors, as far as its folder tells."""
    if name == "wordllama":
        return True
    try:
        folder = Path(model_source(name))
        if not folder.is_dir():
            return False
        if is_model2vec(folder):
            return True
        stages = read_json(folder / STAGES)
        return bool(stages) and str(stages[0]["type"]).endswith(STATIC)
    except (OffsphereError, KeyError, TypeError, IndexError):  # whoever loads it says what is wrong
        return False
