"""All formats by their names: who adds one writes it into the module of its kind in ``tests/fuzz/formats``."""

from __future__ import annotations

from tests.fuzz.formats import (
    export_formats,
    linked_formats,
    model_formats,
    picture_formats,
    saved_formats,
    store_formats,
    task_formats,
    vector_formats,
)
from tests.fuzz.subject import SUBJECTS

KINDS = (
    vector_formats,
    export_formats,
    store_formats,
    saved_formats,
    model_formats,
    task_formats,
    linked_formats,
    picture_formats,
)

__all__ = ["KINDS", "SUBJECTS"]
