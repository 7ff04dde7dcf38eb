"""Strings are texts, whatever they look like.

sentence-transformers takes a string for a picture where its model takes pictures and the string looks like the address
or the path of one, or carries one (``data:image/...``), and then fetches or opens it. A document of a corpus must never
make a machine connect or read a file. So strings reach such a model marked as texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import MethodType
from typing import Any


def keep_texts(model: Any) -> Any:
    """Have a sentence-transformers model take every string for a text, for whoever calls it from now on.

    Args:
        model: The model; one that takes texts alone stays as it is.

    Returns:
        The same model.
    """
    if list(model.modalities) != ["text"]:
        model.preprocess = MethodType(preprocess, model)  # a method, so that a copy of the model has its own
        for route in getattr(model[0], "sub_modules", {}).values():
            if list(getattr(route[0], "modalities", ["text"])) == ["text"]:  # it opens nothing, and may know no marks
                route[0].preprocess = MethodType(preprocess_texts, route[0])
    return model


@contextmanager
def texts_kept(model: Any) -> Iterator[None]:
    """Have a model that is somebody else's take strings for texts for a while, and be as before afterwards."""
    stages = [model, *(route[0] for route in getattr(model[0], "sub_modules", {}).values())]
    before = [vars(stage).get("preprocess") for stage in stages]
    keep_texts(model)
    try:
        yield
    finally:
        for stage, method in zip(stages, before, strict=True):
            if method is None and "preprocess" in vars(stage):
                del stage.preprocess


def preprocess(model: Any, inputs: Sequence[Any], prompt: str | None = None, **options: Any) -> Any:
    """Do what the model's own method does, with every string marked; in its place, under its name."""
    return type(model).preprocess(model, marked(inputs), prompt=prompt, **options)


def preprocess_texts(stage: Any, inputs: Sequence[Any], prompt: str | None = None, **options: Any) -> Any:
    """Do what a stage that takes texts alone does itself, with the marks taken off; in its method's place."""
    texts = [given["text"] if isinstance(given, dict) and list(given) == ["text"] else given for given in inputs]
    return type(stage).preprocess(stage, texts, prompt=prompt, **options)


def marked(inputs: Sequence[Any]) -> list[Any]:
    """The inputs with every string marked as a text.

    Args:
        inputs: Strings, pictures, or anything else that sentence-transformers takes.

    Returns:
        The same; a string has become ``{"text": string}``.

    Example:
        >>> from offsphere.encode.text_marks import marked
        >>> marked(["http://localhost/cat.png"])
        [{'text': 'http://localhost/cat.png'}]
    """
    return [{"text": given} if isinstance(given, str) else given for given in inputs]
