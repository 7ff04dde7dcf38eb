"""Tables of texts with their vectors, as embedding pipelines leave them: a task and its vectors from one file."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offsphere as osp
from offsphere.base.errors import DataError, VectorError
from offsphere.data.embedded_table import EmbeddedTable
from offsphere.data.formats.known_items import MADE_FROM_BEGINNINGS, MADE_FROM_TITLES
from offsphere.encode.measure_input import load_measure_input
from tests.encode.test_embedded_task import MODEL, letters

NAMES = ["about wings that flutter", "about taxes that rose", "about cats on mats"]
TEXTS = [
    "Wings flutter in a flow. Nobody knows how long they do so, though many people have measured it since.",
    "Taxes rose again in May. They will rise in June too, and so it goes on and on for years to come.",
    "A cat sat on a mat. It was fed well, and a mouse that came by was not, which is how things are.",
]
ROWS = letters(TEXTS).astype(np.float64)


def write(path, **columns):
    pq.write_table(pa.table(columns), path)
    return path


def test_titles_ask_for_texts_and_both_have_vectors_in_one_file(tmp_path):
    path = write(
        tmp_path / "wiki.parquet",
        id=[7, 8, 9],
        url=["u", "v", "w"],
        title=NAMES,
        text=TEXTS,
        title_vector=list(letters(NAMES)),
        content_vector=list(ROWS),
        vector_id=[3, 2, 1],
    )
    task = osp.load_task(path)
    vectors = osp.load_vectors(path, task)
    assert (task.name, task.made, task.query_ids) == ("wiki", MADE_FROM_TITLES, ["7", "8", "9"])
    assert list(task.query_texts) == NAMES
    np.testing.assert_array_equal(vectors.queries, letters(NAMES))
    np.testing.assert_array_equal(vectors.documents, ROWS)
    (again, same) = osp.load_embedded(path)
    assert again.document_ids == task.document_ids
    np.testing.assert_array_equal(same.queries, vectors.queries)
    assert load_measure_input(osp.EmbeddedSource(str(path))).task is not None


def test_first_sentences_ask_for_the_texts_that_they_begin_since_these_were_embedded(tmp_path):
    path = write(tmp_path / "chunks.parquet", chunk=TEXTS, embedding=list(ROWS))
    task = osp.load_task(path)
    assert task.made == MADE_FROM_BEGINNINGS
    assert list(task.query_texts) == [text.partition(".")[0] + "." for text in TEXTS]
    assert list(task.document_texts) == TEXTS
    assert task.document_ids == ["0", "1", "2"]


def test_a_model_embeds_what_asks_and_no_text_again(tmp_path, monkeypatch):
    path = write(tmp_path / "articles.parquet", id=["a", "b", "c"], title=NAMES, text=TEXTS, embedding=list(2 * ROWS))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = osp.EmbeddedSource(str(path), MODEL)
    task, vectors = source.load()
    np.testing.assert_array_equal(vectors.queries, letters(NAMES))
    np.testing.assert_array_equal(vectors.documents, 2 * ROWS)  # of the file, not of the model
    assert [store.name for store in source.folder_of(task).iterdir() if store.name[0] != "."] == ["queries"]
    assert source.made_by(task)["model"] == MODEL


def test_vectors_that_are_named_come_before_those_of_the_table(tmp_path):
    path = write(tmp_path / "articles.parquet", id=["a", "b", "c"], title=NAMES, text=TEXTS, embedding=list(2 * ROWS))
    _, made = osp.EmbeddedSource(str(path), MODEL, tmp_path / "v").load()
    np.testing.assert_array_equal(made.documents, letters(TEXTS))
    _, read = osp.EmbeddedSource(str(path), None, tmp_path / "v").load()
    np.testing.assert_array_equal(read.documents, made.documents)


def test_a_folder_of_tables_is_one_corpus_and_near_duplicates_lose_their_vectors_too(tmp_path):
    for part in range(2):
        rows = slice(2 * part, 2 * part + 2)
        texts, vectors = [*TEXTS, TEXTS[0]][rows], np.concatenate([ROWS, ROWS[:1]])[rows]
        write(tmp_path / f"part-{part + 1}-of-2.parquet", content=texts, content_vector=list(vectors))
    task = osp.load_task(tmp_path)
    assert task.document_ids == ["0", "1", "2"]
    np.testing.assert_array_equal(EmbeddedTable.of(tmp_path).vectors("document").vectors[:], [*ROWS, ROWS[0]])
    (tmp_path / "part-2-of-2.parquet").unlink()
    with pytest.raises(DataError, match="lacks the part part-2-of-2"):
        osp.load_task(tmp_path)


def test_without_anything_that_asks_the_model_is_asked_for(tmp_path):
    path = write(tmp_path / "articles.parquet", id=["a", "b", "c"], text=TEXTS, embedding=list(ROWS))
    with pytest.raises(DataError, match=r"none of what asks: name the model that made them with --model"):
        osp.load_embedded(path)
    assert load_measure_input(osp.EmbeddedSource(str(path))).vectors.vectors.shape == ROWS.shape


def test_a_model_of_another_width_made_other_vectors(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = write(tmp_path / "articles.parquet", text=TEXTS, embedding=list(np.ones((3, 5))))
    with pytest.raises(VectorError, match=r"has vectors of 5 dimensions, and .* makes such of 6: name the model"):
        osp.EmbeddedSource(str(path), MODEL).load()


@pytest.mark.parametrize(
    "columns",
    [
        {"text": TEXTS},
        {"text": TEXTS, "tokens": [[1], [2], [3]]},
        {"url": TEXTS, "embedding": list(ROWS)},
        {"text": TEXTS, "one": list(ROWS), "other": list(ROWS)},
        {"text": [1, 2, 3], "embedding": list(ROWS)},
    ],
)
def test_what_lacks_texts_or_does_not_say_which_vectors_are_theirs_is_no_such_table(tmp_path, columns):
    assert EmbeddedTable.of(write(tmp_path / "some.parquet", **columns)) is None


def test_the_sides_of_a_task_are_no_parts_of_a_corpus(tmp_path):
    for side in ("queries", "documents"):
        write(tmp_path / f"{side}.parquet", id=["a", "b", "c"], text=TEXTS, embedding=list(ROWS))
    assert EmbeddedTable.of(tmp_path) is None
    (tmp_path / "queries.parquet").unlink()
    assert osp.load_task(tmp_path).units == 3


@pytest.mark.parametrize("name", ["vectors.npy", "vectors.npz", "vectors.parquet", "vectors.safetensors", "parts"])
def test_vectors_alone_are_told_what_can_be_done_with_them(tmp_path, name):
    from safetensors.numpy import save_file

    rows = np.ones((3, 2), np.float32)
    path = tmp_path / name
    match path.suffix:
        case ".npy":
            np.save(path, rows)
        case ".npz":
            np.savez(path, vectors=rows)
        case ".parquet":
            write(path, embedding=list(rows))
        case ".safetensors":
            save_file({"vectors": rows}, path)
        case _:
            path.mkdir()
            np.save(path / "documents.npy", rows)
            path /= "documents.npy"
    with pytest.raises(DataError, match=f"look at them with offsphere measure {path}; to audit them name judgments"):
        osp.load_task(tmp_path / name)
    assert load_measure_input(osp.EmbeddedSource(str(path))).vectors.vectors.shape == (3, 2)
