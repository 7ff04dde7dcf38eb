"""Models to train: what ``--model`` names, as a sentence-transformers model in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from offsphere.base.errors import ENDINGS, OffsphereError, ParameterError, first_line
from offsphere.encode.devices import usable_device
from offsphere.encode.model_files import digest_of_model
from offsphere.encode.sentence import load_sentence_transformer
from offsphere.encode.sources import model_source
from offsphere.encode.static import StaticEncoder, is_model2vec, load_model2vec, load_wordllama
from offsphere.learning.objective.gradient_control import cut_initialize

SCRATCH = "scratch:"  # before the name of an untrained image tower
AT_ONCE = 1_024  # texts whose tokens are counted at a time


def load_model(name: str, device: str | None = None) -> Any:
    """Load a model by hub name or folder, the model inside a package, or a static one (wordllama, model2vec).

    ``scratch:resnet:32`` is an untrained image tower; ``TEXT+IMAGE`` joins a model of texts and one of images. It is on
    the device that is named, or on what torch finds.
    """
    computes = training_device(device)
    return _loaded(name).to(computes)


def training_device(name: str | None) -> torch.device:
    """The device to train on. The trainer takes the first card that it sees, so that another one is not named here.

    Raises:
        ParameterError: There is no such device, or it is a card with another number.
    """
    device = usable_device(name)
    if device.index:
        raise ParameterError(
            f"device {name!r}: training takes the first card it sees: set CUDA_VISIBLE_DEVICES={device.index}, and "
            f"name {device.type}"
        )
    return device


def _loaded(name: str) -> Any:
    """A model by its name, wherever its maker puts it."""
    text, joined, image = name.partition("+")
    if joined and not Path(name).exists():
        from offsphere.learning.encoders.two_towers import two_towers

        return two_towers(_loaded(text), _loaded(image))
    if name.startswith(SCRATCH):
        from offsphere.learning.encoders.image_towers import tower_of_name

        return tower_of_name(name)
    if name.startswith("callable:"):
        raise OffsphereError(f"{name} is a function, whose weights nobody knows: give a model to train")
    if name == "wordllama":
        return static_model(load_wordllama())
    source = model_source(name)
    if Path(source).is_dir() and is_model2vec(Path(source)):
        return static_model(load_model2vec(Path(source), name))
    try:
        return load_sentence_transformer(source)
    except (OffsphereError, *ENDINGS):
        raise
    except BaseException as error:  # the loaders raise many kinds
        raise OffsphereError(f"model {name!r} cannot be loaded: {first_line(error)}") from error


def model_digest(name: str) -> bytes:
    """A digest of the model that a name stands for on this machine; nothing where it is on the hub."""
    text, joined, image = name.partition("+")
    if joined and not Path(name).exists():
        return model_digest(text) + model_digest(image)
    if name.startswith(SCRATCH):
        return name.encode()
    if name == "wordllama":
        return load_wordllama().description.revision.encode()
    folder = Path(model_source(name))
    return digest_of_model(folder).encode() if folder.is_dir() else b""


def static_model(encoder: StaticEncoder) -> Any:
    """A table of token vectors as a sentence-transformers model: the mean of a text's tokens."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    table = encoder.table[encoder.rows] * encoder.weights[:, None]
    stage = StaticEmbedding(encoder.tokenizer, embedding_weights=np.ascontiguousarray(table))
    return SentenceTransformer(modules=[stage])


def forget(model: Any, seed: int, cut: float = 1.0) -> None:
    """Set weights as before any training: a transformer's own initialisation, a static table at random."""
    from sentence_transformers.base.modules import Dense
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from transformers import PreTrainedModel

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for module in model.modules():
            if isinstance(module, PreTrainedModel):
                for part in (*module.modules(), *module.parameters(), *module.buffers()):
                    setattr(part, "_is_hf_initialized", False)  # noqa: B010  # or it would stay as it was loaded
                for part in module.modules():
                    module._init_weights(part)  # type: ignore[no-untyped-call]  # noqa: SLF001
            elif isinstance(module, StaticEmbedding):
                nn.init.normal_(module.embedding.weight, std=module.embedding_dim**-0.5)
            elif isinstance(module, Dense):
                module.linear.reset_parameters()
    if cut != 1:
        cut_initialize(model, cut)


def set_pooling(model: Any, mode: str) -> None:
    """Let a model pool its tokens by mean, cls or max."""
    from sentence_transformers.sentence_transformer.modules import Pooling

    for position, stage in enumerate(model):
        if isinstance(stage, Pooling):
            options = {**stage.get_config_dict(), "pooling_mode": mode}
            model[position] = Pooling(options.pop("embedding_dimension"), **options)
            return
    raise ParameterError(f"pooling = {mode}: the model has no pooling stage")


def set_prompts(model: Any, prompts: tuple[str, ...]) -> None:
    """Let a model put prompts before queries and documents; none change nothing."""
    if prompts:
        model.prompts = {**model.prompts, "query": prompts[0], "document": prompts[1]}


def share_cut(model: Any, texts: list[str]) -> float:
    """The share of texts that are longer than the model looks at."""
    limit, tokenizer = model.max_seq_length, model.tokenizer
    if not callable(tokenizer) or limit is None or limit == float("inf") or not texts:
        return 0.0
    longer = 0
    for start in range(0, len(texts), AT_ONCE):
        tokens = tokenizer(texts[start : start + AT_ONCE], truncation=True, max_length=int(limit) + 1)["input_ids"]
        longer += sum(len(ids) > limit for ids in tokens)
    return longer / len(texts)
