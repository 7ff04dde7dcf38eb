"""What ``--model`` accepts: a hub name, a folder, ``wordllama``, ``package:NAME`` or ``callable:module:function``."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from offsphere.base.errors import MissingExtraError, OffsphereError
from offsphere.encode.encoder import Encoder
from offsphere.encode.function import FunctionEncoder
from offsphere.encode.sentence import SentenceEncoder
from offsphere.encode.static import is_model2vec, load_model2vec, load_wordllama, may_be_model2vec

DEFAULT_MODEL = "wordllama"
ACCEPTED = (
    "a hub name, a model folder, wordllama (static, needs no download), package:NAME (a model folder inside an "
    "installed Python package), or callable:module:function (texts -> array)"
)


def load_encoder(name: str, *, keep_normalize: bool = False) -> Encoder:
    """The encoder of that name; stages that throw lengths away are removed unless they are to be kept."""
    if name == "wordllama":
        return load_wordllama()
    if name.startswith("callable:"):
        return FunctionEncoder(_function(name), name)
    source = model_source(name)
    if Path(source).is_dir():
        return _from_folder(Path(source), name, keep_normalize=keep_normalize)
    return _from_hub(source, name, keep_normalize=keep_normalize)


def model_source(name: str) -> str:
    """The folder that a name stands for, or its full name on the hub."""
    if name.startswith("package:"):
        return str(_inside(name.removeprefix("package:")))
    if Path(name).is_dir():
        return str(Path(name))
    return name if "/" in name else f"sentence-transformers/{name}"


def _from_folder(folder: Path, name: str, *, keep_normalize: bool) -> Encoder:
    if is_model2vec(folder):
        return load_model2vec(folder, name, keep_normalize=keep_normalize)
    if not (folder / "config.json").is_file() and not (folder / "modules.json").is_file():
        raise OffsphereError(f"{folder} holds no model: it has neither modules.json nor config.json")
    try:
        return SentenceEncoder(str(folder), name, keep_normalize=keep_normalize)
    except OffsphereError:
        raise
    except Exception as error:  # the loaders raise many kinds
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise OffsphereError(f"{folder} holds a model that cannot be used: {reason}") from error


def _from_hub(full: str, name: str, *, keep_normalize: bool) -> Encoder:
    """A model2vec model if its configuration says so, else a sentence-transformers model."""
    try:
        from huggingface_hub import hf_hub_download, snapshot_download
    except ImportError as error:
        raise MissingExtraError("huggingface_hub", "models") from error
    try:
        config = Path(hf_hub_download(full, "config.json"))
        if may_be_model2vec(config):
            files = ["config.json", "tokenizer.json", "model.safetensors"]
            folder = Path(snapshot_download(full, allow_patterns=files))
            if is_model2vec(folder):
                return load_model2vec(folder, name, keep_normalize=keep_normalize)
        return SentenceEncoder(full, name, keep_normalize=keep_normalize)
    except OffsphereError:
        raise
    except Exception as error:  # the hub and the loaders raise many kinds
        raise OffsphereError(f"model {name!r} was not found {_where()}: give {ACCEPTED}") from error


def _where() -> str:
    if os.environ.get("HF_HUB_OFFLINE", "0") not in ("0", ""):
        return "(not a folder here, and HF_HUB_OFFLINE keeps this machine from asking the hub)"
    return "(not a folder here, and the hub does not have it or cannot be reached from this machine)"


def _inside(package: str) -> Path:
    """The model folder inside an installed package: the package itself, or the one folder in it with a model."""
    spec = find_spec(package) if package.replace("_", "").isalnum() else None
    if spec is None or not spec.submodule_search_locations:
        raise OffsphereError(f"there is no installed package {package!r}: pip install it first, or give a folder")
    home = Path(next(iter(spec.submodule_search_locations)))
    places = [home, *sorted(path for path in home.iterdir() if path.is_dir())]
    found = [place for place in places if (place / "modules.json").is_file() or is_model2vec(place)]
    if not found:
        raise OffsphereError(f"the package {package!r} holds no model folder (one with modules.json)")
    return found[0]


def _function(name: str) -> object:
    _, module, function = (*name.split(":"), "", "")[:3]
    try:
        return getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise OffsphereError(f"cannot find {name!r}: write callable:module:function ({error})") from error
