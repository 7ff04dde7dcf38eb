"""offsphere: what the length of embedding vectors is worth, measured and put to use."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from offsphere.base.version import __version__

# where each public name lives; loaded when first used, so that importing offsphere costs nothing
_HOME = {
    "Ablation": "learn.ablation.ablation",
    "Adapter": "scoring.adapter",
    "Advice": "audit.advice",
    "Angular": "scoring.similarity",
    "Audit": "audit.run",
    "Center": "scoring.transforms",
    "Comparison": "comparison.table",
    "ContrastiveLoss": "learn.encoders.contrastive",
    "DropTop": "scoring.transforms",
    "Dynamics": "learn.encoders.encoder_dynamics",
    "EncoderRecipe": "learn.encoders.encoder_recipe",
    "Euclidean": "scoring.similarity",
    "Factors": "factors.closed_form",
    "Geometry": "geometry",
    "Learned": "learn.adapters.learn",
    "Linear": "scoring.transforms",
    "Moments": "vectors.moments",
    "NormGap": "scoring.similarity",
    "NormMix": "scoring.similarity",
    "OffsphereError": "base.errors",
    "Overlap": "scoring.similarity",
    "PairTask": "data",
    "PairVectors": "data",
    "Polar": "scoring.similarity",
    "RadialConfidence": "scoring.similarity",
    "RankingTask": "data",
    "RankingVectors": "data",
    "Recipe": "learn.adapters.adapter_recipe",
    "Scorer": "scoring.scorer",
    "Standardize": "scoring.transforms",
    "Store": "data.store",
    "Tanh": "scoring.similarity",
    "TextProbe": "learn.encoders.encoder_dynamics",
    "TopK": "ranking.search",
    "Training": "scoring.record",
    "Variant": "learn.ablation.variants",
    "Whiten": "scoring.transforms",
    "ablate": "learn.ablation.ablate_adapters",
    "ablate_encoder": "learn.ablation.ablate_encoders",
    "adapt": "learn.adapters.adapt_vectors",
    "advise": "audit.advice",
    "audit": "audit.run",
    "compare": "comparison.compare_scorers",
    "csls": "ranking.hub_bias",
    "embed": "encode",
    "encoder_grid": "learn.ablation.encoder_variants",
    "encoder_sweep": "learn.ablation.encoder_variants",
    "factorize": "factors.closed_form",
    "hold_out": "factors.recommending",
    "learn": "learn.adapters.learn",
    "load_encoder": "encode",
    "load_task": "data",
    "load_vectors": "data",
    "measure": "geometry",
    "measure_layers": "geometry",
    "nnn": "ranking.hub_bias",
    "open_store": "data.store",
    "original_space": "factors.closed_form",
    "parse_scorer": "scoring.names",
    "prepare": "learn.encoders.prepare",
    "recipe_with": "learn.encoders.named_recipes",
    "recommend": "factors.recommending",
    "search": "ranking.search",
    "settle": "learn.encoders.prepare",
    "simulate": "factors.simulation",
    "stability": "factors.stability",
    "standardize_queries": "scoring.standardization",
    "sweep": "learn.ablation.variants",
    "train": "learn.encoders.train_encoder",
    "train_with_cosine": "factors.recommending",
}

__all__ = sorted(_HOME)  # noqa: PLE0605

if TYPE_CHECKING:
    from offsphere.audit.advice import Advice, advise
    from offsphere.audit.run import Audit, audit
    from offsphere.base.errors import OffsphereError
    from offsphere.comparison.compare_scorers import compare
    from offsphere.comparison.table import Comparison
    from offsphere.data import PairTask, PairVectors, RankingTask, RankingVectors, load_task, load_vectors
    from offsphere.data.store import Store, open_store
    from offsphere.encode import embed, load_encoder
    from offsphere.factors.closed_form import Factors, factorize, original_space
    from offsphere.factors.recommending import hold_out, recommend, train_with_cosine
    from offsphere.factors.simulation import simulate
    from offsphere.factors.stability import stability
    from offsphere.geometry import Geometry, measure, measure_layers
    from offsphere.learn.ablation.ablate_adapters import ablate
    from offsphere.learn.ablation.ablate_encoders import ablate_encoder
    from offsphere.learn.ablation.ablation import Ablation
    from offsphere.learn.ablation.encoder_variants import encoder_grid, encoder_sweep
    from offsphere.learn.ablation.variants import Variant, sweep
    from offsphere.learn.adapters.adapt_vectors import adapt
    from offsphere.learn.adapters.adapter_recipe import Recipe
    from offsphere.learn.adapters.learn import Learned, learn
    from offsphere.learn.encoders.contrastive import ContrastiveLoss
    from offsphere.learn.encoders.encoder_dynamics import Dynamics, TextProbe
    from offsphere.learn.encoders.encoder_recipe import EncoderRecipe
    from offsphere.learn.encoders.named_recipes import recipe_with
    from offsphere.learn.encoders.prepare import prepare, settle
    from offsphere.learn.encoders.train_encoder import train
    from offsphere.ranking.hub_bias import csls, nnn
    from offsphere.ranking.search import TopK, search
    from offsphere.scoring.adapter import Adapter
    from offsphere.scoring.names import parse_scorer
    from offsphere.scoring.record import Training
    from offsphere.scoring.scorer import Scorer
    from offsphere.scoring.similarity import (
        Angular,
        Euclidean,
        NormGap,
        NormMix,
        Overlap,
        Polar,
        RadialConfidence,
        Tanh,
    )
    from offsphere.scoring.standardization import standardize_queries
    from offsphere.scoring.transforms import Center, DropTop, Linear, Standardize, Whiten
    from offsphere.vectors.moments import Moments


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'offsphere' has no attribute {name!r}")
    value = getattr(import_module(f"offsphere.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


class _FrontDoor(ModuleType):
    """This module, in which no room hides a verb: ``osp.learn`` is the function, whoever imported offsphere.learn."""

    def __setattr__(self, name: str, value: object) -> None:
        # a package that has been imported is set as an attribute of its parent
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _FrontDoor
