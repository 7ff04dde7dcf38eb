"""Files that store fewer bits: the index is of the kind that was asked for, as its own package says, and verified."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scripts import fewer_bits
from scripts.fewer_bits import HOW

from offsphere.engines.registry import ENGINES, engine_of
from offsphere.engines.shipping.corpus import Corpus
from offsphere.engines.shipping.exporting import export
from tests.engines import engine_laws as laws
from tests.processes import ROOT

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


def page_cells():
    """The table of the page, by engine: what stands below each form."""
    lines = [line for line in (ROOT / "docs" / "engines.md").read_text().splitlines() if line.startswith("|")]
    cells = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
    start = cells.index(fewer_bits.HEAD)
    return {row[0]: dict(zip(fewer_bits.FORMS, row[1:-1], strict=True)) for row in cells[start + 2 :][: len(HOW)]}


def test_the_page_has_a_number_for_what_an_export_stores_and_says_what_engines_have_beside():
    shown = page_cells()
    assert set(shown) == set(HOW)
    for engine in ENGINES:
        if engine.open is None:
            continue
        forms = engine.at(engine.example).stored_forms
        if engine.name not in shown:
            assert forms == ("float32",), engine.name
            continue
        for form, cell in shown[engine.name].items():
            assert bool(re.search(r"\.\d\d", cell)) == (form in forms), (engine.name, form)
            own = (engine.name, form) in fewer_bits.THEIR_OWN
            assert (cell == fewer_bits.NOT_USED) == own, (engine.name, form)


def test_what_an_export_does_not_use_is_in_the_packages():
    """RaBitQ, bits that somebody made, and columns of other numbers: the page may not say that an engine has none."""
    faiss, usearch = pytest.importorskip("faiss"), pytest.importorskip("usearch.index")
    pymilvus = pytest.importorskip("pymilvus")
    assert faiss.IndexRaBitQ
    assert usearch.ScalarKind.B1
    assert {"FLOAT16_VECTOR", "BINARY_VECTOR"} <= set(pymilvus.DataType.__members__)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the packages
@pytest.mark.parametrize(("prefix", "form"), [("faiss", "float16"), ("faiss", "int8"), ("usearch", "int8")])
def test_the_shares_of_exact_indexes_on_the_page_are_those_of_a_run(tmp_path, embedded, prefix, form):
    pytest.importorskip(prefix)
    target = f"{prefix}:{tmp_path}/x.{prefix}"
    engine, _ = engine_of(target)
    task, vectors = embedded("cranfield")
    corpus = Corpus.of(vectors, list(task.document_ids))
    assert fewer_bits.share(target, form, "exact", corpus) == page_cells()[engine.name][form].partition(" / ")[0]
