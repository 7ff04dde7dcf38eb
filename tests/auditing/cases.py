"""Cases with planted numbers: comparisons and measurements of every kind, without a search, drawn by seed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import isfinite, nan

import numpy as np

import offsphere as osp
from offsphere.comparison.list_row import ListRow
from offsphere.comparison.procedure import Procedure
from offsphere.comparison.row import Row, label_apart
from offsphere.comparison.stored_row import StoredRow
from offsphere.comparison.table import Comparison
from offsphere.comparison.units import units_in_all
from offsphere.comparison.verdict import recommended_choice, row_named
from offsphere.engines.deployed.deployment import Deployment
from offsphere.engines.deployed.lengths_at_hand import LengthsAtHand
from offsphere.engines.registry import ENGINES
from offsphere.engines.shipping.verification import Verification
from offsphere.geometry.ceiling import Ceiling, CeilingRow
from offsphere.geometry.dimensions import Dimensions
from offsphere.geometry.dual import dual_of
from offsphere.geometry.hubness import Hub, Hubness, by_chance
from offsphere.geometry.length import LengthSummary
from offsphere.geometry.relevance import Relevance, WithinQuery
from offsphere.geometry.shape import Geometry
from offsphere.geometry.spread import spread_of
from offsphere.scoring.document_bias import DocumentBias
from offsphere.scoring.query_bank import QueryBank
from offsphere.scoring.similarity import COSINE, Polar
from offsphere.scoring.stored.stored_form import parse_stored
from offsphere.scoring.transforms.adapter_map import AdapterMap, SideAdapter
from offsphere.statistics.equivalence import usual_worth
from offsphere.statistics.estimate import UNDEFINED, Estimate

parse_scorer = lru_cache(osp.parse_scorer)
chance_of = lru_cache(by_chance)

RANKING = ("ndcg@10", "ndcg@1", "recall@1", "recall@100", "mrr@10", "map@10", "success@1", "success@5", "precision@1",
           "precision@10", "knn@10", "full-recall@10", "answer-recall@5", "exact-match@5", "answer-f1@5")  # fmt: skip
PAIRS = ("spearman", "pearson", "kendall")
POOLED = ("pooled-ap@100", "pooled-auc@100")
FEW_ENOUGH = 52  # units, for tests of two rows in so many cases
UNITS = (2, 3, 9, 10, 11, 52, 300, 42_000)
CHANGES = ("better", "worse", "unsure", "equal", "small", "lost a little", "tie", "undefined")
EFFECTS = ("longer", "shorter", "none", "exact", "undefined", "no interval")
CLOSED_FORM = AdapterMap(SideAdapter(0.5 * np.eye(5)), SideAdapter(2 * np.eye(5)), "closed form")
TWO_MODELS = osp.Scorer(COSINE, (CLOSED_FORM,))  # what all are held against where the sides have two widths
IDS = ("d1", "a b", "O'Hara", "[x]", "π.pdf", 'say "so"', "None", "")


@dataclass(frozen=True)
class PlantedCase:
    """All evidence of one case, as ``advise`` takes it."""

    table: Comparison
    shape: Geometry
    symmetric: bool
    deployment: Deployment | None = None

    @property
    def advice(self):
        """What is advised on it."""
        return osp.advise(self.table, self.shape, symmetric=self.symmetric, deployment=self.deployment)


def draw(seed: int) -> PlantedCase:
    """Draw a case: every part by itself, so that all combinations come."""
    rng = np.random.default_rng(seed)
    pick = lambda options: options[int(rng.integers(len(options)))]  # noqa: E731
    metric = pick((*RANKING, *PAIRS, *POOLED))
    two_models = bool(np.random.default_rng([seed, 5]).random() < 0.08)
    table = _with_values(np.random.default_rng([seed, 4]), _table(rng, pick, metric, two_models=two_models))
    table = _with_stored(np.random.default_rng([seed, 1]), table)
    table = _with_lists(np.random.default_rng([seed, 2]), table)
    table = _of_episodes(np.random.default_rng([seed, 3]), table)
    ranking = table.task["kind"] == "ranking"
    normalised = "dot" in table[table.baseline].same_ranking_as
    relevance = None
    skipped = {}
    if not ranking:
        skipped = {"relevance": "length and relevance: it needs a ranking task, with queries, documents and judgments"}
    elif not normalised and rng.random() < 0.9:
        relevance = _relevance(rng, pick, queries=table.task["queries"], made=bool(table.task["judgments_made"]))
        if two_models:  # whose vectors have no cosine, so that no document is near a query
            relevance = replace(relevance, within=WithinQuery("all", 30, UNDEFINED, UNDEFINED), within_adjusted=None)
    shape = Geometry(
        of={},
        lengths=[] if rng.random() < 0.05 else [_lengths(side, normalised) for side in ("query", "document")],
        relevance=relevance,
        dual=dual_of(table) if row_named(table, "dot") is not None else None,
        dimensions=[_dimensions(pick)] if rng.random() < 0.5 else [],
        hubness=[] if two_models else _hubness(rng, pick, table),
        ceiling=_ceiling(np.random.default_rng([seed, 2]), table) if ranking and not two_models else None,
        skipped=skipped,
    )
    symmetric = bool(rng.random() < (0.9 if metric in PAIRS else 0.2))
    has_index = ranking and not two_models and rng.random() < 0.6
    deployment = _deployment(rng, pick, normalised=normalised) if has_index else None
    if deployment is not None and deployment.scorer is not None:
        table = replace(table, deployed=deployment.scorer.name)
    return PlantedCase(table, shape, symmetric, deployment)


def _deployment(rng, pick, *, normalised):
    engine = pick([engine for engine in ENGINES if engine.open is not None])
    rows = pick((1, 46, 2_000))
    k, queries = min(pick((10, 10, 1_000)), rows), pick((1, 52, 100))
    short = pick((0, 0, 0, 1, queries))
    seen = Verification(
        k=k,
        queries=queries,
        made_of="queries",
        recall=pick((1.0, 0.9999, 0.96, 0.91, 0.0)) if not short else pick((0.9991, 0.4)),
        worst=0.0,
        short=short,
        score_error=None,
        milliseconds=1.0,
        fewest=k if not short else pick((0, k // 2)),
    )
    answered = rng.random() < 0.7
    lengths = pick(("lost in the engine", "lost before")) if normalised else "kept"
    return Deployment(
        engine=engine,
        target="faiss:planted",
        metric=pick((*engine.metrics, *engine.metrics, None)),
        index=pick(("flat", "HNSW", "HNSW, scalar quantizer")),
        rows=rows,
        lengths=lengths,
        mean_length=pick((1.0, 3.25)),
        empty=pick((0, 0, 2)) if rows > 1 else 0,
        variation=0.0001 if normalised else pick((0.004, 0.23, 1.7)),
        documents=2_000,
        missing=pick((0, 0, 1, 12)),
        unknown=pick((0, 0, 1)) if rows > 1 else 0,
        answers=seen if answered else None,
        k=k,
        refused="" if answered else pick(("", "query vector with k = 5,000: the limit is 4,096")),
        at_hand=_at_hand(pick) if lengths != "kept" and rng.random() < 0.6 else None,
        made_for=pick((*[None] * 9, "dot", "whiten(0.5) + cosine", "")),
    )


def _at_hand(pick):
    gain = pick((0.0213, -0.0213, 0.0))
    p = pick((0.0001, 0.03, 0.4, None)) if gain else pick((1.0, None))
    reach = 0.01 if p is not None and p < 0.05 else 0.04
    return LengthsAtHand("vectors/mine", "ndcg@10", gain, gain - reach, gain + reach, p)


def _table(rng, pick, metric, *, two_models):
    units = pick(UNITS)
    pairs = metric in PAIRS
    value = pick((0.5134, 0.8, 0.31, 0.62, 0.45, 0.012, 0.0, -0.21, nan)) if pairs else pick((0.5134, 0.8, 0.31, 0.0))
    turned = pairs and value < 0 and rng.random() < 0.7
    worth = usual_worth(value) if rng.random() < 0.8 else 0.0003
    same = ("query-normalized", "dot") if rng.random() < 0.12 and not two_models else ("document-normalized",)
    cosine = Row(
        name=TWO_MODELS.name if two_models else "cosine",
        value=value,
        low=value - 0.05,
        high=-0.01 if turned else max(value, 0) + 0.05,
        difference=0.0,
        difference_low=0.0,
        difference_high=0.0,
        p=None,
        scorer=TWO_MODELS if two_models else osp.Scorer(COSINE),
        parameters={},
        same_ranking_as=() if two_models else same,
    )
    rows = [cosine]
    declared = pick((None, None, "cosine", "dot", "dot", "euclidean", "manhattan"))
    if "dot" not in same and not two_models and rng.random() < 0.93:
        rows.append(_row(rng, pick, cosine, worth, "dot", parse_scorer("dot"), planned=True))
    others = [
        ("euclidean", parse_scorer("euclidean"), False),
        ("whiten(0.5) + cosine", parse_scorer("whiten(0.5) + cosine"), False),
        ("polar (tuned)", osp.Scorer(pick((Polar(1, 0.75), Polar(1, 1)))), True),
        ("cosine + nnn (tuned)", _biased(pick, "nnn(0.75)"), True),
        ("cosine + csls", _biased(pick, "csls"), False),
        ("adapter(by hand (tuned) & <b>é</b>) + cosine", osp.Scorer(COSINE), False),
    ]
    for name, scorer, tuned in others:
        if rng.random() < 0.4:
            rows.append(_row(rng, pick, cosine, worth, name, scorer, planned=name == declared, tuned=tuned))
    calm = rng.random() < 0.3  # nothing but the planned rows may be better, so that other branches are reached
    if calm:
        rows = [row for row in rows if row.planned or row.p is None or not row.better]
    rows.sort(key=lambda row: -row.value if isfinite(row.value) else np.inf)
    rows = label_apart(rows)
    gains = [row.difference for row in rows if isfinite(row.difference)]
    bound = max(0.0, *gains, 0.0) + pick((0.0, worth / 3, 0.00002, 0.02, nan))
    task = {"kind": "pairs", "pairs": units} if pairs else {"kind": "ranking", "queries": units, "documents": 2_000}
    return Comparison(
        metric=metric,
        task={"name": "planted", "judgments_made": not pairs and rng.random() < 0.2, **task},
        rows=rows,
        baseline=cosine.name,
        folds=min(5, units),
        seed=0,
        procedure=_procedure(rng, pick, rows, cosine, worth) if metric not in POOLED and len(rows) > 1 else None,
        worth=worth,
        most_to_gain=bound,
        declared=declared,
    )


def _with_values(rng, table):
    """In a third of the cases rows have a value for each query, of the planted mean, so that two can be tested."""
    pick = lambda options: options[int(rng.integers(len(options)))]  # noqa: E731
    units = table.task.get("queries", 0)
    if table.metric in (*PAIRS, *POOLED) or units > FEW_ENOUGH or rng.random() < 2 / 3:
        return table
    common = rng.normal(0, 0.2, units)

    def values(row):
        noise = common + rng.normal(0, pick((0.003, 0.03, 0.3)), units)
        return noise - noise.mean() + row.value

    return replace(table, rows=[replace(row, values=values(row)) if isfinite(row.value) else row for row in table.rows])


def _of_episodes(rng, table):
    """Some tasks are of episodes, which are neither queries nor pairs, and have no lists of other systems."""
    if table.metric != "success@1" or rng.random() < 0.5:
        return table
    units = table.task["queries"]
    sizes = {"ways": 5, "shots": 1, "classes": 20, "queries": 75, "documents": 400}
    task = {"name": "planted", "kind": "episodes", "unit": "episodes", "episodes": units, **sizes}
    return replace(table, lists=(), task=task)


def _with_stored(rng, table):
    """In half of the cases some forms of the baseline and of what is recommended were measured."""
    pick = lambda options: options[int(rng.integers(len(options)))]  # noqa: E731
    if rng.random() < 0.5:
        return table
    forms = [form for form in parse_stored("float16,int8,binary,dim=64,dim=64+int8") if rng.random() < 0.4]
    sources = dict.fromkeys(row.name for row in (table[table.baseline], table.chosen) if row.scorer.is_plain)
    rows = [_stored(rng, pick, table, table[name], form) for name in sources for form in forms]
    return replace(table, stored=rows)


def _with_lists(rng, table):
    """In a third of the cases there are lists of other systems, held against what is recommended."""
    pick = lambda options: options[int(rng.integers(len(options)))]  # noqa: E731
    if rng.random() < 2 / 3:
        return table
    rows = [_listed(rng, pick, table, name) for name in ("bm25", "bm25 + cosine", "judge")[: int(rng.integers(1, 4))]]
    return replace(table, lists=sorted(rows, key=lambda row: -row.value))


def _listed(rng, pick, table, name):
    chosen, baseline = recommended_choice(table).row, table[table.baseline]
    change, low, high, p = change_of(rng, pick, table.worth, pick(CHANGES))
    value, p = chosen.value + change, p if p is not None and isfinite(p) else 1.0
    return ListRow(
        name=name,
        value=value,
        low=value - 0.05,
        high=value + 0.05,
        difference=value - baseline.value,
        difference_low=low,
        difference_high=high,
        p=p,
        parameters={},
        phrase="rank by something else",
        over_chosen=change,
        over_chosen_low=low,
        over_chosen_high=high,
        over_chosen_p=None if chosen.name == table.baseline else p,
    )


def _stored(rng, pick, table, row, form):
    change, low, high, p = change_of(rng, pick, table.worth, pick(CHANGES))
    value = row.value + change
    return StoredRow(
        name=f"{row.deployed}, stored as {form.name}",
        of=row,
        form=form,
        scorer=row.scorer,
        vector_bytes=form.stored_bytes(form.dimensions or 256),
        whole_bytes=1_024,
        value=value,
        low=value - 0.05,
        high=value + 0.05,
        change=change,
        change_low=low,
        change_high=high,
        change_p=p if isfinite(change) else 1.0,
        costs_at_most=-low * (1 + 0.2 * rng.random()),
        difference=value - table[table.baseline].value,
        difference_low=low,
        difference_high=high,
        p=None,
    )


def _biased(pick, name):
    """With ids and a bank, as ``compare`` makes it; or with ids alone, or neither, as files and arrays have it."""
    ids, queries = pick(((None, 0), (("a", "b", "c"), 0), (("a", "b", "c"), 1), (("a", "b", "c"), 4)))
    bank = QueryBank(np.eye(queries, 5, dtype=np.float32), 2, 0.75) if queries else None
    return osp.Scorer(COSINE, bias=DocumentBias(name, np.zeros(3), ids, bank))


def change_of(rng, pick, worth, kind):
    """A difference, its interval and its p, of one kind."""
    size = pick((0.004, 0.03, 0.2)) * (0.5 + rng.random())
    inside = worth * (0.2 + 0.5 * rng.random())
    luck, sure = 0.05 + 0.9 * rng.random(), pick((0.0001, 0.0123, 0.0499))
    return {
        "better": (size, size * 0.3, size * 1.7 + worth, sure),
        "worse": (-size, -size * 1.7 - worth, -size * 0.3, sure),
        "unsure": (pick((-1, 1)) * size, -2 * size - worth, 2 * size + worth, luck),
        "equal": (pick((-0.2, 0.2)) * inside, -inside, inside, luck),
        "small": (inside * 0.5, inside * 0.1, inside * 0.9, sure),
        "lost a little": (-inside * 0.5, -inside * 0.9, -inside * 0.1, sure),
        "tie": (0.0, 0.0, 0.0, 1.0),
        "undefined": (nan, nan, nan, nan),
    }[kind]


def _row(rng, pick, cosine, worth, name, scorer, *, planned=False, tuned=False):
    difference, low, high, p = change_of(rng, pick, worth, pick(CHANGES))
    value = cosine.value + difference
    return Row(
        name=name,
        value=value,
        low=value - 0.05,
        high=value + 0.05,
        difference=difference,
        difference_low=low,
        difference_high=high,
        p=p,
        p_alone=p,
        scorer=scorer,
        parameters={},
        planned=planned,
        tuned=tuned,
    )


def _procedure(rng, pick, rows, cosine, worth):
    kind = pick((None, "better", "better", "worse", "unsure", "small", "tie"))
    if kind is None or not isfinite(cosine.value):
        return None
    gain, low, high, p = change_of(rng, pick, worth, kind)
    row = pick([row for row in rows if isfinite(row.value) and not row.worse])  # what surely loses is not chosen
    chosen = pick(({row.deployed: 1.0}, {row.deployed: 0.62, "other": 0.38}, {"other": 1.0}))
    reach = pick((1.96, 2.3))
    return Procedure(
        value=cosine.value + gain,
        error=(gain - low) / reach,
        reach=reach,
        gain=gain,
        low=low,
        high=high,
        p=p,
        chosen=chosen,
        row=row.name,
        name=row.deployed,
        scorer=row.scorer,
        repeats=50,
        folds=5,
        values=np.zeros(0),
    )


def effect_of(rng, pick, kind):
    """An effect size of one kind."""
    size = pick((0.05, 0.2, 0.41, 2.0)) * (0.5 + rng.random())
    return {
        "longer": Estimate(size, size * 0.4, size * 1.6),
        "shorter": Estimate(-size, -size * 1.6, -size * 0.4),
        "none": Estimate(pick((-1, 1)) * size, -2 * size, 2 * size),
        "exact": Estimate(0.0, 0.0, 0.0),
        "undefined": UNDEFINED,
        "no interval": Estimate(size, nan, nan),
    }[kind]


def _relevance(rng, pick, *, queries, made):
    effects = (*EFFECTS[:3], *EFFECTS)  # those that say something come more often
    d, adjusted, within, within_adjusted = (effect_of(rng, pick, pick(effects)) for _ in range(4))
    without_texts = rng.random() < 0.15
    drop = effect_of(rng, pick, pick(EFFECTS[:3]))
    if rng.random() < 0.5 and isfinite(d.value):
        drop = Estimate(d.value, *sorted((d.value * 0.5, d.value * 1.5)))
    relevant, others = pick(((233, 7), (120, 1_880), (3, 2), (1_000, 1_000)))
    return Relevance(
        relevant=relevant,
        others=others,
        d=d,
        d_adjusted=None if without_texts else adjusted,
        d_drop=None if without_texts else drop,
        text_length_explains=None if without_texts else 0.3,
        auc=UNDEFINED,
        within=WithinQuery("all", 30, within, UNDEFINED),
        within_adjusted=None if without_texts else WithinQuery("all", 30, within_adjusted, UNDEFINED),
        groups=[],
        document_length_and_cosine=None,
        log_lengths_and_cosine=None,
        query_length_and_ndcg=None,
        queries=queries,
        made=made,
    )


SPREADS = tuple(map(spread_of, (np.ones(50, int), np.array([9, 4, 1, 0, 0]), np.array([2] + 99 * [1]))))


def _ceiling(rng, table):
    """In most cases what documents alone tell was measured, by some or all kinds, mostly under the table's metric."""
    pick = lambda options: options[int(rng.integers(len(options)))]  # noqa: E731
    if rng.random() < 0.2:
        return None
    kinds = [kind for kind in ("prior", "correction", "bias", "weight", "length") if rng.random() < 0.8] or ["bias"]
    calm = pick(((), ("better",), ("better", "worse", "unsure")))  # so that bounds are low in some cases
    changes = [kind for kind in CHANGES[:-1] if kind not in calm]
    rows = []
    for kind in kinds:
        gain, low, high, p = change_of(rng, pick, table.worth, pick(changes))
        rows.append(CeilingRow(kind, Estimate(gain, low, high), p, pick((0.0, 0.4, 1.0))))
    most = max(0.0, *(row.gain.value for row in rows)) + pick((0.0, 0.2, 1.0, 5.0)) * table.worth
    return Ceiling(
        metric=table.metric if rng.random() < 0.9 else "mrr@3",
        queries=300,
        cosine=0.5,
        rows=rows,
        best=rows[0].gain,
        most=most,
        spread=pick(SPREADS),
    )


