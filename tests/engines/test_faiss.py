"""FAISS indexes, written and read without the package: it writes the same bytes, and what a file claims is checked."""

from __future__ import annotations

import resource
import struct

import numpy as np
import pytest

from offsphere.base.errors import DataError, OffsphereError, VectorError
from offsphere.engines.faiss_files import read_header
from offsphere.engines.faiss_vectors import read_faiss_rows
from offsphere.engines.files.exchange import export_store, import_vectors
from offsphere.engines.registry import engine_of
from tests.engines.conftest import ROWS

faiss = pytest.importorskip("faiss")

HELD = ["Flat", "IVF4,Flat", "IVF8_HNSW4,Flat", "HNSW8", "IDMap,Flat", "IDMap2,Flat", "IDMap,HNSW8", "IDMap2,IVF4,Flat"]
NUMBERS = 7000 - 3 * np.arange(len(ROWS))


def flat(rows, metric=faiss.METRIC_INNER_PRODUCT):
    kinds = {faiss.METRIC_INNER_PRODUCT: faiss.IndexFlatIP, faiss.METRIC_L2: faiss.IndexFlatL2}
    index = kinds[metric](rows.shape[1]) if metric in kinds else faiss.IndexFlat(rows.shape[1], metric)
    index.add(np.ascontiguousarray(rows))
    return faiss.serialize_index(index).tobytes()


def made(factory, rows=ROWS, numbers=NUMBERS, metric=faiss.METRIC_INNER_PRODUCT):
    """An index as FAISS makes it; one that maps ids has numbers of its own."""
    index = faiss.index_factory(rows.shape[1], factory, metric)
    index.train(rows)
    if factory.startswith("IDMap"):
        index.add_with_ids(rows, numbers[: len(rows)])
    else:
        index.add(rows)
    return index


def written(path, factory, **options):
    index = made(factory, **options)
    faiss.write_index(index, str(path))
    return index


def collection(path):
    engine, where = engine_of(f"faiss:{path}")
    return engine.open(where)


def test_the_bytes_are_those_of_faiss(tmp_path, store):
    export_store(store, str(tmp_path / "v.faiss"))
    assert (tmp_path / "v.faiss").read_bytes() == flat(ROWS)


@pytest.mark.parametrize("metric", [faiss.METRIC_INNER_PRODUCT, faiss.METRIC_L2, faiss.METRIC_L1, faiss.METRIC_Lp])
def test_a_flat_index_of_any_metric_is_read(tmp_path, metric):
    (tmp_path / "v.faiss").write_bytes(flat(ROWS, metric))
    vectors, numbers = read_faiss_rows(tmp_path / "v.faiss")
    assert (vectors == ROWS).all()
    assert numbers is None
    header = read_header(tmp_path / "v.faiss")
    assert (header.rows, header.width, header.metric, header.is_flat) == (*ROWS.shape, metric, True)


@pytest.mark.parametrize("metric", [faiss.METRIC_INNER_PRODUCT, faiss.METRIC_L2])
@pytest.mark.parametrize("factory", HELD)
def test_what_holds_vectors_is_imported_with_its_ids(tmp_path, factory, metric):
    index = written(tmp_path / "v.faiss", factory, metric=metric)
    store = import_vectors(str(tmp_path / "v.faiss"), tmp_path / "again")
    assert (np.asarray(store.vectors) == ROWS).all()
    assert list(store.ids) == [str(n) for n in (NUMBERS if factory.startswith("IDMap") else range(len(ROWS)))]
    if factory == "IDMap2,Flat":  # FAISS itself gives the same vector for the same id
        for row in (0, 17, 299):
            assert (index.reconstruct(int(NUMBERS[row])) == store.vectors[row]).all()


def test_numbers_that_inverted_lists_were_given_are_their_ids(tmp_path):
    index = faiss.index_factory(6, "IVF4,Flat")
    index.train(ROWS)
    index.add_with_ids(ROWS, NUMBERS)
    faiss.write_index(index, str(tmp_path / "v.faiss"))
    vectors, numbers = read_faiss_rows(tmp_path / "v.faiss")
    assert (numbers == np.sort(NUMBERS)).all()
    assert (vectors == ROWS[np.argsort(NUMBERS)]).all()


def test_lists_of_which_most_are_empty_and_a_hashed_map_are_read(tmp_path):
    index = faiss.index_factory(6, "IVF64,Flat")
    index.train(ROWS)
    index.set_direct_map_type(faiss.DirectMap.Hashtable)
    index.add_with_ids(ROWS[:5], NUMBERS[:5])
    faiss.write_index(index, str(tmp_path / "v.faiss"))
    assert b"sprs" in (tmp_path / "v.faiss").read_bytes()
    vectors, numbers = read_faiss_rows(tmp_path / "v.faiss")
    assert (vectors == ROWS[:5][::-1]).all()
    assert numbers.tolist() == NUMBERS[:5][::-1].tolist()


