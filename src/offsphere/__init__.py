"""offsphere: what the length of embedding vectors is worth, measured and put to use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

# where each public name lives; loaded when first used, so that importing offsphere costs nothing
_HOME = {
    "Adapter": "adapter",
    "Advice": "advice",
    "Angular": "similarity",
    "Audit": "auditing",
    "Center": "transforms",
    "Comparison": "comparison",
    "ContrastiveLoss": "learn.encoders.contrastive",
    "DropTop": "transforms",
    "Dynamics": "learn.encoders.dynamics",
    "EncoderRecipe": "learn.encoders.recipe",
    "Euclidean": "similarity",
    "Factors": "factors.closed_form",
    "Geometry": "geometry",
    "Linear": "transforms",
    "Moments": "moments",
    "NormGap": "similarity",
    "NormMix": "similarity",
    "OffsphereError": "errors",
    "Overlap": "similarity",
    "PairTask": "tasks",
    "PairVectors": "tasks",
    "Polar": "similarity",
    "RadialConfidence": "similarity",
    "RankingTask": "tasks",
    "RankingVectors": "tasks",
    "Recipe": "learn.recipe",
    "Scorer": "scorer",
    "Standardize": "transforms",
    "Store": "store",
    "Tanh": "similarity",
    "TextProbe": "learn.encoders.dynamics",
    "TopK": "searching",
    "Whiten": "transforms",
    "ablate": "learn.ablating",
    "ablate_encoder": "learn.encoders.ablating",
    "adapt": "learn.adapting",
    "advise": "advice",
    "audit": "auditing",
    "compare": "comparing",
    "csls": "hubs",
    "embed": "encode",
    "factorize": "factors.closed_form",
    "hold_out": "factors.recommending",
    "load_encoder": "encode",
    "load_task": "tasks",
    "load_vectors": "tasks",
    "measure": "geometry",
    "measure_layers": "geometry",
    "nnn": "hubs",
    "open_store": "store",
    "original_space": "factors.closed_form",
    "parse_scorer": "naming",
    "prepare": "learn.encoders.prepare",
    "recipe_with": "learn.encoders.train",
    "recommend": "factors.recommending",
    "search": "searching",
    "settle": "learn.encoders.prepare",
    "simulate": "factors.simulation",
    "stability": "factors.stability",
    "standardize_queries": "calibration",
    "train": "learn.encoders.train",
    "train_with_cosine": "factors.recommending",
}

__all__ = sorted(_HOME)  # noqa: PLE0605

if TYPE_CHECKING:
    from offsphere.adapter import Adapter
    from offsphere.advice import Advice, advise
    from offsphere.auditing import Audit, audit
    from offsphere.calibration import standardize_queries
    from offsphere.comparing import compare
    from offsphere.comparison import Comparison
    from offsphere.encode import embed, load_encoder
    from offsphere.errors import OffsphereError
    from offsphere.factors.closed_form import Factors, factorize, original_space
    from offsphere.factors.recommending import hold_out, recommend, train_with_cosine
    from offsphere.factors.simulation import simulate
    from offsphere.factors.stability import stability
    from offsphere.geometry import Geometry, measure, measure_layers
    from offsphere.hubs import csls, nnn
    from offsphere.learn.ablating import ablate
    from offsphere.learn.adapting import adapt
    from offsphere.learn.encoders.ablating import ablate_encoder
    from offsphere.learn.encoders.contrastive import ContrastiveLoss
    from offsphere.learn.encoders.dynamics import Dynamics, TextProbe
    from offsphere.learn.encoders.prepare import prepare, settle
    from offsphere.learn.encoders.recipe import EncoderRecipe
    from offsphere.learn.encoders.train import recipe_with, train
    from offsphere.learn.recipe import Recipe
    from offsphere.moments import Moments
    from offsphere.naming import parse_scorer
    from offsphere.scorer import Scorer
    from offsphere.searching import TopK, search
    from offsphere.similarity import Angular, Euclidean, NormGap, NormMix, Overlap, Polar, RadialConfidence, Tanh
    from offsphere.store import Store, open_store
    from offsphere.tasks import PairTask, PairVectors, RankingTask, RankingVectors, load_task, load_vectors
    from offsphere.transforms import Center, DropTop, Linear, Standardize, Whiten


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'offsphere' has no attribute {name!r}")
    value = getattr(import_module(f"offsphere.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