def _lengths(side, normalised):
    counts = np.ones(1, int)
    spread = {"count": 100, "empty": 0, "mean": 1.0, "quantiles": {}, "histogram_counts": counts}
    deviation = 0.0 if normalised else 0.3
    return LengthSummary(
        side=side,
        deviation=deviation,
        variation=deviation,
        histogram_edges=np.array([0.0, 1.0]),
        normalised=normalised,
        **spread,
    )


def _dimensions(pick):
    part, mean = pick((0.3, 0.51, 0.97)), pick((0.02, 0.3))
    return Dimensions(
        side=pick(("query", "document")),
        mean_cosine=mean,
        order=np.array([7, 1]),
        contributions=np.array([part * mean, (1 - part) * mean]),
        cumulative_shares={"1": part},
        needed={},
        informativity={},
        informative_rows=2,
    )


def _hubness(rng, pick, table):
    queries = units_in_all(table.task)
    documents = pick((4, 46, 2_000, 50_000))
    k = min(10, documents)
    chance = chance_of(queries, k, documents)
    scorers = ["cosine", "dot", table.rows[0].deployed]
    rows = []
    for scorer in dict.fromkeys(scorers):
        hubs = min(int(chance["hubs"] * pick((0.5, 1, 2.9, 3.5, 10)) + pick((0, 0, 3))), documents)
        hubs = hubs if queries >= 2 * k else 0
        worst = queries if hubs else min(queries, k)
        rows.append(
            Hubness(
                scorer=scorer,
                k=k,
                queries=queries,
                documents=documents,
                skewness=pick((0.2, chance["skewness"], 8.5)),
                robin_hood=0.3,
                gini=0.4,
                antihub_share=0.2,
                hub_count=hubs,
                worst=[Hub(pick(IDS), worst)],
                never=[],
                documents_in_lists=np.ones(1, int),
                chance=chance,
            )
        )
    return rows if rng.random() < 0.8 else []
