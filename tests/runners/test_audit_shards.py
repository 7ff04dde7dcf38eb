from __future__ import annotations

import pytest

from offsphere import CompareOptions, EmbeddedSource, audit, audit_shards
from tests.runners.corpora import Backwards, write_corpus, write_texts


def without_seconds(audited):
    values = audited.to_json()
    values.pop("provenance")  # which has the seconds that each step took
    return values


def test_an_audit_over_shards_is_that_of_one_run(tmp_path):
    source = write_corpus(tmp_path / "data", documents=2_500, parts=2)
    told = audit_shards(source, CompareOptions(seed=3), shards=3, runner=Backwards(), cache=False)
    assert without_seconds(told) == without_seconds(audit(*source.load(), seed=3, cache=False))


@pytest.mark.slow
def test_texts_are_embedded_in_parts_first(tmp_path):
    source = EmbeddedSource(str(write_texts(tmp_path / "data")), "wordllama", tmp_path / "vectors")
    told = audit_shards(source, shards=2, runner=Backwards(), cache=False)
    assert [path.name for path in sorted((tmp_path / "vectors" / "documents").iterdir()) if path.is_dir()] == [
        "00001-of-00002",
        "00002-of-00002",
    ]
    assert told.provenance["model"]["model"].startswith("wordllama")
