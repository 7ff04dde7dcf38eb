"""``export``: the chosen scorer in a search engine, and the proof that the engine returns what was measured."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from pathlib import Path
from typing import Any

from offsphere.base.arrays import Vectors
from offsphere.base.errors import DataError, ParameterError
from offsphere.base.files import write_whole
from offsphere.base.progress import Progress, in_phase
from offsphere.base.reading.file_access import is_there
from offsphere.base.reading.json_files import read_json_object
from offsphere.base.short_repr import short_repr
from offsphere.base.version import __version__
from offsphere.data.store_writer import locked
from offsphere.engines.collection import IndexKind, NumberForm
from offsphere.engines.engine import Engine
from offsphere.engines.registry import engine_of
from offsphere.engines.shipping.corpus import Corpus
from offsphere.engines.shipping.export_advice import advice_for, lengths_note
from offsphere.engines.shipping.export_record import VERIFICATION
from offsphere.engines.shipping.filling import Filling
from offsphere.engines.shipping.kept_strategy import KeptStrategy
from offsphere.engines.shipping.racing import Raced, cheapest, documents_raced, race, whole_corpus
from offsphere.engines.shipping.snippets import query_snippet
from offsphere.engines.shipping.strategy import ExportWishes, Strategy, plain_strategy, with_effort
from offsphere.engines.shipping.verification import Verification, make_trial
from offsphere.engines.target import Target
from offsphere.scoring.cut import Cut
from offsphere.scoring.given_scorer import fitted_scorer
from offsphere.scoring.names import read_scorer
from offsphere.scoring.scorer import Scorer

GOAL = 0.95  # of the exact answer, on average
SCORER, SNIPPET = "scorer", "query.py"


@dataclass(frozen=True, kw_only=True)
class Export:
    """A scorer that stands in an engine: where, how, what was left out, and whether it returns what was measured.

    Attributes:
        target: Where it is, without a password.
        scorer: What is served.
        strategy: How.
        rows: Vectors that are there.
        left_out: Documents without a place in the ranking, which are not.
        verification: What a sample of queries got.
        goal: The recall that was asked for.
        raced: With tuning, every strategy that was tried, in the order of its cost.
        raced_on: How many documents these were tried on, a random part of a large corpus; none without tuning.
        snippet: The Python that asks the engine.
        advice: What to change where the goal was missed; empty where it was met.
        notes: What to mind of the vectors.
        cut: The threshold that was saved with the scorer, by its own values; nothing where there is none.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> import offsphere as osp
        >>> documents = np.random.default_rng(0).normal(size=(50, 8)).astype(np.float32)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     done = osp.export("euclidean", documents, f"faiss:{folder}/documents.faiss", k=3)
        >>> done.strategy.name, done.verification.k, done.left_out
        ('euclidean, exact', 3, 0)
    """

    target: str
    scorer: Scorer
    strategy: Strategy
    rows: int
    left_out: int
    verification: Verification
    goal: float
    snippet: str
    advice: Sequence[str] = ()
    raced: Sequence[tuple[Strategy, Verification]] = ()
    raced_on: int | None = None
    notes: Sequence[str] = ()
    cut: Cut | None = None

    __repr__ = short_repr

    @property
    def passed(self) -> bool:
        """Whether the engine returned as much of the exact answer as was asked for."""
        return self.verification.recall >= self.goal

    def to_json(self) -> dict[str, Any]:
        """Give it as plain values, for a file."""
        return {
            "target": self.target,
            "scorer": self.scorer.name,
            "key": self.scorer.key,
            "strategy": self.strategy.to_json(),
            "rows": self.rows,
            "left_out": self.left_out,
            "goal": self.goal,
            "passed": self.passed,
            **self.verification.to_json(),
            "advice": list(self.advice),
            "notes": list(self.notes),
            "threshold": self.cut.threshold if self.cut is not None else None,
            "promise": self.cut.promise if self.cut is not None else None,
            "raced_on": self.raced_on,
            "raced": [{**strategy.to_json(), **trial.to_json()} for strategy, trial in self.raced],
            "version": __version__,
        }


def export(
    scorer: Scorer | str | Path,
    vectors: object,
    target: str,
    *,
    ids: Sequence[str] | None = None,
    queries: Vectors | None = None,
    k: int = 10,
    goal: float = GOAL,
    index: IndexKind | None = None,
    effort: int | None = None,
    stored: NumberForm = "float32",
    tune: bool = False,
    replace: bool = False,
    out: str | Path | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Export:
    """Put a scorer into a search engine, and try there whether it returns what was measured.

    Args:
        scorer: A scorer, the folder of a saved one or of an adapter, or a name as ``compare`` prints it; transforms
            that were never fitted are fitted on these documents.
        vectors: Documents as the model gave them: an array, a store, a file, or a folder with documents and queries.
        target: The engine and where in it: ``faiss:FILE``, ``qdrant:FOLDER-OR-URL:COLLECTION``, ...
        ids: Of the documents; without them those that the vectors have, else their numbers.
        queries: To try it with; without them those of the folder, else documents.
        k: How many documents a query gets.
        goal: The share of the exact k best that queries should get on average.
        index: exact, graph or lists; what suits the engine without.
        effort: How many candidates a graph looks at.
        stored: How the engine stores numbers, where it has a choice.
        tune: Whether several ways to serve the scorer are raced, and the cheapest that meets the goal is taken.
        replace: Whether a collection of that name with other content is replaced.
        out: A folder for the scorer, the record of the verification and the snippet; none of them is kept without.
        seed: Of the choice of queries.
        progress: Is told how far it is.

    Returns:
        What stands there now, and what the engine returned.

    Raises:
        NotLowerableError: No engine can serve the scorer.
        OffsphereError: The engine cannot hold it, is not there, or holds something else under that name.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> import offsphere as osp
        >>> documents = np.random.default_rng(0).normal(size=(200, 8)).astype(np.float32)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     done = osp.export("dot", documents, f"faiss:{folder}/documents.faiss")
        >>> done.rows, done.verification.recall, done.passed
        (200, 1.0, True)
    """
    engine, where = engine_of(target)
    _check(engine, k, goal)
    if tune and effort is not None:
        raise ParameterError(f"an effort of {effort} and a race, which finds one: leave --effort out, or --tune")
    engine.at(where).close()  # a place where none can be is refused before any folder is made
    corpus = Corpus.of(vectors, ids, queries)
    known = scorer if isinstance(scorer, Scorer) else read_scorer(str(scorer))
    chosen = fitted_scorer(known, corpus.vectors)
    chosen.lower()  # one that no engine can serve is refused before anything is written
    folder = Path(out) if out is not None else None
    asked = ExportWishes(k=k, goal=goal, index=index, effort=effort, stored=stored, seed=seed)
    cut = None if isinstance(scorer, Scorer) else Cut.load(Path(scorer), chosen.key)
    if folder is None:
        return _with_cut(
            _deploy(engine, where, chosen, corpus, asked, tune=tune, replace=replace, progress=progress), cut
        )
    with locked(folder):
        if not replace:
            _refuse_other_record(folder, str(where))
        done = _with_cut(
            _deploy(engine, where, chosen, corpus, asked, tune=tune, replace=replace, folder=folder, progress=progress),
            cut,
        )
        if cut is not None:
            cut.save(folder / SCORER)
        write_whole(folder / VERIFICATION, json.dumps(done.to_json(), indent=2).encode())
        write_whole(folder / SNIPPET, done.snippet.encode())
    return done


def _with_cut(done: Export, cut: Cut | None) -> Export:
    """The export with the threshold that goes with its scorer, told among what to mind."""
    if cut is None:
        return done
    note = (
        f"show what scores at least {cut.threshold:.6g}: {cut.promise}. That is by the scorer's own values; "
        "scorer.lower().values(vectors, inner_products) gives them where the engine returns inner products"
    )
    return replace_fields(done, cut=cut, notes=[*done.notes, note])


def _deploy(
    engine: Engine,
    where: Target,
    scorer: Scorer,
    corpus: Corpus,
    asked: ExportWishes,
    *,
    tune: bool,
    replace: bool,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> Export:
    """Choose a strategy, fill the collection, and try it."""
    trial = make_trial(corpus, scorer, asked.k, asked.seed, in_phase(progress, "exact answers"))
    kept = KeptStrategy.of(folder, scorer, corpus, asked, str(where))
    raced: Raced = []
    strategy = kept.read(scorer) if tune else plain_strategy(engine, where, scorer, corpus, asked)
    if strategy is None:
        raced = race(engine, where, scorer, corpus, asked, trial, progress)
        strategy = whole_corpus(cheapest(raced, asked.goal), corpus)
        kept.write(strategy)
    returned = engine.metrics[strategy.serving.metric].returned
    with strategy.open(engine, where) as collection:
        layout = strategy.layout(corpus)
        filling = Filling(collection, strategy.serving, corpus, layout, str(where), folder)
        record = filling.run(replace=replace, progress=progress)
        if folder is not None:  # not before: where the collection is refused, the scorer of what stands there is kept
            scorer.save(folder / SCORER)
        strategy, verification = with_effort(strategy, collection, returned, corpus, trial, asked)
        code = query_snippet(strategy, collection, layout, min(asked.k, layout.rows), folder)
    return Export(
        target=str(where),
        scorer=scorer,
        strategy=strategy,
        rows=record.added,
        left_out=record.done - record.added,
        verification=verification,
        goal=asked.goal,
        snippet=code,
        advice=advice_for(strategy, collection, verification, asked, raced=tune),
        raced=raced,
        raced_on=documents_raced(corpus) if tune else None,
        notes=lengths_note(scorer, corpus),
    )


def _refuse_other_record(folder: Path, target: str) -> None:
    """Refuse a folder with the record of another collection: whoever asks that one reads its scorer there."""
    path = folder / VERIFICATION
    if is_there(path):
        other = read_json_object(path).get("target")
        if other != target:
            raise DataError(
                f"{folder} holds the scorer and the record of {other}: choose another folder with --out, or give it "
                "up with --replace"
            )


def _check(engine: Engine, k: int, goal: float) -> None:
    """Refuse what cannot be asked for."""
    if k < 1:
        raise ParameterError(f"k = {k}: ask for at least one document")
    if not 0 < goal <= 1:
        raise ParameterError(f"a goal of {goal}: give a share of the exact answer, above 0 and at most 1")
    if engine.largest_k is not None and k > engine.largest_k:
        raise ParameterError(f"k = {k:,}: {engine.name} gives at most {engine.largest_k:,} documents a query")
