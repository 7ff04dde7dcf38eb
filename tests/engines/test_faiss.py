"""Flat indexes, written and read without FAISS: it writes the same bytes, and what its header claims is checked."""

from __future__ import annotations

import resource
import struct

import numpy as np
import pytest

from offsphere.base.errors import DataError, OffsphereError, VectorError
from offsphere.engines.exchange import export_store, import_vectors
from offsphere.engines.faiss import read_index
from tests.engines.conftest import ROWS

faiss = pytest.importorskip("faiss")


def flat(rows, metric=faiss.METRIC_INNER_PRODUCT):
    kinds = {faiss.METRIC_INNER_PRODUCT: faiss.IndexFlatIP, faiss.METRIC_L2: faiss.IndexFlatL2}
    index = kinds[metric](rows.shape[1]) if metric in kinds else faiss.IndexFlat(rows.shape[1], metric)
    index.add(np.ascontiguousarray(rows))
    return faiss.serialize_index(index).tobytes()


def test_the_bytes_are_those_of_faiss(tmp_path, store):
    export_store(store, str(tmp_path / "v.faiss"))
    assert (tmp_path / "v.faiss").read_bytes() == flat(ROWS)


@pytest.mark.parametrize("metric", [faiss.METRIC_INNER_PRODUCT, faiss.METRIC_L2, faiss.METRIC_L1, faiss.METRIC_Lp])
def test_a_flat_index_of_any_metric_is_read(tmp_path, metric):
    (tmp_path / "v.faiss").write_bytes(flat(ROWS, metric))
    vectors, ids = read_index(tmp_path / "v.faiss")
    assert (vectors == ROWS).all()
    assert ids is None


@pytest.mark.parametrize("factory", ["IDMap,Flat", "IVF4,Flat", "PQ3x4", "HNSW8", "SQ8", "LSH"])
def test_another_kind_of_index_is_named(tmp_path, factory):
    index = faiss.index_factory(6, factory)
    index.train(ROWS)
    if factory.startswith("IDMap"):
        index.add_with_ids(ROWS, np.arange(len(ROWS)))
    else:
        index.add(ROWS)
    faiss.write_index(index, str(tmp_path / "v.faiss"))
    with pytest.raises(DataError, match=r"of the kind 'I.{3}': only a flat index holds the vectors themselves"):
        import_vectors(str(tmp_path / "v.faiss"), tmp_path / "again")


@pytest.mark.parametrize(
    ("at", "kind", "value"),
    [(4, "i", 2**31 - 1), (4, "i", -6), (4, "i", 0), (8, "q", 2**62), (8, "q", -1), (8, "q", 0), (37, "Q", 2**61)],
)
def test_claims_that_the_file_does_not_keep_are_refused_before_anything_is_allocated(tmp_path, at, kind, value):
    content = bytearray(flat(ROWS))
    struct.pack_into(f"<{kind}", content, at, value)
    (tmp_path / "v.faiss").write_bytes(content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DataError, match="is empty, truncated or damaged: it claims"):
        import_vectors(str(tmp_path / "v.faiss"), tmp_path / "again")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10  # KiB


def test_a_truncated_index_is_refused_wherever_it_ends(tmp_path):
    content = flat(ROWS[:3])
    for end in range(len(content)):
        (tmp_path / "v.faiss").write_bytes(content[:end])
        with pytest.raises(DataError, match=r"FAISS index|truncated or damaged"):
            read_index(tmp_path / "v.faiss")


def test_ids_that_are_not_as_many_and_vectors_that_are_not_finite_are_refused(tmp_path):
    (tmp_path / "v.faiss").write_bytes(flat(ROWS))
    (tmp_path / "v.ids").write_text("a\nb\n")
    with pytest.raises(OffsphereError, match="has 300 vectors but there are 2 ids"):
        import_vectors(str(tmp_path / "v.faiss"), tmp_path / "again")
    (tmp_path / "v.ids").unlink()
    rows = ROWS.copy()
    rows[17, 2] = np.nan
    (tmp_path / "v.faiss").write_bytes(flat(rows))
    with pytest.raises(VectorError, match=r"the vector of '17' \(row 17\) is not finite"):
        import_vectors(str(tmp_path / "v.faiss"), tmp_path / "again")
    assert not (tmp_path / "again").exists()
