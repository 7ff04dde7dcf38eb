"""Tables of vectors: what a spreadsheet writes and pgvector copies out comes in; what is wrong is named by its line."""

from __future__ import annotations

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from offsphere.base.errors import DataError, VectorError
from offsphere.data import vector_tables
from offsphere.data.vector_files import read_vectors
from offsphere.data.vector_names import VectorNames
from offsphere.engines.files.exchange import import_vectors
from tests.processes import run_command

ROWS = (np.random.default_rng(0).standard_normal((40, 6)) * np.linspace(0.1, 9, 40)[:, None]).astype(np.float32)
IDS = [f"no. {n}, é" for n in range(len(ROWS))]


def write_columns(path, rows=ROWS, ids=IDS, name="id"):
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([name, *(f"x{n}" for n in range(rows.shape[1]))])
        writer.writerows([item, *map(repr, row)] for item, row in zip(ids, rows.tolist(), strict=True))


def write_lists(path, rows=ROWS, ids=IDS, header=("id", "text", "embedding")):
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows(
            [item, "some text, with a comma", json.dumps(row)] for item, row in zip(ids, rows.tolist(), strict=True)
        )


def test_a_column_a_dimension(tmp_path):
    write_columns(tmp_path / "v.csv")
    file = read_vectors(tmp_path / "v.csv")
    assert (file.vectors == ROWS).all()
    assert file.ids == IDS


def test_a_column_of_json_lists_among_others(tmp_path):
    write_lists(tmp_path / "v.csv")
    file = read_vectors(tmp_path / "v.csv")
    assert (file.vectors == ROWS).all()
    assert file.ids == IDS


def test_what_pgvector_copies_out(tmp_path):
    lines = [f"{n}\t[{','.join(f'{value:.9g}' for value in row)}]\n" for n, row in enumerate(ROWS.tolist())]
    (tmp_path / "v.tsv").write_text(f"id\tembedding\n{''.join(lines)}")
    file = read_vectors(tmp_path / "v.tsv")
    assert (file.vectors == ROWS).all()
    assert file.ids == [str(n) for n in range(len(ROWS))]


def test_blocks_do_not_show(tmp_path, monkeypatch):
    monkeypatch.setattr(vector_tables, "BLOCK", 7)
    write_columns(tmp_path / "v.csv")
    assert (read_vectors(tmp_path / "v.csv").vectors == ROWS).all()


def test_a_vector_longer_than_the_csv_module_takes_by_itself(tmp_path):
    long = np.random.default_rng(1).standard_normal((2, 9_000)).astype(np.float32)
    write_lists(tmp_path / "v.csv", long, ["a", "b"])
    assert (read_vectors(tmp_path / "v.csv").vectors == long).all()


def test_names_of_ids_and_vectors_can_be_given_for_every_kind_of_file(tmp_path):
    write_lists(tmp_path / "v.csv", header=("Document", "text", "mine"))
    lists = pa.FixedSizeListArray.from_arrays(pa.array(ROWS.ravel()), 6)
    pq.write_table(pa.table({"document": IDS, "mine": lists, "other": lists}), tmp_path / "v.parquet")
    np.savez(tmp_path / "v.npz", document=np.array(IDS), mine=ROWS, other=-ROWS)
    for name in ("v.csv", "v.parquet", "v.npz"):
        file = read_vectors(tmp_path / name, names=VectorNames("document", "mine"))
        assert (file.vectors == ROWS).all()
        assert file.ids == IDS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,x,y\na,1,2\nb,3,x4\n", r"v\.csv:3: column 'y': 'x4' is not a number"),
        ("id,x,y\na,1,2\nb,3,1_0\n", r"v\.csv:3: column 'y': '1_0' is not a number"),
        ("id,x,y\na,1,2\nb,3,\n", r"v\.csv:3: column 'y': '' is not a number"),
        ("id,x,y\na,1,2\nb,3\n", r"v\.csv:3: 2 fields, the header has 3"),
        ('id,v\na,"[1,2]"\nb,"[1]"\n', r"v\.csv:3: a vector of 1 dimensions, the first has 2"),
        ('id,v\na,"[1,2]"\nb,"[1,x]"\n', r"v\.csv:3: column 'v': 'x' is not a number"),
        ('id,v\na,"[1,2]"\nb,1\n', r"v\.csv:3: column 'v' holds no list of numbers such as \[1, 2, 3\]"),
        ('id,v\na,"[]"\n', r"v\.csv:2: the vector has no dimensions"),
        ('id,v,w\na,"[1]","[2]"\n', r"holds v, w: name the one with the vectors 'vectors', or say .*--vector-column"),
        ("id,id,x\na,b,1\n", r"2 columns are called 'id': keep one"),
        ("0.5,0.25\n1,2\n", r"begins with numbers: write a first line that names the columns"),
        ("id\na\n", r"has a column of ids and no other"),
        ("id,x\n", r"holds no vectors: it has no rows below its header"),
        ("", r"v\.csv is empty"),
    ],
)
def test_what_is_wrong_is_one_line_with_the_file_and_the_row(tmp_path, text, message):
    (tmp_path / "v.csv").write_text(text)
    with pytest.raises((DataError, VectorError), match=message) as raised:
        read_vectors(tmp_path / "v.csv")
    assert "\n" not in str(raised.value)


