"""A column of ids answers as a list of texts does, in a fifth of its memory."""

import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offsphere import OffsphereError, RankingTask
from offsphere.data import id_column
from offsphere.data.id_column import IdColumn, same_ids
from offsphere.data.items import ItemList
from offsphere.data.judgments import Judgment

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
some_ids = st.lists(names, max_size=40)


@pytest.fixture(autouse=True)
def few_at_a_time(monkeypatch):
    """Columns of a few ids have several pieces too."""
    monkeypatch.setattr(id_column, "TOGETHER", 7)


@given(some_ids, st.integers(-50, 50), st.slices(40))
def test_a_column_is_the_sequence_that_it_was_made_of(ids, row, rows):
    column = IdColumn.of(iter(ids))
    assert list(column) == ids
    assert len(column) == len(ids)
    assert column == ids
    assert ids == column
    assert list(column[rows]) == ids[rows]
    if -len(ids) <= row < len(ids):
        assert column[row] == ids[row]
    else:
        with pytest.raises(IndexError):
            column[row]


@given(some_ids, some_ids, st.integers(0, 40))
def test_columns_are_equal_where_lists_are_wherever_their_parts_end(ids, others, cut):
    joined = IdColumn.joined([ids[:cut], IdColumn.of(ids[cut:])])
    assert joined == IdColumn.of(ids)
    assert (joined == IdColumn.of(others)) == (ids == others)
    assert (joined == others) == (ids == others)
    assert same_ids(others, joined) == same_ids(joined, others) == (ids == others)


@given(some_ids, st.sets(names), st.integers(0, 2))
def test_rows_are_those_of_a_table_of_all_ids(ids, wanted, half):
    ids, wanted = list(dict.fromkeys(ids)), {*wanted, *ids[::2]} | ({"\ud800"} if half else set())
    rows = {name: row for row, name in enumerate(ids)}
    assert IdColumn.of(ids).rows_of(wanted) == {name: rows[name] for name in wanted if name in rows}


@given(some_ids)
def test_what_stands_there_twice_is_what_a_counter_says(ids):
    repeated = IdColumn.of(ids).repeated()
    most = max(Counter(ids).values(), default=0)
    if most < 2:
        assert repeated is None
    else:
        name, times = repeated
        assert (times, ids.count(name)) == (most, most)


def test_ids_of_one_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr(id_column.IdPart, "hashes", lambda part: np.zeros(len(part.starts) - 1, np.uint64))
    ids = [f"d{row}" for row in range(20)]
    assert IdColumn.of(ids).repeated() is None
    assert IdColumn.of([*ids, "d7"]).repeated() == ("d7", 2)
    assert IdColumn.of(ids).rows_of(["d3", "e3"]) == {"d3": 3}


def test_hashes_of_numbered_documents_are_distinct():
    """A polynomial could fall for runs of ids that differ in a letter or two."""
    part = next(id_column._parts_of(iter([f"doc-{row:07}" for row in range(7)])))
    assert len(np.unique(part.hashes())) == 7
    column = IdColumn.of(f"doc-{row:07}" for row in range(200_000))
    hashes = np.concatenate([piece.hashes() for piece in column.pieces()])
    assert len(np.unique(hashes)) == 200_000


def test_half_a_character_is_refused():
    with pytest.raises(UnicodeEncodeError):
        IdColumn.of(["\ud800"])


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        (["d1", "d2", "d1"], "there: document id 'd1' stands there 2 times: ids must not repeat"),
        (["d1", "", "d3"], "there: the document in row 1 has an empty id: give it one"),
        (["d1", "d\t2"], r"there: document id 'd\t2' holds a tab or a line end: no table could name it"),
        (["d2"], "somewhere: judgment for unknown document 'd1' (1 such in all)"),
        ([], "there lists no documents: the corpus is empty"),
    ],
)
@pytest.mark.parametrize("kind", [list, IdColumn.of])
def test_ids_of_a_column_are_refused_in_the_words_that_ids_of_a_list_are(kind, ids, told):
    queries, documents = ItemList(["q1"]), ItemList(kind(ids), None, "there")
    with pytest.raises(OffsphereError) as refused:
        RankingTask.build("task", queries, documents, [Judgment("q1", "d1", 1.0, "somewhere")])
    assert str(refused.value).startswith(told)


def test_a_task_of_a_column_is_that_of_a_list(monkeypatch):
    monkeypatch.undo()
    ids = [f"d{row}" for row in range(1_000)]
    judged = [Judgment(f"q{row % 9}", f"d{row * 13}", 1.0) for row in range(50)]
    listed, lean = (
        RankingTask.build("task", ItemList([f"q{row}" for row in range(9)]), ItemList(kind(ids)), judged)
        for kind in (list, IdColumn.of)
    )
    assert lean.digest() == listed.digest()
    assert lean.judgments.documents.tolist() == listed.judgments.documents.tolist()


def test_a_document_takes_few_bytes_while_a_task_is_made(monkeypatch):
    monkeypatch.undo()
    count = 800_000

    def grown(ids):
        tracemalloc.start()
        column = ids()
        task = RankingTask.build("task", ItemList(["q1"]), ItemList(column), [Judgment("q1", "doc-0000007", 1.0)])
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert task.judgments.documents.tolist() == [7]
        return peak / count

    lean = grown(lambda: IdColumn.of(f"doc-{row:07}" for row in range(count)))
    assert lean < 45  # 11 letters, 8 bytes where it begins, 8 for its hash
    assert grown(lambda: [f"doc-{row:07}" for row in range(count)]) > 3 * lean
