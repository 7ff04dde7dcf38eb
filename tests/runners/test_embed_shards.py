from __future__ import annotations

import pytest

from offsphere import EmbeddedSource, embed_shards
from offsphere.base.errors import OffsphereError, ParameterError
from tests.runners.corpora import Backwards, Dying, write_texts


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.name[0] != "." and path.is_file()
    }


def test_parts_are_the_same_bytes_whoever_makes_them_and_however_often_he_is_killed(tmp_path):
    source = EmbeddedSource(str(write_texts(tmp_path / "data")), "wordllama")
    stores = embed_shards(source, tmp_path / "one", shards=3)
    assert [store.name for store in stores] == ["queries", "00001-of-00003", "00002-of-00003", "00003-of-00003"]
    with pytest.raises(KeyboardInterrupt):
        embed_shards(source, tmp_path / "two", shards=3, runner=Dying(1))
    embed_shards(source, tmp_path / "two", shards=3, runner=Backwards())
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_a_part_that_a_worker_made_elsewhere_is_missed(tmp_path):
    class Elsewhere:
        def run(self, job, pieces):
            yield from enumerate(pieces)

    source = EmbeddedSource(str(write_texts(tmp_path / "data")), "wordllama")
    with pytest.raises(OffsphereError, match="choose an --out that all machines share"):
        embed_shards(source, tmp_path / "out", shards=2, runner=Elsewhere())
    with pytest.raises(ParameterError, match="999 shards of 300 documents"):
        embed_shards(source, tmp_path / "out", shards=999)
