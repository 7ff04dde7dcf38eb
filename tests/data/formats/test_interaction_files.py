"""Interactions as tasks: what is held out, what a user must not get, and what a table can have wrong."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offsphere as osp
from offsphere.base.errors import DataError, OffsphereError

ROWS = [  # ann has four items, bob three, cat two, dan one
    ("ann", "a", 5, 10),
    ("ann", "b", 1, 40),
    ("ann", "c", 4, 20),
    ("bob", "a", 3, 5),
    ("bob", "c", 5, 9),
    ("bob", "d", 2, 7),
    ("cat", "b", 5, 1),
    ("cat", "a", 4, 2),
    ("dan", "a", 4, 3),
    ("ann", "d", 5, 30),
]


def write(folder, rows, header="user\titem\trating\ttimestamp", name="interactions.tsv"):
    lines = [*([header] if header else []), *("\t".join(map(str, row)) for row in rows)]
    (folder / name).write_text("".join(f"{line}\n" for line in lines))
    return folder


def links(task, judgments, ids):
    pairs = zip(judgments.queries.tolist(), judgments.documents.tolist(), strict=True)
    return {(ids[source], task.document_ids[document]) for source, document in pairs}


def test_the_last_interaction_in_time_is_held_out_and_the_others_are_known(tmp_path):
    task = osp.load_task(write(tmp_path, ROWS))
    assert links(task, task.judgments, task.query_ids) == {("ann", "b"), ("bob", "c"), ("cat", "a")}
    known = links(task, task.known, task.listed_query_ids)
    assert known == {(user, item) for user, item, *_ in ROWS} - {("ann", "b"), ("bob", "c"), ("cat", "a")}
    assert links(task, task.excluded, task.query_ids) == {pair for pair in known if pair[0] != "dan"}
    assert (task.left_out, task.symmetric, task.family.roles) == (1, False, "two roles")
    assert task.warnings()[0] == "1 users or nodes have too few links to hold one out: they are learned from alone"


@pytest.mark.parametrize(("suffix", "sign"), [(".tsv", "\t"), (".csv", ",")])
def test_the_first_row_of_a_table_without_a_header_keeps_its_capitals(tmp_path, suffix, sign):
    """Ann stood in for two users: one of the first row, in lower case, and one of all others."""
    rows = [(f"{user}", f"Item {item}") for user in ("Ann", "Bob", "Cid") for item in "ABCDE"]
    (tmp_path / f"interactions{suffix}").write_text("".join(f"{user}{sign}{item}\n" for user, item in rows))
    task = osp.load_task(tmp_path)
    assert sorted(task.document_ids) == [f"Item {item}" for item in "ABCDE"]
    assert len(task.known.relevant) == 3
    assert {*task.query_ids} <= {"Ann", "Bob", "Cid"}


@pytest.mark.parametrize("suffix", ["tsv", "csv", "parquet"])
@pytest.mark.parametrize("header", [True, False])
def test_every_format_and_a_table_without_a_header_say_the_same(tmp_path, suffix, header):
    if suffix == "parquet":
        columns = dict(zip(("User", "item_id", "rating", "timestamp"), zip(*ROWS, strict=True), strict=True))
        pq.write_table(
            pa.table({name: list(values) for name, values in columns.items()}), tmp_path / "interactions.parquet"
        )
    else:
        sign = "," if suffix == "csv" else "\t"
        head = f"userId{sign}item{sign}rating{sign}timestamp\n" if header else ""
        text = head + "".join(f"{sign.join(map(str, row))}\n" for row in ROWS)
        (tmp_path / f"interactions.{suffix}").write_text(text)
    task = osp.load_task(tmp_path)
    assert links(task, task.judgments, task.query_ids) == {("ann", "b"), ("bob", "c"), ("cat", "a")}


def test_without_times_a_seeded_fifth_is_held_out(tmp_path):
    rng = np.random.default_rng(0)
    rows = [(f"u{user}", f"i{item}") for user in range(20) for item in rng.permutation(40)[: 3 + user]]
    write(tmp_path, rows, "user\titem")
    task, again, other = (osp.load_task(f"{tmp_path}{more}") for more in ("", "?seed=0", "?seed=1"))
    counts = {f"u{user}": 3 + user for user in range(20)}
    for name, relevant in zip(task.query_ids, task.judgments.relevant, strict=True):
        assert relevant == max(1, round(0.2 * counts[name]))
    assert set(task.query_ids) == {name for name, count in counts.items() if count >= 5}
    assert task.digest() == again.digest() != other.digest()
    assert len(task.known.grades) + len(task.judgments.grades) == len(rows)


def test_only_what_was_liked_is_wanted_or_learned_from_but_nothing_seen_comes_again(tmp_path):
    task = osp.load_task(f"{write(tmp_path, ROWS)}?liked=4")
    assert links(task, task.judgments, task.query_ids) == {("ann", "d"), ("cat", "a")}
    assert ("ann", "b") not in links(task, task.known, task.listed_query_ids)
    assert ("ann", "b") in links(task, task.excluded, task.query_ids)


def test_item_texts_are_embedded_and_a_user_is_the_mean_of_what_he_has(tmp_path):
    write(tmp_path, ROWS)
    names = {"a": "red apple", "b": "yellow banana", "c": "cherry", "d": "date", "e": "nobody has it"}
    write(tmp_path, list(names.items()), "item\ttitle", "items.tsv")
    task = osp.load_task(tmp_path)
    assert list(task.document_ids) == list(names)
    vectors = osp.embed(task, "wordllama", tmp_path / "vectors")
    assert not (tmp_path / "vectors" / "queries").exists()
    rows = {name: vectors.documents[row].astype(float) for row, name in enumerate(task.document_ids)}
    ann = np.mean([rows["a"], rows["c"], rows["d"]], axis=0)
    assert np.allclose(vectors.queries[list(task.query_ids).index("ann")], ann, atol=1e-6)
    again = osp.load_vectors(tmp_path / "vectors", task)
    assert (again.queries == vectors.queries).all()


def test_vectors_of_users_that_are_given_are_taken(tmp_path):
    task = osp.load_task(write(tmp_path, ROWS))
    np.save(tmp_path / "documents.npy", np.eye(4, dtype=np.float32))
    np.save(tmp_path / "queries.npy", np.arange(16, dtype=np.float32).reshape(4, 4))  # all four users
    vectors = osp.load_vectors(tmp_path, task)
    assert vectors.queries.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]


def bad(rows, header="user\titem\trating\ttimestamp", settings="", items=None):
    return rows, header, settings, items


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (bad([("u", "a", "good", 1)]), r"interactions.tsv:2: rating 'good' is not a number"),
        (bad([("u", "a", 1, "late")]), r"interactions.tsv:2: timestamp 'late' is not a number"),
        (bad([("u", "", 1, 1)]), r"interactions.tsv:2: the item is '': ids are texts or whole numbers"),
        (bad([("u", "a", 1)]), r"interactions.tsv:2: 3 fields, the header has 4"),
        (bad([]), r"interactions.tsv has no interactions: expected user, item"),
        (bad([("u", "a", 1, 1), ("v", "a", 1, 1)]), r"no user has 2 interactions, so none can be held out"),
        (
            bad([("u", "a", 1, 1), ("u", "b", 1, 2), ("v", "c", 1, 1), ("v", "d", 1, 2)]),
            r"no item that was held out is left to learn from, and no item has a text",
        ),
        (bad(ROWS, settings="?liked=9"), r"no rating reaches 9: the highest is 5"),
        (bad(ROWS, settings="?hold=last"), r"unknown setting 'hold': did you mean hold_out\?"),
        (bad(ROWS, settings="?hold_out=first"), r"hold_out=first: choose last or fifth"),
        (bad(ROWS, settings="?seed"), r"'seed' is no setting: write name=value"),
        (bad(ROWS, settings="?seed=-1&hold_out=fifth"), r"seed=-1: give a whole number of at least 0"),
        (bad([row[:2] for row in ROWS], "user\titem", "?hold_out=last"), r"has no times: hold out a fifth"),
        (bad([row[:2] for row in ROWS], "user\titem", "?liked=3"), r"has no ratings: leave it out"),
        (
            bad(ROWS, items="item\ttitle\na\tx\n"),
            r"tsv:3: item 'b' is not in .*items.tsv \(6 such",
        ),
        (bad(ROWS, items="name\twords\na\tx\n"), r"items.tsv begins with the columns name, words: expected an id"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path, case, message):
    rows, header, settings, items = case
    write(tmp_path, rows, header)
    if items is not None:
        (tmp_path / "items.tsv").write_text(items)
    with pytest.raises(OffsphereError, match=message):
        osp.load_task(f"{tmp_path}{settings}")


def test_a_setting_of_data_that_has_none_is_refused(tmp_path):
    (tmp_path / "pairs.tsv").write_text("score\tsentence1\tsentence2\n1\ta\tb\n2\tc\td\n3\te\tf\n")
    with pytest.raises(OffsphereError, match=r"pairs.tsv has no settings: leave out \?seed=1"):
        osp.load_task(f"{tmp_path}/pairs.tsv?seed=1")


def test_repeated_interactions_count_once_at_their_first_time(tmp_path):
    task = osp.load_task(write(tmp_path, [*ROWS, ("ann", "a", 2, 99)]))
    assert ("ann", "b") in links(task, task.judgments, task.query_ids)
    assert "1 interactions repeat an earlier one and are left out" in task.warnings()


def test_a_folder_with_two_tables_is_refused(tmp_path):
    write(tmp_path, ROWS)
    (tmp_path / "interactions.csv").write_text("user,item\nu,a\n")
    with pytest.raises(DataError, match=r"has interactions.tsv and interactions.csv: keep the one to use"):
        osp.load_task(tmp_path)


def test_links_alone_have_no_texts_to_embed(tmp_path):
    with pytest.raises(DataError, match=r"it has links alone; make vectors of them with --model"):
        osp.embed(osp.load_task(write(tmp_path, ROWS)), "wordllama", tmp_path / "v")
