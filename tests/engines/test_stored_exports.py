"""Files that store fewer bits: the index is of the kind that was asked for, as its own package says, and verified."""

from __future__ import annotations

import numpy as np
import pytest

from offsphere.engines.exporting import export
from offsphere.engines.registry import engine_of
from tests.engines import engine_laws as laws

DOCUMENTS, QUERIES = laws.vectors_of(5, 2_000, 16), laws.vectors_of(6, 40, 16)
ROUNDING = {"float16": 1e-3, "int8": 2e-2}  # of the largest score


@pytest.mark.parametrize("stored", ["float16", "int8"])
@pytest.mark.parametrize(
    ("kind", "made"),
    [("exact", "IndexScalarQuantizer"), ("graph", "IndexHNSWSQ"), ("lists", "IndexIVFScalarQuantizer")],
)
def test_faiss_stores_codes_in_every_index(tmp_path, kind, made, stored):
    faiss = pytest.importorskip("faiss")
    target = f"faiss:{tmp_path}/v.faiss"
    done = export("cosine", DOCUMENTS, target, queries=QUERIES, index=kind, stored=stored, goal=0.9)
    assert done.passed
    assert done.verification.score_error < ROUNDING[stored]
    index = faiss.read_index(str(tmp_path / "v.faiss"))
    assert type(index).__name__ == made
    storage = faiss.downcast_index(index.storage) if kind == "graph" else index
    assert storage.code_size == {"float16": 32, "int8": 16}[stored]
    engine, where = engine_of(target)
    with engine.open(where) as collection:
        assert collection.facts().stored == "codes"
    laws.check_snippet(done, target, QUERIES)


@pytest.mark.parametrize(("stored", "word"), [("float16", "f16"), ("int8", "i8")])
def test_usearch_stores_what_was_asked_for(tmp_path, stored, word):
    usearch = pytest.importorskip("usearch.index")
    done = export("cosine", DOCUMENTS, f"usearch:{tmp_path}/v.usearch", queries=QUERIES, stored=stored, goal=0.9)
    assert done.passed
    assert done.verification.score_error < ROUNDING[stored]
    assert usearch.Index.metadata(str(tmp_path / "v.usearch"))["kind_scalar"].name.lower() == word
    laws.check_snippet(done, f"usearch:{tmp_path}/v.usearch", QUERIES)


def test_an_export_that_lost_too_much_says_so(tmp_path):
    """usearch writes int8 for vectors of length one: by inner product, longer ones are cut off at its ends."""
    pytest.importorskip("usearch")
    done = export("dot", DOCUMENTS * np.float32(50), f"usearch:{tmp_path}/v.usearch", queries=QUERIES, stored="int8")
    assert not done.passed
    assert "store the vectors as float32: they are stored as int8" in done.advice
