"""offsphere: what the length of embedding vectors is worth, measured and put to use."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path as _Path
from typing import TYPE_CHECKING

from offsphere.base.extras import missing_extra as _missing_extra
from offsphere.base.in_notebook import InNotebook as _InNotebook
from offsphere.base.version import __version__ as __version__

# The public names, by the module each lives in. A module is loaded when one of its names is first used, so that
# importing offsphere costs nothing. The imports below say the same to type checkers; a test compares the two.
_HOME = {
    "base.errors": "OffsphereError",
    "vectors.moments": "Moments",
    "scoring.adapter": "Adapter",
    "scoring.names": "parse_scorer",
    "scoring.scorer": "Scorer",
    "scoring.similarity": "Angular Euclidean LengthPrior LogPrior NormGap NormMix Overlap Polar RadialConfidence Tanh",
    "scoring.standardize_queries": "standardize_queries",
    "scoring.transforms": "Center DropTop LayerNorm Linear ProjectMean Standardize Temper Whiten",
    "ranking.hub_bias": "csls nnn",
    "ranking.search": "TopK search",
    "data": "PairTask PairVectors RankingTask RankingVectors load_task load_vectors",
    "data.store": "Store open_store",
    "encode": "embed load_encoder",
    "encode.embedded_task": "EmbeddedSource",
    "encode.runtime": "Runtime",
    "comparison.compare_scorers": "compare",
    "comparison.bm25": "Bm25",
    "comparison.fusion": "Fusion",
    "comparison.judge": "Judge",
    "comparison.run_file": "RunFile",
    "comparison.table": "Comparison",
    "answering.read_answers": "read_answers",
    "answering.reader": "load_reader",
    "tokens.token_rows": "TokenRows",
    "comparison.classification": "Classification classify",
    "comparison.thresholds": "Thresholds threshold",
    "encode.embedded_labels": "embed_labels",
    "geometry": "Geometry measure measure_layers measure_words",
    "data.image": "Image",
    "learning.ablation.ablate_adapters": "ablate",
    "learning.ablation.ablate_encoders": "ablate_encoder",
    "learning.adapters.adapt_vectors": "adapt",
    "learning.adapters.adapter_recipe": "Recipe",
    "learning.encoders.contrastive": "ContrastiveLoss",
    "learning.encoders.encoder_dynamics": "Dynamics TextProbe",
    "learning.encoders.encoder_recipe": "EncoderRecipe",
    "learning.encoders.image_towers": "image_tower",
    "learning.encoders.named_recipes": "recipe_with",
    "learning.encoders.prepare": "prepare settle",
    "learning.encoders.train_encoder": "train",
    "learning.encoders.two_towers": "two_towers",
    "learning.loading": "load_parts",
    "learning.tracking": "Tracking",
    "scoring.training_record": "Training",
    "learning.ablation.ablation": "Ablation",
    "learning.ablation.crossed": "cross",
    "report.figure_files": "save_figures",
    "learning.ablation.encoder_variants": "encoder_grid encoder_sweep",
    "learning.ablation.variants": "Variant sweep",
    "learning.adapters.learn": "Learned learn",
    "factors.closed_form": "Factors factorize original_space",
    "factors.recommending": "hold_out recommend train_with_cosine",
    "factors.simulation": "simulate",
    "factors.stability": "stability",
    "factors.link_vectors": "link_vectors",
    "factors.task_source": "load_embedded task_source",
    "engines.deployed.collection_source": "CollectionSource",
    "engines.shipping.exporting": "Export export",
    "engines.models.model_folder": "export_model",
    "engines.trials.probed_metric": "Probe",
    "engines.trials.probing": "probe",
    "auditing.advice": "Advice advise",
    "auditing.run": "Audit audit",
    "auditing.study.run_study": "Study study",
    "runners.audit_shards": "audit_shards",
    "runners.compare_shards": "compare_shards",
    "runners.embed_shards": "embed_shards",
    "runners.local_runner": "LocalRunner",
    "runners.measure_shards": "measure_shards",
    "runners.ray_runner": "RayRunner",
    "shards.compare_question": "CompareOptions",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = sorted(_MODULE_OF)  # noqa: PLE0605

if TYPE_CHECKING:  # `as` is what makes a name public to type checkers
    from offsphere.answering.read_answers import read_answers as read_answers
    from offsphere.answering.reader import load_reader as load_reader
    from offsphere.auditing.advice import Advice as Advice
    from offsphere.auditing.advice import advise as advise
    from offsphere.auditing.run import Audit as Audit
    from offsphere.auditing.run import audit as audit
    from offsphere.auditing.study.run_study import Study as Study
    from offsphere.auditing.study.run_study import study as study
    from offsphere.base.errors import OffsphereError as OffsphereError
    from offsphere.comparison.bm25 import Bm25 as Bm25
    from offsphere.comparison.classification import Classification as Classification
    from offsphere.comparison.classification import classify as classify
    from offsphere.comparison.compare_scorers import compare as compare
    from offsphere.comparison.fusion import Fusion as Fusion
    from offsphere.comparison.judge import Judge as Judge
    from offsphere.comparison.run_file import RunFile as RunFile
    from offsphere.comparison.table import Comparison as Comparison
    from offsphere.comparison.thresholds import Thresholds as Thresholds
    from offsphere.comparison.thresholds import threshold as threshold
    from offsphere.data import PairTask as PairTask
    from offsphere.data import PairVectors as PairVectors
    from offsphere.data import RankingTask as RankingTask
    from offsphere.data import RankingVectors as RankingVectors
    from offsphere.data import load_task as load_task
    from offsphere.data import load_vectors as load_vectors
    from offsphere.data.image import Image as Image
    from offsphere.data.store import Store as Store
    from offsphere.data.store import open_store as open_store
    from offsphere.encode import embed as embed
    from offsphere.encode import load_encoder as load_encoder
    from offsphere.encode.embedded_labels import embed_labels as embed_labels
    from offsphere.encode.embedded_task import EmbeddedSource as EmbeddedSource
    from offsphere.encode.runtime import Runtime as Runtime
    from offsphere.engines.deployed.collection_source import CollectionSource as CollectionSource
    from offsphere.engines.models.model_folder import export_model as export_model
    from offsphere.engines.shipping.exporting import Export as Export
    from offsphere.engines.shipping.exporting import export as export
    from offsphere.engines.trials.probed_metric import Probe as Probe
    from offsphere.engines.trials.probing import probe as probe
    from offsphere.factors.closed_form import Factors as Factors
    from offsphere.factors.closed_form import factorize as factorize
    from offsphere.factors.closed_form import original_space as original_space
    from offsphere.factors.link_vectors import link_vectors as link_vectors
    from offsphere.factors.recommending import hold_out as hold_out
    from offsphere.factors.recommending import recommend as recommend
    from offsphere.factors.recommending import train_with_cosine as train_with_cosine
    from offsphere.factors.simulation import simulate as simulate
    from offsphere.factors.stability import stability as stability
    from offsphere.factors.task_source import load_embedded as load_embedded
    from offsphere.factors.task_source import task_source as task_source
    from offsphere.geometry import Geometry as Geometry
    from offsphere.geometry import measure as measure
    from offsphere.geometry import measure_layers as measure_layers
    from offsphere.geometry import measure_words as measure_words
    from offsphere.learning.ablation.ablate_adapters import ablate as ablate
    from offsphere.learning.ablation.ablate_encoders import ablate_encoder as ablate_encoder
    from offsphere.learning.ablation.ablation import Ablation as Ablation
    from offsphere.learning.ablation.crossed import cross as cross
    from offsphere.learning.ablation.encoder_variants import encoder_grid as encoder_grid
    from offsphere.learning.ablation.encoder_variants import encoder_sweep as encoder_sweep
    from offsphere.learning.ablation.variants import Variant as Variant
    from offsphere.learning.ablation.variants import sweep as sweep
    from offsphere.learning.adapters.adapt_vectors import adapt as adapt
    from offsphere.learning.adapters.adapter_recipe import Recipe as Recipe
    from offsphere.learning.adapters.learn import Learned as Learned
    from offsphere.learning.adapters.learn import learn as learn
    from offsphere.learning.encoders.contrastive import ContrastiveLoss as ContrastiveLoss
    from offsphere.learning.encoders.encoder_dynamics import Dynamics as Dynamics
    from offsphere.learning.encoders.encoder_dynamics import TextProbe as TextProbe
    from offsphere.learning.encoders.encoder_recipe import EncoderRecipe as EncoderRecipe
    from offsphere.learning.encoders.image_towers import image_tower as image_tower
    from offsphere.learning.encoders.named_recipes import recipe_with as recipe_with
    from offsphere.learning.encoders.prepare import prepare as prepare
    from offsphere.learning.encoders.prepare import settle as settle
    from offsphere.learning.encoders.train_encoder import train as train
    from offsphere.learning.encoders.two_towers import two_towers as two_towers
    from offsphere.learning.loading import load_parts as load_parts
    from offsphere.learning.tracking import Tracking as Tracking
    from offsphere.ranking.hub_bias import csls as csls
    from offsphere.ranking.hub_bias import nnn as nnn
    from offsphere.ranking.search import TopK as TopK
    from offsphere.ranking.search import search as search
    from offsphere.report.figure_files import save_figures as save_figures
    from offsphere.runners.audit_shards import audit_shards as audit_shards
    from offsphere.runners.compare_shards import compare_shards as compare_shards
    from offsphere.runners.embed_shards import embed_shards as embed_shards
    from offsphere.runners.local_runner import LocalRunner as LocalRunner
    from offsphere.runners.measure_shards import measure_shards as measure_shards
    from offsphere.runners.ray_runner import RayRunner as RayRunner
    from offsphere.scoring.adapter import Adapter as Adapter
    from offsphere.scoring.names import parse_scorer as parse_scorer
    from offsphere.scoring.scorer import Scorer as Scorer
    from offsphere.scoring.similarity import Angular as Angular
    from offsphere.scoring.similarity import Euclidean as Euclidean
    from offsphere.scoring.similarity import LengthPrior as LengthPrior
    from offsphere.scoring.similarity import LogPrior as LogPrior
    from offsphere.scoring.similarity import NormGap as NormGap
    from offsphere.scoring.similarity import NormMix as NormMix
    from offsphere.scoring.similarity import Overlap as Overlap
    from offsphere.scoring.similarity import Polar as Polar
    from offsphere.scoring.similarity import RadialConfidence as RadialConfidence
    from offsphere.scoring.similarity import Tanh as Tanh
    from offsphere.scoring.standardize_queries import standardize_queries as standardize_queries
    from offsphere.scoring.training_record import Training as Training
    from offsphere.scoring.transforms import Center as Center
    from offsphere.scoring.transforms import DropTop as DropTop
    from offsphere.scoring.transforms import LayerNorm as LayerNorm
    from offsphere.scoring.transforms import Linear as Linear
    from offsphere.scoring.transforms import ProjectMean as ProjectMean
    from offsphere.scoring.transforms import Standardize as Standardize
    from offsphere.scoring.transforms import Temper as Temper
    from offsphere.scoring.transforms import Whiten as Whiten
    from offsphere.shards.compare_question import CompareOptions as CompareOptions
    from offsphere.tokens.token_rows import TokenRows as TokenRows
    from offsphere.vectors.moments import Moments as Moments
else:  # a type checker that saw this would believe in any name

    def __getattr__(name: str) -> object:
        if name not in _MODULE_OF:
            raise AttributeError(f"module 'offsphere' has no attribute {name!r}")
        try:
            value = getattr(import_module(f"offsphere.{_MODULE_OF[name]}"), name)
        except ImportError as error:
            raise _missing_extra(error) or error from error
        globals()[name] = value
        return value


class _Report:
    """What results of lower rooms offer as methods and the report makes: it is loaded when one of them is called."""

    def chart(self, result: object, name: str | None) -> object:
        from offsphere.report.charts import chart_of_result

        return chart_of_result(result, name)

    def page(self, result: object, path: str | _Path, engine: str | None) -> _Path:
        from offsphere.auditing.run import Audit
        from offsphere.report.saving import save_page

        assert isinstance(result, Audit)  # no other result has a page
        return save_page(result, path, engine)


_InNotebook.report = _Report()


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
