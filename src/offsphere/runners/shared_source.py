"""A source of tasks and vectors as workers get it: without what was loaded here, and by paths that hold there."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from offsphere.base.digests import digest_of
from offsphere.base.errors import ParameterError
from offsphere.base.remote_path import given_path
from offsphere.base.version import __version__
from offsphere.encode.embedded_task import EmbeddedSource


def shared_source(source: EmbeddedSource) -> EmbeddedSource:
    """A source as it can be sent to workers: with absolute paths, since a relative one is of this process alone.

    Raises:
        ParameterError: Its vectors are made in memory, or lie in a search engine.
    """
    if type(source) is not EmbeddedSource:
        raise ParameterError("over shards vectors are read from files: embed them first, or leave out --on")
    vectors = given_path(source.vectors).absolute() if source.vectors is not None else None
    data, model, asking = (_there(name) for name in (source.data, source.model, source.query_model))
    assert data is not None
    return replace(source, data=data, model=model, query_model=asking, vectors=vectors)


def question_key(kind: str, source: EmbeddedSource | Path, **asked: Any) -> str:
    """A digest by which a question finds the states that an earlier run left."""
    described = asdict(source) if isinstance(source, EmbeddedSource) else {"path": source}
    values = {"kind": kind, "version": __version__, **described, **asked}
    return digest_of(f"{name} {value}".encode() for name, value in sorted(values.items()))


def _there(name: str | None) -> str | None:
    """A path that other processes find too; what is no path of this machine stays as it is."""
    return str(Path(name).absolute()) if name is not None and Path(name).exists() else name
