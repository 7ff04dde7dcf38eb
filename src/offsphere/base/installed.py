"""What is installed here, and what each extra that is not would give: found without importing any of it."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import NamedTuple

from offsphere.base.cache_home import cache_home
from offsphere.base.cores import available_cores
from offsphere.base.extras import PACKAGES
from offsphere.base.version import __version__

CORE = ("numpy", "scipy", "numba", "pyarrow", "safetensors", "typer", "rich", "jinja2", "altair")
GIVES: Mapping[str, str] = MappingProxyType(
    {
        "figures": "charts as files for a paper: --figures svg, png, pdf",
        "static": "wordllama and model2vec models: texts to vectors without torch",
        "learn": "adapters: adapt, ablate, audit --adapt",
        "models": "sentence-transformers models, train, sweep",
        "lora": "the recipe pace, which trains a model by LoRA first",
        "openvino": "models run by OpenVINO: --backend openvino",
        "tensorboard": "trainings followed by TensorBoard: --report-to tensorboard",
        "mlflow": "trainings followed by MLflow: --report-to mlflow",
        "wandb": "trainings followed by Weights & Biases: --report-to wandb",
        "hub": "tasks of the Hugging Face hub",
        "images": "pictures as items, classify",
        "mteb": "tasks of MTEB, and our scorers in mteb.evaluate",
        "bm25": "compare --bm25 and its fusion",
        "pandas": "to_pandas() of every result",
        "polars": "to_polars() of every result",
        "faiss": "export to FAISS, and reading its files",
        "qdrant": "export to Qdrant, and what is deployed there",
        "qdrant-edge": "export to Qdrant Edge",
        "lancedb": "export to LanceDB, and what is deployed there",
        "usearch": "export to usearch",
        "hnswlib": "export to hnswlib",
        "postgres": "export to Postgres with pgvector, and what is deployed there",
        "duckdb": "export to DuckDB",
        "sqlite": "export to sqlite-vec",
        "chroma": "export to Chroma, and what is deployed there",
        "milvus": "export to Milvus",
        "remote": "vectors and tasks that are read where they lie: s3://, gs://, hf://",
        "ray": "--on ray: the work of many shards on a Ray cluster",
    }
)
NEEDS: Mapping[str, tuple[str, ...]] = MappingProxyType({"learn": ("torch",)})  # shares its package with another extra


class ExtraState(NamedTuple):
    """An extra: what it gives, which of its packages are here, and how to get the others."""

    name: str
    gives: str
    versions: Mapping[str, str | None]  # by what pip calls the package; nothing for one that is missing

    @property
    def there(self) -> bool:
        """Whether all of its packages are installed."""
        return all(known is not None for known in self.versions.values())

    @property
    def cure(self) -> str:
        """The command that installs it."""
        return f"pip install 'offsphere[{self.name}]'"


class Installation(NamedTuple):
    """What is installed, and where it runs."""

    offsphere: str
    python: str
    system: str
    cores: int
    cache: str
    offline: bool  # whether the hub is never asked
    core: Mapping[str, str | None]
    extras: Sequence[ExtraState]


def installation() -> Installation:
    """Look at what is installed; nothing is imported, and nobody is asked.

    Returns:
        Versions of everything the package can use, and what is missing.

    Example:
        >>> from offsphere.base.installed import installation
        >>> installation().core["numpy"] is not None
        True
    """
    return Installation(
        offsphere=__version__,
        python=sys.version.split()[0],
        system=f"{platform.system()} {platform.machine()}",
        cores=available_cores(),
        cache=str(cache_home()),
        offline=os.environ.get("HF_HUB_OFFLINE", "0") not in ("0", ""),
        core={package: _version(package) for package in CORE},
        extras=[ExtraState(name, gives, _versions(name)) for name, gives in GIVES.items()],
    )


def _versions(extra: str) -> dict[str, str | None]:
    """The versions of an extra's packages, by what pip calls them."""
    names = NEEDS.get(extra) or [package for package, home in PACKAGES.values() if home == extra]
    return {name: _version(name.partition("[")[0]) for name in names}


def _version(package: str) -> str | None:
    """The version of a package that is installed, by what pip calls it; nothing where it is not."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
