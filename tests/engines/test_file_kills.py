"""Indexes that are files: whenever an export is killed, the old index is there, or the new one, and never a mixture."""

from __future__ import annotations

import json
import signal
from itertools import count

import numpy as np
import pytest

from offsphere.base.errors import DataError
from offsphere.engines.metric import Metric
from offsphere.engines.registry import engine_of
from offsphere.engines.shipping.exporting import export
from tests.engines import engine_laws as laws
from tests.processes import run_warm

ENGINES = ("faiss", "usearch", "hnswlib")
BEFORE = ("nothing", "another", "the same")  # what stands there when the export begins
IDS = [f"document {row}" for row in range(len(laws.DOCUMENTS))]
OLD = laws.DOCUMENTS * 2  # under the same ids, for another metric

EXPORT = """
import json, os, signal, sys
from pathlib import Path
import numpy as np
from offsphere.engines.shipping import serving
from offsphere.engines.shipping.exporting import export
from offsphere.engines.index_file import IndexStream
from offsphere.engines.registry import engine_of

options = json.loads(sys.argv[1])
serving.stored_blocks.__defaults__ = (0, 64)
engine, where = engine_of(options["target"])
left = [options["calls"]]

def killed_in(kind, step, counts=lambda *_: True):
    plain = getattr(kind, step)
    def counted(self, *given):
        returned = plain(self, *given)
        left[0] -= bool(counts(*given))
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return returned
    setattr(kind, step, counted)

if options["moment"] == "adding":
    killed_in(engine.open, "add")
elif options["moment"] == "writing":
    killed_in(IndexStream, "write")
else:
    killed_in(Path, "replace", lambda target: Path(target).parent == Path(where.location).parent)
export(
    "dot", np.load(options["documents"]), options["target"], ids=options["ids"], index="graph", out=options["out"],
    replace=options["replace"],
)
"""


class Trial:
    """An export to a folder of its own, killed at some moment, over an older index or where there is none."""

    def __init__(self, engine, folder, before):
        pytest.importorskip(engine)
        self.index, self.out, self.replaces = folder / "index", folder / "out", before == "another"
        self.index.mkdir(parents=True)
        self.target = f"{engine}:{self.index}/v.{engine}"
        np.save(folder / "documents.npy", laws.DOCUMENTS)
        self.options = {
            "target": self.target,
            "documents": str(folder / "documents.npy"),
            "ids": IDS,
            "out": str(self.out),
            "replace": self.replaces,
        }
        self.before = {"nothing": None, "another": Metric.EUCLIDEAN, "the same": Metric.INNER_PRODUCT}[before]
        if before == "another":
            export("euclidean", OLD, self.target, ids=IDS, index="graph", out=self.out)
        elif before == "the same":
            export("dot", laws.DOCUMENTS, self.target, ids=IDS, index="graph", out=self.out)

    def is_killed(self, moment, calls):
        """Run it; whether that moment ever came."""
        options = self.options | {"moment": moment, "calls": calls}
        child = run_warm(EXPORT, json.dumps(options), imports=("tests.engines.searched",))
        assert child.returncode in (0, -signal.SIGKILL), child.stderr
        return child.returncode != 0

    def found(self):
        """What a reader finds: the numbers and the metric of one export, or nothing that can be read."""
        engine, where = engine_of(self.target)
        try:
            with engine.open(where) as collection:
                facts = collection.facts()
            there, _ = laws.read_back(self.target)
        except DataError:
            return None
        rows = np.array([there[name] for name in IDS])
        whole = {Metric.EUCLIDEAN: OLD, Metric.INNER_PRODUCT: laws.DOCUMENTS}[facts.metric]
        assert (rows == whole).all()
        return facts.metric

    def check_goes_on(self):
        """The same command ends with the whole index; the names of the files that are there then."""
        done = export("dot", laws.DOCUMENTS, self.target, ids=IDS, index="graph", out=self.out, replace=self.replaces)
        assert done.verification.recall >= 0.95
        assert laws.check_holds(self.target, IDS).metric is Metric.INNER_PRODUCT
        return {path.name for path in self.index.iterdir()}


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("moment", ["adding", "writing"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_kill_before_the_index_is_written_changes_nothing(tmp_path, engine, moment, before):
    trial = Trial(engine, tmp_path, before)
    assert trial.is_killed(moment, 4 if moment == "adding" else 1)
    assert trial.found() is trial.before
    left = trial.check_goes_on()
    assert not [name for name in left if name.startswith(".")]


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_kill_while_files_appear_leaves_no_mixture(tmp_path, engine, before):
    for calls in count(1):
        trial = Trial(engine, tmp_path / str(calls), before)
        if not trial.is_killed("appearing", calls):
            break
        trial.found()
        left = trial.check_goes_on()
        assert not [name for name in left if name.startswith(".")]
    assert calls > 3  # the index, its ids and their checksums appeared one after the other
    assert trial.found() is Metric.INNER_PRODUCT