def test_a_name_that_is_not_there_says_which_are(tmp_path):
    write_columns(tmp_path / "v.csv", ROWS[:, :2])
    with pytest.raises(DataError, match=r"has no column 'mine': it has id, x0, x1"):
        read_vectors(tmp_path / "v.csv", names=VectorNames("mine"))
    np.save(tmp_path / "v.npy", ROWS)
    with pytest.raises(DataError, match=r"is an \.npy file, which has no field 'mine': give the ids in a file"):
        read_vectors(tmp_path / "v.npy", names=VectorNames("mine"))
    with pytest.raises(DataError, match=r"which has no column 'mine': leave --vector-column out"):
        read_vectors(tmp_path / "v.npy", names=VectorNames(None, "mine"))


def test_a_number_that_is_none_is_named_by_its_id(tmp_path):
    (tmp_path / "v.csv").write_text("id,x\na,1\nb,nan\n")
    with pytest.raises(VectorError, match=r"the vector of 'b' \(row 1\) is not finite as float32"):
        import_vectors(str(tmp_path / "v.csv"), tmp_path / "store")


def test_a_table_of_texts_is_not_taken_for_vectors(tmp_path):
    """A folder of vectors may hold texts beside them: only an import reads tables as vectors."""
    from offsphere.data.vector_files import find_file, is_vectors

    write_columns(tmp_path / "documents.csv")
    assert find_file(tmp_path, "documents") is None
    assert not is_vectors(tmp_path / "documents.csv")


def test_the_command_takes_names_and_a_file_of_ids(tmp_path):
    write_columns(tmp_path / "v.csv", name="document")
    np.save(tmp_path / "v.npy", ROWS)
    (tmp_path / "names.txt").write_text("".join(f"{name}\n" for name in IDS), encoding="utf-8")
    told = run_command("data", "import", "v.csv", "one", "--id-field", "document", cwd=tmp_path)
    assert (told.returncode, told.stdout) == (0, "one: 40 x 6\n")
    told = run_command("data", "import", "v.npy", "two", "--ids", "names.txt", cwd=tmp_path)
    assert (told.returncode, told.stdout) == (0, "two: 40 x 6\n")
    one, two = (read_vectors(tmp_path / name) for name in ("one", "two"))
    assert list(one.ids) == list(two.ids) == IDS
    assert (np.asarray(one.vectors) == np.asarray(two.vectors)).all()
    (tmp_path / "names.txt").write_text("a\nb\n")
    told = run_command("data", "import", "v.npy", "three", "--ids", "names.txt", cwd=tmp_path)
    assert (told.returncode, told.stderr) == (
        2,
        "offsphere: v.npy has 40 vectors but there are 2 ids: they must be as many\n",
    )
    both = run_command("data", "import", "v.csv", "four", "--ids", "names.txt", "--id-field", "document", cwd=tmp_path)
    assert both.returncode == 2
    assert "give one of them" in both.stderr
