"""The four starts that README promises, as somebody new types them: a collection, texts, a table, a notebook."""

from __future__ import annotations

import json
import random
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import offsphere as osp
from offsphere.encode import served_name
from offsphere.encode.sources import load_encoder
from tests.cli.running import run_here
from tests.encode.test_served import api
from tests.processes import ROOT

TABLE = (ROOT / "README.md").read_text("utf-8").partition("| what you have |")[2].partition("\n\n")[0]
STARTS = [re.findall(r"`([^`]+)`", row.rpartition(" | ")[2])[0] for row in TABLE.splitlines()[2:]]
WORDS = "cat mat sun rain tax rate wing flow heat wave car road tree leaf sea ship bird song note chord light lens ink"
DOCUMENTS = 30


def notes():
    """Texts whose first sentence is about what the rest is about, more or less."""
    chosen = random.Random(3)
    for _ in range(DOCUMENTS):
        topic = chosen.sample(WORDS.split(), 4)
        rest = chosen.choices(WORDS.split(), k=chosen.randint(8, 30)) + topic[:3]
        yield f"This is on the {' '.join(topic)}. It has {' '.join(rest)}, and so it goes on."


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder as somebody has it: notes, their vectors in a collection of Qdrant, and others in a table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = tmp_path_factory.mktemp("desk")
    (folder / "notes").mkdir()
    texts = list(notes())
    for number, text in enumerate(texts):
        (folder / "notes" / f"{number:02}.txt").write_text(text)
    rows = load_encoder("wordllama").encode(texts, "document")
    columns = {"id": range(DOCUMENTS), "text": texts, "embedding": [row.astype(np.float64) for row in rows]}
    pq.write_table(pa.table({name: list(column) for name, column in columns.items()}), folder / "articles.parquet")
    return folder, rows


@pytest.fixture(autouse=True)
def at_the_desk(desk, tmp_path, monkeypatch):
    monkeypatch.chdir(desk[0])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")


def typed(start, **more):
    """What the command of README prints, after the word offsphere."""
    program, *arguments = shlex.split(start)
    assert program == "offsphere"
    return run_here(*arguments, *[part for name, value in more.items() for part in (f"--{name}", value)])


def the_report():
    """The page that an audit wrote, which the next one is to write anew."""
    page = Path("audit.html").read_text("utf-8")
    Path("audit.html").unlink()
    return page


def test_readme_has_the_four():
    had = [row.split(" | ")[0] for row in TABLE.splitlines()[2:]]
    marks = ["Qdrant collection", "folder of texts", "vectors in a parquet file", "notebook"]
    assert [mark in row for mark, row in zip(marks, had, strict=True)] == [True] * 4


def test_a_collection_of_qdrant_and_the_texts_in_it(desk):
    client = pytest.importorskip("qdrant_client", reason="qdrant-client is not installed")
    folder, rows = desk
    qdrant = client.QdrantClient(path=str(folder / "qdrant_data"))
    size = client.models.VectorParams(size=rows.shape[1], distance=client.models.Distance.COSINE)
    qdrant.create_collection("notes", size)
    names = [f"{number:02}.txt" for number in range(DOCUMENTS)]
    points = [
        client.models.PointStruct(id=number, vector=row.tolist(), payload={"path": name})
        for number, (row, name) in enumerate(zip(rows, names, strict=True))
    ]
    qdrant.upsert("notes", points)
    qdrant.close()
    shown = typed(STARTS[0]).stdout
    assert "The report is audit.html" in shown
    assert "30 documents" in the_report()
    alone = re.search(r"`measure (qdrant:\S+)`", (ROOT / "README.md").read_text("utf-8"))[1]
    assert "30 " in run_here("measure", alone, "--section", "lengths").stdout


def test_a_folder_of_texts_and_the_name_of_a_model():
    assert "The report is audit.html" in typed(STARTS[1]).stdout
    assert "each first sentence asks for the rest of its text" in the_report()


def test_texts_with_vectors_of_openai_in_a_table(desk, monkeypatch):
    """OpenAI is a server here that answers with the vectors of the model that made the table."""
    encoder = load_encoder("wordllama")

    def respond(number, asked):
        rows = encoder.encode(asked["input"], "document").tolist()
        entries = [{"index": row, "embedding": vector} for row, vector in enumerate(rows)]
        return 200, json.dumps({"model": asked["model"], "data": entries}).encode()

    with api(respond) as (name, seen):
        monkeypatch.setattr(served_name, "OPENAI_ADDRESS", name.partition("#")[0])
        assert "The report is audit.html" in typed(STARTS[2]).stdout
    assert "each first sentence asks for the text that it begins" in the_report()
    assert {asked["model"] for asked in seen} == {"text-embedding-3-small"}
    assert {asked["key"] for asked in seen} == {"Bearer sk-of-a-test"}
    asked = [text for request in seen[1:] for text in request["input"]]
    assert sorted(asked) == sorted(f"{text.partition('.')[0]}." for text in notes())  # and none of the whole texts
    assert "30 " in run_here("measure", "articles.parquet", "--section", "lengths").stdout


def test_a_notebook():
    answer = eval(STARTS[3], {"osp": osp})  # the line that README shows
    assert "<table" in answer._repr_html_()
    assert answer.save("audit.html").stat().st_size > 10_000
