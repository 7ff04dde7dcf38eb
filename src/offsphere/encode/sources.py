"""What ``--model`` accepts: a hub name, a folder, ``wordllama``, ``package:NAME``, an API or one's own function."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from offsphere.base.errors import ENDINGS, MissingExtraError, OffsphereError, first_line
from offsphere.base.named_functions import import_function
from offsphere.encode.encoder import Encoder
from offsphere.encode.function import FunctionEncoder
from offsphere.encode.runtime import USUAL, Runtime
from offsphere.encode.sentence import SentenceEncoder
from offsphere.encode.served import ServedEncoder
from offsphere.encode.served_name import ServedName, is_served
from offsphere.encode.static import is_model2vec, load_model2vec, load_wordllama, may_be_model2vec

DEFAULT_MODEL = "wordllama"
ACCEPTED = (
    "a hub name, a model folder, wordllama (static, needs no download), package:NAME (a model folder inside an "
    "installed Python package), openai:MODEL or http://HOST/v1#MODEL (an embedding API), or callable:module:function "
    "(texts -> array; pictures where it has kinds = 'image')"
)


def load_encoder(name: str, *, keep_normalize: bool = False, runtime: Runtime = USUAL) -> Encoder:
    """Load an encoder by name. Stages that throw lengths away are taken out of it; remote code is never run.

    Args:
        name: A hub name, a model folder, ``wordllama`` (static, needs no download), ``package:NAME`` (a model folder
            inside an installed Python package), ``openai:MODEL`` or ``http://HOST/v1#MODEL`` (an embedding API), or
            ``callable:module:function`` (texts -> array).
        keep_normalize: Leave the stages in that throw lengths away.
        runtime: Who computes, in which numbers and in how many processes, where sentence-transformers runs the model.

    Returns:
        The encoder, ready for ``embed``.

    Raises:
        OffsphereError: If there is no such model, or it cannot be used.
        ParameterError: If a runtime is asked for that this kind of model does not have.
        MissingExtraError: If a package is missing that this kind of model needs.

    Example:
        >>> encoder = load_encoder("wordllama")
        >>> encoder.description.dimension
        256
        >>> encoder.count_tokens(["wing flutter in supersonic flow", ""]).tolist()
        [7, 0]
    """
    if name == "wordllama" or name.startswith("callable:") or is_served(name):
        runtime.check_fits(name)
    if name == "wordllama":
        return load_wordllama()
    if name.startswith("callable:"):
        return FunctionEncoder(import_function(name), name)
    if is_served(name):
        return ServedEncoder(ServedName.of(name))
    source = model_source(name)
    if Path(source).is_dir():
        return _load_from_folder(Path(source), name, keep_normalize=keep_normalize, runtime=runtime)
    return _load_from_hub(source, name, keep_normalize=keep_normalize, runtime=runtime)


def model_source(name: str) -> str:
    """The folder that a name stands for, or its full name on the hub."""
    if name.startswith("package:"):
        return str(_folder_in_package(name.removeprefix("package:")))
    if Path(name).is_dir():
        return str(Path(name))
    return name if "/" in name else f"sentence-transformers/{name}"


def _load_from_folder(folder: Path, name: str, *, keep_normalize: bool, runtime: Runtime) -> Encoder:
    if is_model2vec(folder):
        runtime.check_fits(name)
        return load_model2vec(folder, name, keep_normalize=keep_normalize)
    if not (folder / "config.json").is_file() and not (folder / "modules.json").is_file():
        raise OffsphereError(f"{folder} holds no model: it has neither modules.json nor config.json")
    try:
        return SentenceEncoder(str(folder), name, keep_normalize=keep_normalize, runtime=runtime)
    except (OffsphereError, *ENDINGS):
        raise
    except BaseException as error:  # the loaders raise many kinds
        raise OffsphereError(f"{folder} holds a model that cannot be used: {first_line(error)}") from error


def _load_from_hub(full: str, name: str, *, keep_normalize: bool, runtime: Runtime) -> Encoder:
    """Load a model2vec model if its configuration says so, else a sentence-transformers model."""
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise MissingExtraError("huggingface_hub", "models") from error
    try:
        if (config := _config_of(full)) is not None and may_be_model2vec(config):
            files = ["config.json", "tokenizer.json", "model.safetensors"]
            folder = Path(snapshot_download(full, allow_patterns=files))
            if is_model2vec(folder):
                runtime.check_fits(name)
                return load_model2vec(folder, name, keep_normalize=keep_normalize)
        return SentenceEncoder(full, name, keep_normalize=keep_normalize, runtime=runtime)
    except (OffsphereError, *ENDINGS):
        raise
    except BaseException as error:  # the hub and the loaders raise many kinds
        raise OffsphereError(f"model {name!r} was not found {_search_note()}: give {ACCEPTED}") from error


def _config_of(full: str) -> Path | None:
    """The configuration of a model on the hub; nothing where its first stage alone has one."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError

    try:
        return Path(hf_hub_download(full, "config.json"))
    except EntryNotFoundError:
        return None


def _search_note() -> str:
    """Where a model was looked for in vain, in brackets, for an error."""
    if os.environ.get("HF_HUB_OFFLINE", "0") not in ("0", ""):
        return "(not a folder here, and HF_HUB_OFFLINE keeps this machine from asking the hub)"
    return "(not a folder here, and the hub does not have it or cannot be reached from this machine)"


def _folder_in_package(package: str) -> Path:
    """The model folder of an installed package: the package itself, or the first folder in it that holds a model."""
    spec = find_spec(package) if package.replace("_", "").isalnum() else None
    if spec is None or not spec.submodule_search_locations:
        raise OffsphereError(f"there is no installed package {package!r}: pip install it first, or give a folder")
    home = Path(next(iter(spec.submodule_search_locations)))
    folders = [home, *sorted(path for path in home.iterdir() if path.is_dir())]
    models = [folder for folder in folders if (folder / "modules.json").is_file() or is_model2vec(folder)]
    if not models:
        raise OffsphereError(f"the package {package!r} holds no model folder (one with modules.json)")
    return models[0]
