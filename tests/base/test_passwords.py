"""No password is told, wherever it stands in an address and whatever letters it has."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest

from offsphere.base.local_paths import local_path
from offsphere.base.passwords import hide_password, is_unclear, without_password
from offsphere.encode.embedded_task import EmbeddedSource
from offsphere.engines.files.exchange import import_vectors
from tests.processes import PATIENCE, ROOT, environment_with

# each half of a secret is one: what an address ends at a letter in its middle must not be shown either
SECRETS = ["s3cret", "one@s3cret", "one:s3cret", "one/s3cret", "one%s3cret", "one%40s3cret", "one s3cret", "one?s3cret"]
SECRETS += ["one#s3cret", "one&s3cret", "one=s3cret", "one's3cret", "one\\ s3cret"]
USER_INFO = ["postgresql://me:{}@host/db", "postgresql://:{}@/db?host=/tmp", "http://me:{}@host:6333"]
PARAMETERS = ["postgresql://host/db?password={}&sslmode=require", "postgresql://host/db?sslmode=require&password={}"]
KEYWORDS = ["host=h password={}", "password = {} host=h", "host=h sslpassword={} dbname=db", "host=h PASSWORD='{}'"]


@pytest.mark.parametrize("address", USER_INFO + PARAMETERS + KEYWORDS)
@pytest.mark.parametrize("secret", SECRETS)
def test_an_address_is_told_without_its_password(address, secret):
    if "?password" in address or "&password" in address:
        secret = secret.replace("&", "%26")  # nobody could tell that from the next parameter
    whole = address.format(secret.replace("'", "\\'") if "'{}'" in address else secret)
    assert "s3cret" not in hide_password(whole)
    assert "s3cret" not in hide_password(f"cannot reach {whole}")
    assert "s3cret" not in without_password(whole)


@pytest.mark.parametrize(
    "text",
    ["host=h dbname=db", "postgresql://me@host/db", "http://localhost:6333", "password authentication failed for me"],
)
def test_what_has_no_password_stays_as_it_is(text):
    assert hide_password(text) == without_password(text) == text
    assert not is_unclear(text)


PLACES = [
    "postgres:postgresql://me:one{}s3cret@127.0.0.1:1/db:docs",
    "postgres:postgresql://127.0.0.1:1/db?password=one{}s3cret:docs",
    "postgres:host=127.0.0.1 port=1 password='one{}s3cret':docs",
    "postgres:host=127.0.0.1 port=1 password=one{}s3cret:docs",
]
CHILD = """
import json, sys
from offsphere.cli import main
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["offsphere", "--debug", *arguments]
    try:
        main()
    except SystemExit as end:
        print("ended with", end.code)
"""


def run_all(commands, folder=None):
    """Run commands one after the other in one process; what it printed."""
    return subprocess.run(
        [sys.executable, "-c", CHILD, json.dumps(commands)],
        env=environment_with(ROOT),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_a_server_that_is_not_there_is_told_without_the_password_in_tracebacks_too():
    """libpq takes what stands before an unwritten @ or / for the password, and names the rest as the host."""
    pytest.importorskip("psycopg")
    targets = [place.format(letter) for place in PLACES for letter in "@:/% ?#"]
    run = run_all([["probe", target, "--json"] for target in targets])
    assert run.stderr.count("offsphere: ") == len(targets)
    assert "s3cret" not in run.stdout + run.stderr
    assert "this is a bug" not in run.stderr


MISTYPED = ["postgresql://me:{}@host/db:docs", "postgresql://host/db?password={}:docs", "http://me:{}@host:6333:docs"]
DOORS = [
    ["data", "import", "{}", "store"],
    ["data", "import", "v.npy", "{}"],
    ["data", "export", "store", "{}"],
    ["data", "export", "store", "{}.parquet"],
    ["data", "export", "{}", "v.parquet"],
    ["data", "info", "{}"],
    ["measure", "{}"],
    ["measure", ".", "--vectors", "{}"],
    ["compare", "{}"],
    ["compare", ".", "--vectors", "{}"],
    ["audit", "{}", "--model", "wordllama"],
    ["threshold", ".", "--vectors", "{}"],
    ["embed", "{}", "--model", "wordllama"],
    ["export", "dot", "--vectors", "{}", "--to", "faiss:x.faiss"],
    ["export", "{}", "--vectors", "v.npy", "--to", "faiss:x.faiss"],
]
NO_FILES = ["faiss:{}", "hnswlib:{}", "sqlite:{}", "duckdb:{}", "lancedb:{}"]


def test_an_address_where_a_file_is_meant_is_refused_without_its_password(tmp_path):
    """Once: a path was made of it, which has one slash, and by that the password was no longer seen as one."""
    np.save(tmp_path / "v.npy", np.eye(3, dtype=np.float32))
    import_vectors(str(tmp_path / "v.npy"), tmp_path / "store")
    before = sorted(tmp_path.rglob("*"))
    addresses = [place.format("one@s3cret") for place in MISTYPED]
    commands = [[word.format(address) for word in door] for door, address in zip(DOORS, cycle(addresses), strict=False)]
    run = run_all(commands, tmp_path)
    assert run.stdout.split("\n").count("ended with 2") == len(commands), run.stderr
    assert run.stderr.count("is an address, no file or folder: write a collection as ENGINE:") >= len(commands)
    assert run.stderr.count("offsphere: ") == len(commands)
    assert "s3cret" not in run.stdout + run.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_a_target_of_another_kind_is_refused_without_its_password_and_nothing_is_made(tmp_path):
    np.save(tmp_path / "v.npy", np.eye(3, dtype=np.float32))
    targets = [place.format("http://me:one@s3cret@host/x:docs") for place in NO_FILES]
    targets += [
        "qdrant-edge:http://me:one@s3cret@host",
        "host=h password=one@s3cret:docs",
        MISTYPED[0].format("s3cret"),
    ]
    commands = [["export", "dot", "--vectors", "v.npy", "--to", target] for target in targets]
    commands += [["probe", targets[0]], ["probe", targets[-3]], ["compare", ".", "--collection", targets[2]]]
    run = run_all([*commands, ["data", "import", "host=h password=one@s3cret:docs", "store"]], tmp_path)
    assert run.stdout.split("\n").count("ended with 2") == len(commands) + 1, run.stderr
    assert "s3cret" not in run.stdout + run.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["v.npy"]


def test_files_and_what_is_no_path_stay_as_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    odd = Path("http:/token=5")
    odd.parent.mkdir()
    odd.write_text("")
    for text in ("scifact", "org/name", "C:/data/x.npy", "data?shots=5&token=2", "a b/c.npy", str(odd), "max@x/y:z"):
        assert str(local_path(text)) == str(Path(text))
    source = EmbeddedSource("org/name", "http://me:s3cret@localhost:8080/v1#bge-m3")
    assert source.model == "http://me:s3cret@localhost:8080/v1#bge-m3"
