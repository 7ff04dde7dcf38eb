"""What is learned or measured and saved: scorers, adapters, records, results."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from tests.fuzz.subject import SUBJECTS, VECTORS, Subject, subject


def _learned_side(seed):
    from offsphere.scoring.transforms.adapter_map import MagnitudeHead, SideAdapter

    rng = np.random.default_rng(seed)
    return SideAdapter(rng.standard_normal((5, 4)), 0.5, MagnitudeHead(rng.standard_normal(5), 0.1, 0.2, 1.0, "added"))


def _training():
    from offsphere.scoring.training_record import Run, Training

    run = Run(
        0,
        0.5,
        0.6,
        best_step=40,
        steps=60,
        seconds=1.5,
        history=[(0, float("nan"), 0.5), (40, 0.7, 0.62)],
        stopped="all steps done",
    )
    rows = [{"step": float(step), "query_length": 1 + step / 7, "layer": None} for step in range(5)]
    recipe = {"normalize": "query", "temperature": 0.05, "length_target": None}
    return Training(
        recipe,
        {"loss": "infonce"},
        "ndcg@10",
        {"pairs": 80},
        runs=[run],
        chosen=0,
        dynamics=rows,
        notes=["a note é"],
        said=[],
        learned=np.arange(9),
    )


@subject("scorer folder")
class ScorerFolder:
    @staticmethod
    def write(folder):
        from offsphere.ranking.hub_bias import nnn
        from offsphere.scoring.names import parse_scorer
        from offsphere.vectors.moments import Moments

        nnn(parse_scorer("whiten(0.5) + polar(1, 0.75)").fit(Moments.of(VECTORS)), VECTORS, VECTORS[:4]).save(folder)

    @staticmethod
    def read(folder):
        from offsphere.scoring.names import read_scorer

        scorer = read_scorer(str(folder))
        return scorer.name, scorer.key, scorer.transform(VECTORS), scorer.bias.values


@subject("adapter folder")
class AdapterFolder:
    @staticmethod
    def write(folder):
        from offsphere.scoring.adapter import Adapter

        Adapter(_learned_side(0), _learned_side(1), label="fuzzed", record=_training()).save(folder)

    @staticmethod
    def read(folder):
        from offsphere.scoring.adapter import Adapter

        adapter = Adapter.load(folder)
        record = adapter.record
        sides = [adapter.apply(VECTORS, side) for side in ("query", "document")]
        return adapter.name, sides, record.to_json(), list(record.dynamics), record.learned


@subject("training record")
class TrainingRecord:
    @staticmethod
    def write(folder):
        _training().save(folder)

    @staticmethod
    def read(folder):
        from offsphere.scoring.training_record import Training

        record = Training.load(folder)
        return record.to_json(), list(record.dynamics), record.learned


@subject("factors folder")
class FactorsFolder:
    @staticmethod
    def write(folder):
        from offsphere.factors.closed_form import factorize

        factorize(np.abs(VECTORS), k=3, weighting="standardize").save(folder)

    @staticmethod
    def read(folder):
        from offsphere.factors.closed_form import Factors

        factors = Factors.load(folder)
        return factors.items, factors.users(np.abs(VECTORS)), repr(factors)


@subject("ablation result")
class AblationResult:
    @staticmethod
    def write(folder):
        from offsphere.learning.ablation.ablation import Ablation, PaperFinding, VariantResult, VariantRow

        result = VariantResult(0.5, 0.4, 0.6, 0.01, 0.1, -0.1, 0.3, 0.04)
        rows = [VariantRow(name, 0.05, 1e-3, 0.4, [result], 1.5, (1.0, 0.0), 0.2, ["é"]) for name in ("cosine", "dot")]
        finding = PaperFinding("longer is better", "a paper", "holds", "0.5 above 0.4")
        dynamics = [{"variant": "dot", "step": 1.0, "loss": 0.5}]
        Ablation(
            [{"name": "t", "queries": 4}],
            "ndcg@10",
            rows,
            untouched=[0.3],
            seeds=1,
            trials=2,
            findings=[finding],
            counts={"pairs": 3},
            dynamics=dynamics,
        ).save(folder)

    @staticmethod
    def read(folder):
        from offsphere.learning.ablation.ablation import Ablation

        ablation = Ablation.load(folder)
        return ablation.to_json(), list(ablation.dynamics), ablation.footnotes


@subject("threshold of a scorer")
class SavedThreshold:
    @staticmethod
    def write(folder):
        from offsphere.scoring.cut import Cut

        Cut(0.25, "a promise", "key").save(folder)

    @staticmethod
    def read(folder):
        from offsphere.scoring.cut import Cut

        return Cut.load(folder, "key")


class ShardState:
    """What a shard left, of one of the three kinds."""

    def __init__(self, kind):
        self.kind = kind

    def write(self, folder):
        from offsphere.shards.state_files import write_state

        write_state(folder / "state", self.made())

    def made(self):
        from offsphere import RankingTask, RankingVectors
        from offsphere.shards.compare_question import CompareOptions
        from offsphere.shards.measure_state import VectorFacts, measure_shard
        from offsphere.shards.shard import Shard
        from tests.shards.sharded import fit_states, merged, search_states

        if self.kind == "measure":
            return measure_shard(VectorFacts("v.npy", *VECTORS.shape, None), Shard(1, 1), VECTORS)
        judged = {f"q{query}": {f"d{query}": 1, f"d{query + 5}": 2} for query in range(5)}
        task = RankingTask.from_judgments(judged, [f"d{row}" for row in range(len(VECTORS))])
        fitted = fit_states(task, VECTORS, 1)
        if self.kind == "fit":
            return fitted[0]
        vectors = RankingVectors(VECTORS[:5] + 1, VECTORS)
        return search_states(task, vectors, 1, merged(fitted), CompareOptions(scorers=["dot", "cosine"]))[0]

    def read(self, folder):
        from offsphere.shards.state_files import read_state

        state = read_state(folder / "state")
        if self.kind != "compare":
            return asdict(state.origin), state.arrays()
        return asdict(state.origin), state.question.values(), state.question.arrays(), state.documents, state.keys


for _kind in ("fit", "compare", "measure"):
    _state = ShardState(_kind)
    SUBJECTS[f"state of a shard, {_kind}"] = Subject(_state.write, _state.read, None)


@subject("row of a study")
class StudyRows:
    """A damaged one is no row: the cell is audited again."""

    @staticmethod
    def write(folder):
        import offsphere as osp
        from offsphere.auditing.study.study_row import row_of
        from offsphere.base.plain import plain
        from offsphere.base.reading.sealed_json import write_sealed

        judged = {f"q{query}": {f"d{query}": 1} for query in range(5)}
        task = osp.RankingTask.from_judgments(judged, [f"d{row}" for row in range(len(VECTORS))])
        audit = osp.audit(task, osp.RankingVectors.of(task, VECTORS[:5] + 0.1, VECTORS), cache=0)
        row = replace(row_of(audit), page="audits/question.html")
        write_sealed(folder / "question.json", plain(asdict(row)), {"question.html": b"<p>what was found</p>"})

    @staticmethod
    def read(folder):
        from offsphere.auditing.study.run_study import kept_row
        from offsphere.base.errors import DataError

        row = kept_row(folder, "question", with_page=True)
        if row is None:
            raise DataError("it is audited again")
        return asdict(row)


@subject("cells of a study, TOML")
class StudyCells:
    @staticmethod
    def write(folder):
        text = 'model = ["wordllama"]\n[[task]]\ndata = "cisi"\nadapt = true\n[[task]]\ndata = "x"\n'
        (folder / "study.toml").write_text(text + '[task.vectors]\nminilm = "there"\n')

    @staticmethod
    def read(folder):
        from offsphere.auditing.study.study_cell import read_cells

        return [(Path(cell.data).name, cell.name, cell.model, cell.adapt) for cell in read_cells(folder / "study.toml")]

    @staticmethod
    def reference(folder):
        """Each task under its own models and those of the study; under none where its vectors are one folder."""
        content = _in_lower_case(tomllib.loads((folder / "study.toml").read_text("utf-8-sig")))
        models = content.get("model", [])
        cells = []
        for task in map(_in_lower_case, content["task"]):
            vectors = task.get("vectors", {})
            asked = (
                [None]
                if isinstance(vectors, str)
                else {**vectors, **dict.fromkeys([models] if isinstance(models, str) else models)}
            )
            cells += [(Path(task["data"]).name, task.get("name"), model, task.get("adapt", False)) for model in asked]
        return cells


def _in_lower_case(table):
    return {name.lower(): value for name, value in table.items()}


@subject("folder of a training")
class TrainingFolder:
    """Its plan, and the last checkpoint: a training goes on from what was there, or one line says that it cannot."""

    @staticmethod
    @cache
    def watch():
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import StaticEmbedding
        from tokenizers import Tokenizer, models, pre_tokenizers

        import offsphere as osp
        from offsphere.learning.encoders.callbacks import Watch

        words = Tokenizer(models.WordLevel({"?": 0, "red": 1, "cat": 2}, unk_token="?"))  # no password
        words.pre_tokenizer = pre_tokenizers.Whitespace()
        model = SentenceTransformer(modules=[StaticEmbedding(words, embedding_dim=4)], device="cpu")
        osp.prepare(model, "learn")
        return Watch(osp.ContrastiveLoss(model, "learn", scale="learn"), "ndcg@10", (0.5, 0.6), 3)

    @staticmethod
    def setup():
        return SimpleNamespace(digest=lambda: "0f" * 16, plan=lambda: {"recipe": {"batch": 16}, "model": "é"})

    @staticmethod
    def write(folder):
        from safetensors.torch import save

        from offsphere.base.plain import plain
        from offsphere.base.reading.sealed_json import write_sealed
        from offsphere.learning.encoders.callbacks import MARK, STATE, WatchState
        from offsphere.learning.encoders.training_folder import CHECKPOINTS, open_checkpoints

        open_checkpoints(folder, TrainingFolder.setup(), restart=False)
        checkpoint = folder / CHECKPOINTS / "checkpoint-40"
        seen = WatchState([(0, float("nan"), 0.5, 0.6), (40, 0.7, 0.62, 0.6)], 0.62, 40, [0.25], worn_out=False)
        tensors = save(TrainingFolder.watch().loss.own_state())
        write_sealed(checkpoint / MARK, plain(seen), {STATE: tensors})

    @staticmethod
    def read(folder):
        from offsphere.base.errors import OffsphereError
        from offsphere.learning.encoders.callbacks import last_checkpoint
        from offsphere.learning.encoders.training_folder import open_checkpoints

        checkpoints = open_checkpoints(folder, TrainingFolder.setup(), restart=False)
        last = last_checkpoint(checkpoints)
        if last is None:
            raise OffsphereError("it begins anew")
        watch = TrainingFolder.watch()
        watch.resume(last)
        state = {name: value.numpy() for name, value in watch.loss.own_state().items()}
        return watch.state(), state


@subject("measurements of a training")
class Dynamics:
    @staticmethod
    def write(folder):
        from offsphere.scoring.training_record import parquet_of

        rows = [{"step": float(step), "loss": 1 / (step + 1), "layer": None} for step in range(5)]
        (folder / "dynamics.parquet").write_bytes(parquet_of(rows))

    @staticmethod
    def read(folder):
        from offsphere.learning.encoders.fit import read_dynamics

        return read_dynamics(folder)

    @staticmethod
    def reference(folder):
        import pyarrow.parquet as pq

        table = pq.ParquetFile(folder / "dynamics.parquet").read()
        columns = {name: table[name].to_pylist() for name in table.column_names}
        return [{name: column[row] for name, column in columns.items()} for row in range(table.num_rows)]
