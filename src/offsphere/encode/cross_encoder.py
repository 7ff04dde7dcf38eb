"""Cross-encoders of sentence-transformers: models that read two texts together and say how well they go together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.errors import MissingExtraError, OffsphereError, first_line
from offsphere.data.items import Item
from offsphere.encode.devices import usable_device
from offsphere.encode.function_digest import unknown_revision
from offsphere.encode.model_files import digest_of_model

BATCH = 32


class CrossEncoderModel:
    """A cross-encoder by folder or hub name, with one score a pair. Remote code is never run.

    Args:
        source: The folder, or the full name on the hub.
        device: Where torch computes; what it finds unless said.

    Raises:
        OffsphereError: There is no such model, or it gives several scores a pair.
        MissingExtraError: sentence-transformers is not installed.
    """

    def __init__(self, source: str, device: str | None = None) -> None:
        self.name = source
        self.model: Any = _load(source, device)
        labels = int(self.model.num_labels)
        if labels != 1:
            raise OffsphereError(
                f"the cross-encoder {source} has {labels} labels: nobody knows which of them means similar. Give one "
                "with a single score, such as cross-encoder/stsb-roberta-base or cross-encoder/ms-marco-MiniLM-L6-v2"
            )
        folder = Path(source)
        commit = getattr(getattr(self.model, "config", None), "_commit_hash", None)
        self.revision = digest_of_model(folder) if folder.is_dir() else str(commit or unknown_revision())

    def score(self, pairs: Sequence[tuple[Item, Item]]) -> Array:
        """Score pairs of texts; bigger is better.

        Raises:
            OffsphereError: The model fails on them, or gives a score that is not finite.
        """
        try:
            scores = self.model.predict(
                [list(pair) for pair in pairs], batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True
            )
        except Exception as error:  # a model of others, on whatever is in its files
            raise OffsphereError(
                f"the cross-encoder {self.name} fails on {len(pairs)} pairs ({type(error).__name__}): "
                f"{first_line(error)}"
            ) from error
        values = np.asarray(scores, np.float64).reshape(-1)
        if len(values) != len(pairs) or not np.isfinite(values).all():
            raise OffsphereError(f"the cross-encoder {self.name} gives scores that are not one finite number a pair")
        return values


def _load(source: str, device: str | None) -> Any:
    try:
        from sentence_transformers import CrossEncoder
        from transformers.utils import logging
    except ImportError as error:
        raise MissingExtraError("sentence-transformers", "models") from error
    logging.disable_progress_bar()  # type: ignore[no-untyped-call,unused-ignore]  # there is one bar, ours
    if Path(source).is_dir() and not (Path(source) / "config.json").is_file():
        raise OffsphereError(f"{source} holds no cross-encoder: it has no config.json")
    computes = str(usable_device(device)) if device is not None else None
    try:
        return CrossEncoder(source, device=computes, trust_remote_code=False)
    except Exception as error:  # the hub and the loaders raise many kinds
        raise OffsphereError(
            f"the cross-encoder {source} cannot be loaded ({first_line(error)}): give a folder or a name of the hub"
        ) from error
