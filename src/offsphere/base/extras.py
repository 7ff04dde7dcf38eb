"""Which extra a package belongs to, so that one that is missing is told with the command that installs it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from offsphere.base.errors import MissingExtraError

# by the name one imports: what pip calls it, and the extra that has all that goes with it
PACKAGES = {
    "torch": ("torch", "models"),
    "sentence_transformers": ("sentence-transformers", "models"),
    "transformers": ("transformers", "models"),
    "accelerate": ("accelerate", "models"),
    "yaml": ("pyyaml", "models"),
    "huggingface_hub": ("huggingface_hub", "models"),
    "peft": ("peft", "lora"),
    "openvino": ("openvino", "openvino"),
    "optimum": ("optimum-intel", "openvino"),
    "tensorboard": ("tensorboard", "tensorboard"),
    "mlflow": ("mlflow", "mlflow"),
    "wandb": ("wandb", "wandb"),
    "datasets": ("datasets", "hub"),
    "mteb": ("mteb", "mteb"),
    "PIL": ("pillow", "images"),
    "kornia": ("kornia", "images"),
    "sklearn": ("scikit-learn", "images"),
    "tokenizers": ("tokenizers", "static"),
    "wordllama": ("wordllama", "static"),
    "faiss": ("faiss-cpu", "faiss"),
    "qdrant_client": ("qdrant-client", "qdrant"),
    "qdrant_edge": ("qdrant-edge-py", "qdrant-edge"),
    "chromadb": ("chromadb", "chroma"),
    "pymilvus": ("pymilvus", "milvus"),
    "milvus_lite": ("milvus-lite", "milvus"),
    "lancedb": ("lancedb", "lancedb"),
    "usearch": ("usearch", "usearch"),
    "hnswlib": ("hnswlib", "hnswlib"),
    "psycopg": ("psycopg[binary]", "postgres"),
    "duckdb": ("duckdb", "duckdb"),
    "apsw": ("apsw", "sqlite"),
    "sqlite_vec": ("sqlite-vec", "sqlite"),
    "bm25s": ("bm25s", "bm25"),
    "vl_convert": ("vl-convert-python", "figures"),
    "pandas": ("pandas", "pandas"),
    "polars": ("polars", "polars"),
    "ray": ("ray[client]", "ray"),
    "fsspec": ("fsspec", "remote"),
}


def missing_extra(error: ImportError) -> MissingExtraError | None:
    """Say how to get what could not be imported; nothing where it belongs to no extra.

    Example:
        >>> from offsphere.base.extras import missing_extra
        >>> missing_extra(ModuleNotFoundError("No module named 'torch'", name="torch.nn"))
        MissingExtraError("this needs the package 'torch': pip install 'offsphere[models]'")
    """
    package = PACKAGES.get((error.name or "").partition(".")[0])
    return MissingExtraError(*package) if package is not None else None


def load_extra(module: str) -> Any:
    """Import a module of a package that belongs to an extra.

    Args:
        module: As one imports it; its package stands in the table above.

    Returns:
        The module.

    Raises:
        MissingExtraError: It, or something that it needs, is not installed.

    Example:
        >>> from offsphere.base.extras import load_extra
        >>> load_extra("faiss").__name__
        'faiss'
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(*PACKAGES[module.partition(".")[0]]) from error


def is_installed(name: str) -> bool:
    """Tell whether a package can be imported, by importing it."""
    try:
        import_module(name)
    except ImportError:
        return False
    return True