@pytest.mark.parametrize("factory", ["PQ3x4", "SQ8", "LSH", "HNSW8_SQ8", "IVF4,SQ8", "IDMap,SQ8", "PCA4,Flat"])
def test_another_kind_of_index_is_named(tmp_path, factory):
    written(tmp_path / "v.faiss", factory, metric=faiss.METRIC_L2)
    with pytest.raises(DataError, match=r"a FAISS index of the kind 'I.{3}': it holds codes"):
        import_vectors(str(tmp_path / "v.faiss"), tmp_path / "again")


@pytest.mark.parametrize("factory", HELD)
def test_a_search_of_anybodys_index_gives_the_ids_and_scores_that_faiss_gives(tmp_path, factory):
    index = written(tmp_path / "v.faiss", factory)
    scores, numbers = index.search(ROWS[:20], 5)
    with collection(tmp_path / "v.faiss") as opened:
        hits = opened.search(ROWS[:20], 5)
    assert hits.ids == [[str(number) for number in row if number >= 0] for row in numbers]
    assert all(np.allclose(ours, theirs[: len(ours)]) for ours, theirs in zip(hits.scores, scores, strict=True))


@pytest.mark.parametrize(
    ("at", "kind", "value"),
    [(4, "i", 2**31 - 1), (4, "i", -6), (4, "i", 0), (8, "q", 2**62), (8, "q", -1), (8, "q", 0), (37, "Q", 2**61)],
)
def test_claims_that_the_file_does_not_keep_are_refused_before_anything_is_allocated(tmp_path, at, kind, value):
    content = bytearray(flat(ROWS))
    struct.pack_into(f"<{kind}", content, at, value)
    (tmp_path / "v.faiss").write_bytes(content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DataError, match=r"truncated or damaged: it claims|has no vectors"):
        import_vectors(str(tmp_path / "v.faiss"), tmp_path / "again")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10  # KiB


@pytest.mark.parametrize("factory", HELD)
def test_a_truncated_index_is_refused_wherever_it_ends(tmp_path, factory):
    content = faiss.serialize_index(made(factory, rows=ROWS[:40])).tobytes()
    path = tmp_path / "v.faiss"
    for end in [*range(200), *range(200, len(content), 37), len(content) - 1]:
        path.write_bytes(content[:end])
        with pytest.raises(DataError, match=r"FAISS index|truncated or damaged"):
            read_faiss_rows(path)
    path.write_bytes(content + b"\0")
    with pytest.raises(DataError, match="1 bytes follow its end"):
        read_faiss_rows(path)


@pytest.mark.parametrize("factory", HELD)
def test_a_damaged_index_is_one_line_or_still_vectors_and_never_more_memory_than_the_file(tmp_path, factory):
    content = faiss.serialize_index(made(factory, rows=ROWS[:40])).tobytes()
    path, lines = tmp_path / "v.faiss", []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for at in range(len(content)):
        if at > 400 and at % 11:
            continue
        damaged = bytearray(content)
        damaged[at] ^= 0xFF
        path.write_bytes(damaged)
        try:
            vectors, _ = read_faiss_rows(path)
        except DataError as error:
            lines.append(str(error))
        else:
            assert vectors.shape[1] == ROWS.shape[1]
    assert len(lines) > 20
    assert not any("\n" in line for line in lines)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10  # KiB


@pytest.mark.parametrize("factory", ["HNSW8", "IDMap,HNSW8"])
def test_links_that_lead_out_of_a_graph_are_refused_before_faiss_follows_them(tmp_path, factory):
    index = made(factory)
    graph = faiss.downcast_index(index.index if factory.startswith("IDMap") else index)
    links = faiss.vector_to_array(graph.hnsw.neighbors)
    content = faiss.serialize_index(index).tobytes()
    place = content.index(links.tobytes())
    for value in (len(ROWS), 2**31 - 1, -2):
        damaged = bytearray(content)
        struct.pack_into("<i", damaged, place + 4 * 5, value)
        (tmp_path / "v.faiss").write_bytes(damaged)
        with collection(tmp_path / "v.faiss") as opened, pytest.raises(DataError, match="the links of its graph"):
            opened.search(ROWS[:1], 5)


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


def test_an_index_has_no_fields_that_could_be_named(tmp_path):
    engine, where = engine_of(f"faiss:{tmp_path}/v.faiss")
    with pytest.raises(OffsphereError, match=r"has no fields: leave --id-field 'docid' out"):
        engine.open(where, id_field="docid")
