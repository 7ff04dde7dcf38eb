"""Targets: read as they are written, refused in one line where a part is missing, never shown with a password."""

from __future__ import annotations

import pytest

from offsphere.base.errors import OffsphereError, UnknownNameError
from offsphere.base.passwords import hide_password
from offsphere.cli.options.shared_options import TARGET_HELP
from offsphere.engines.registry import ENGINES, engine_of
from offsphere.engines.target import Target


@pytest.mark.parametrize(
    ("text", "location", "name"),
    [
        ("postgres:postgresql://me:secret@localhost:5432/db:docs", "postgresql://me:secret@localhost:5432/db", "docs"),
        ("postgres:host=/tmp dbname=x:public.docs", "host=/tmp dbname=x", "public.docs"),
        ("qdrant:http://localhost:6333:docs", "http://localhost:6333", "docs"),
        ("qdrant:some/folder:docs", "some/folder", "docs"),
    ],
)
def test_a_target_is_read(text, location, name):
    target = Target.of(text, named=True)
    assert (target.location, target.name) == (location, name)
    assert "secret" not in str(target)
    assert "secret" not in repr(target)


@pytest.mark.parametrize("text", ["qdrant", "qdrant:", "qdrant:folder", "qdrant::docs", "qdrant:http://localhost:6333"])
def test_half_a_target_is_refused_in_one_line(text):
    with pytest.raises(OffsphereError) as refused:
        Target.of(text, named=True)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "message",
    [
        'connection to "postgresql://me:s3cret@host:5432/db" failed',
        "postgresql://me:s3cret@host/db",
        "host=x password=s3cret dbname=y",
        "https://x/?api_key=s3cret&b=1",
        "postgresql://me:s3cr@s3cret@host/db",
    ],
)
def test_no_password_is_ever_shown(message):
    assert "s3cret" not in hide_password(message)


def test_the_help_names_every_engine_as_it_is_written():
    assert ", ".join(engine.form for engine in ENGINES if engine.open is not None) == TARGET_HELP


def test_an_unknown_engine_is_told_with_what_was_meant():
    with pytest.raises(UnknownNameError, match="did you mean faiss"):
        engine_of("fais:docs.faiss")
    assert engine_of("docs.faiss")[0].name == "FAISS"
