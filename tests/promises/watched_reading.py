"""Read every format, and files made to run code, while Python reports what runs in this process.

First our own examples are read unwatched: modules are imported, and numba loads the kernels that it compiled before.
Then everything is read twice. The first time modules may be imported, where an error needs one; the second time nothing
may be executed at all. What ran against the rule is printed, and the exit code is 1.
"""

from __future__ import annotations

import io
import json
import pickle
import sys
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np

from offsphere.base.errors import OffsphereError
from tests.fuzz.formats.vector_formats import read_vector_file
from tests.fuzz.subjects import SUBJECTS

NEVER = {"pickle.find_class", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "shutil.move"}
NOT_TWICE = {"exec", "import", "marshal.loads", "marshal.load", "ctypes.dlopen", "code.__new__", "function.__new__"}
seen: list[str] = []
forbidden: set[str] = set()


class Payload:
    """What runs when somebody unpickles it: it leaves a file."""

    def __init__(self, canary: Path) -> None:
        self.canary = str(canary)

    def __reduce__(self):
        return open, (self.canary, "w")


def hostile(folder: Path) -> dict[str, object]:
    """Files that would run code in a careless reader, each with the function that reads it."""
    payload = pickle.dumps(Payload(folder / "ran"))
    objects = np.array([[Payload(folder / "ran")]], dtype=object)
    np.save(folder / "objects.npy", objects, allow_pickle=True)
    np.savez(folder / "objects.npz", vectors=objects)
    (folder / "pickled.npy").write_bytes(payload)
    (folder / "pickled.npz").write_bytes(payload)
    with zipfile.ZipFile(folder / "member.npz", "w") as archive:
        archive.writestr("vectors.npy", payload)
    for suffix in ("parquet", "safetensors"):
        (folder / f"pickled.{suffix}").write_bytes(payload)
    header = b"{'descr': __import__('os').system('true'), 'fortran_order': False, 'shape': (1, 1), }"
    (folder / "header.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(8))
    readers: dict[str, object] = {
        name.name: (lambda path=name: read_vector_file(path)) for name in sorted(folder.glob("*.*"))
    }
    return readers | hostile_parquet(folder) | hostile_recipes(folder) | hostile_scorer(folder)


def hostile_parquet(folder: Path) -> dict[str, object]:
    """A table that names a class of Python as the type of its column."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    named = {b"ARROW:extension:name": b"arrow.py_extension_type"}
    named[b"ARROW:extension:metadata"] = pickle.dumps(Payload(folder / "ran"))
    field = pa.field("vectors", pa.list_(pa.float32()), metadata=named)
    pq.write_table(pa.table([pa.array([[1.0, 2.0]], field.type)], schema=pa.schema([field])), folder / "type.parquet")
    return {"type.parquet": lambda: read_vector_file(folder / "type.parquet")}


def hostile_recipes(folder: Path) -> dict[str, object]:
    """A recipe in YAML that asks for an object of Python."""
    from offsphere.learning.encoders.recipe_file import recipe_from

    canary = json.dumps(str(folder / "ran"))
    (folder / "recipe.yaml").write_text(f"temperature: !!python/object/apply:builtins.open [{canary}, w]\n")
    return {"recipe.yaml": lambda: recipe_from(file=folder / "recipe.yaml")}


def hostile_scorer(folder: Path) -> dict[str, object]:
    """A saved scorer that names modules and functions where kinds are expected."""
    from offsphere.scoring.names import parse_scorer
    from offsphere.scoring.scorer import Scorer

    saved = folder / "scorer"
    parse_scorer("cosine").save(saved)
    content = (saved / "scorer.json").read_text()
    (saved / "scorer.json").write_text(content.replace('"polar"', '"os.system"'))
    return {"scorer": lambda: Scorer.load(saved)}


def watch(event: str, arguments: tuple[object, ...]) -> None:
    """Note what is forbidden."""
    if event in forbidden:
        seen.append(f"{event} {arguments!r}"[:200])


def attempt(name: str, read: object) -> None:
    """Read, and note what ran meanwhile; a refusal is fine, and so is an answer."""
    before = len(seen)
    with suppress(OffsphereError):
        read()
    if len(seen) > before:
        sys.stdout.write(f"{name}: {'; '.join(seen[before:][:3])}\n")


def main() -> None:
    """Read everything twice."""
    sys.addaudithook(watch)
    with tempfile.TemporaryDirectory() as home:
        jobs: dict[str, object] = {}
        for number, (name, subject) in enumerate(SUBJECTS.items()):
            folder = Path(home) / str(number)
            folder.mkdir()
            subject.write(folder)
            jobs[name] = lambda subject=subject, folder=folder: subject.read(folder)
            subject.read(folder)
        trap = Path(home) / "hostile"
        trap.mkdir()
        jobs |= hostile(trap)
        for rule in (NEVER, NEVER | NOT_TWICE):
            forbidden.update(rule)
            for name, read in jobs.items():
                attempt(name, read)
            if (trap / "ran").exists():
                seen.append("a payload ran")
        forbidden.clear()
        check_watch(trap)
    sys.stdout.write(f"{len(jobs)} files read twice, {len(seen)} things ran\n")
    raise SystemExit(1 if seen else 0)


def check_watch(folder: Path) -> None:
    """See that the watch would have seen a payload."""
    forbidden.update(NEVER)
    pickle.load(io.BytesIO(pickle.dumps(Payload(folder / "ran")))).close()
    forbidden.clear()
    assert (folder / "ran").exists()
    assert seen.pop().startswith("pickle.find_class")


if __name__ == "__main__":
    main()
