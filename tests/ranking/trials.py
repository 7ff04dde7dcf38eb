"""Adversarial trials of the exact search: ties, zeros, numbers at the ends of float32, near-ties, odd shapes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from offsphere.base.errors import VectorError
from offsphere.ranking.hub_bias import csls, nnn
from offsphere.ranking.search import search
from offsphere.scoring.document_bias import DocumentBias
from offsphere.scoring.names import parse_scorer
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.standardize_queries import standardize_queries
from offsphere.vectors.moments import Moments
from tests.ranking import brute_force
from tests.ranking.brute_force import bank_means, mapped, misordered, misplaced

KINDS = ("plain", "duplicates", "parallel", "whole numbers", "zeros", "unit", "far apart", "huge", "tiny", "subnormal")
KINDS += ("near-ties", "constant", "one-hot", "large mean", "mixed lengths")
LINEAR = {
    "cosine": ("polar", (1, 1)),
    "dot": ("polar", (0, 0)),
    "query-normalized": ("polar", (1, 0)),
    "document-normalized": ("polar", (0, 1)),
    "half": ("polar", (0.5, 0.5)),
    "polar(1, 1.5)": ("polar", (1, 1.5)),
    "polar(1, -0.5)": ("polar", (1, -0.5)),
    "norm-mix(0.8)": ("norm-mix", (0.8,)),
    "radial-confidence(3)": ("radial-confidence", (3,)),
}
OTHER = {
    "euclidean": ("euclidean", ()),
    "angular": ("angular", ()),
    "norm-gap(2)": ("norm-gap", (2,)),
    "overlap": ("overlap", ()),
    "tanh": ("tanh", ()),
}


@dataclass
class Corpus:
    """What a trial searches: vectors as they are given, and as the float32 rows that the search promises to see."""

    kind: str
    queries: np.ndarray
    documents: object
    query_rows: np.ndarray
    document_rows: np.ndarray


def run_trial(seed: int, folder: Path) -> list[str]:
    """Draw a corpus and three scorers, search, and say what disagrees with brute force: nothing, if all is well."""
    rng = np.random.default_rng([20, seed])
    corpus = draw_corpus(rng, folder)
    chosen = [draw_scorer(rng, corpus) for _ in range(3)]
    count = len(corpus.document_rows)
    k = int(rng.choice([1, 2, 5, 10, max(1, count - 1), count, count + 7]))
    shape = {"block_rows": int(rng.choice([1, 1024, 1500, 16_384])), "threads": int(rng.integers(1, 3))}
    chosen = [one for one in chosen if fits(corpus, one[0])]
    scorers = [scorer for scorer, _, _ in chosen]
    excluded = draw_excluded(rng, len(corpus.queries), count) if rng.random() < 0.25 else None
    faults = []
    pairs = np.nonzero(excluded) if excluded is not None else None
    tops = search(corpus.queries, corpus.documents, scorers, k, excluded=pairs, **shape)
    allowed = ~excluded if excluded is not None else None
    for (scorer, name, parts), top in zip(chosen, tops, strict=True):
        faults += [f"{corpus.kind}, {name}: {fault}" for fault in judge(corpus, scorer, parts, top, k, allowed)]
    return faults


def fits(corpus: Corpus, scorer: Scorer) -> bool:
    """Whether the transformed vectors are in the range of float32; else the search must refuse them, and does."""
    rows = [scorer.transform(corpus.queries, "query"), scorer.transform(corpus.document_rows)]
    if all(np.isfinite(part).all() for part in rows):
        return True
    with pytest.raises(VectorError, match="is not finite in float32 after"):
        search(corpus.queries, corpus.documents, [scorer])
    return False


def draw_corpus(rng: np.random.Generator, folder: Path) -> Corpus:
    """Vectors of one of the hostile kinds, of a random type, in one array, several of odd sizes, or mapped."""
    kind = str(rng.choice(KINDS))
    dimension = int(rng.choice([1, 2, 3, 5, 8, 17, 33]))
    count = int(rng.choice([1, 2, 3, 7, 40, 130])) if rng.random() < 0.93 else int(rng.choice([1023, 1025, 2300]))
    documents = rng.standard_normal((count, dimension))
    queries = rng.standard_normal((int(rng.integers(1, 7)), dimension))
    queries, documents = spoilt(kind, rng, queries, documents)
    dtype = rng.choice([np.float16, np.float32, np.float64])
    if kind in ("huge", "tiny", "subnormal", "mixed lengths", "far apart") and dtype is np.float16:
        dtype = np.float32
    queries, documents = queries.astype(rng.choice([np.float32, np.float64])), documents.astype(dtype)
    rows = queries.astype(np.float32), documents.astype(np.float32)
    form = rng.choice(["array", "parts", "map", "strided"])
    given: object = documents
    if form == "parts":
        cuts = np.sort(rng.integers(0, count + 1, 2))
        given = [documents[: cuts[0]], documents[cuts[0] : cuts[1]], documents[cuts[1] :]]
    elif form == "map":
        np.save(folder / "documents.npy", documents)
        given = np.load(folder / "documents.npy", mmap_mode="r")
    elif form == "strided":
        wide = np.zeros((count, 2 * dimension), documents.dtype)
        wide[:, ::2] = documents
        given = wide[:, ::2]
    return Corpus(kind, queries, given, *rows)


def spoilt(kind, rng, queries, documents):  # noqa: C901, PLR0912  # a branch a kind
    """The vectors made hostile."""
    count, dimension = documents.shape
    if kind == "duplicates":
        documents = documents[rng.integers(0, max(1, count // 8), count)]
    elif kind == "parallel":
        documents = documents[rng.integers(0, max(1, count // 8), count)] * rng.integers(1, 9, (count, 1))
        queries[0] = documents[0]
    elif kind == "whole numbers":
        queries, documents = np.round(queries), np.round(documents)
    elif kind == "zeros":
        documents[rng.random(count) < 0.4] = 0
        queries[rng.random(len(queries)) < 0.4] = 0
    elif kind == "unit":
        documents /= np.maximum(np.linalg.norm(documents, axis=1, keepdims=True), 1e-9)
    elif kind == "far apart":
        documents *= rng.lognormal(0, 3, (count, 1))
    elif kind == "huge":
        documents, queries = documents * 1e35, queries * 1e35  # sums of squares leave float32, the numbers do not
    elif kind == "tiny":
        documents, queries = documents * 1e-30, queries * 10.0 ** rng.integers(-30, 30)
    elif kind == "subnormal":
        documents, queries = documents * 1e-42, queries * 10.0 ** rng.integers(-40, 3)
    elif kind == "mixed lengths":
        documents *= 10.0 ** rng.integers(-40, 36, (count, 1))
        queries *= 10.0 ** rng.integers(-40, 36, (len(queries), 1))
    elif kind == "near-ties":  # the last bit of float32, in one number of each document
        documents = np.tile(documents[:1].astype(np.float32), (count, 1))
        steps = rng.integers(-1, 2, count).astype(np.float32)
        column = int(rng.integers(dimension))
        documents[:, column] = np.nextafter(documents[:, column], documents[:, column] + steps)
        documents = documents.astype(np.float64)
    elif kind == "constant":
        documents[:] = documents[0]
    elif kind == "one-hot":
        documents = np.eye(dimension)[rng.integers(0, dimension, count)]
    elif kind == "large mean":
        documents, queries = documents + 1000, queries + 1000
    return queries, documents


def draw_scorer(rng: np.random.Generator, corpus: Corpus):
    """A scorer with transforms, perhaps a bias, perhaps standardised; its name; and what brute force needs of it."""
    dimension = corpus.document_rows.shape[1]
    transforms = draw_transforms(rng, dimension)
    extra = str(rng.choice(["none", "nnn", "csls", "numbers"]))
    standardized = bool(rng.random() < 0.3)
    linear = extra != "none" or standardized
    names = list(LINEAR) if linear else [*LINEAR, *OTHER]
    name = "cosine" if extra == "csls" else str(rng.choice(names))
    if extra == "nnn":
        name = str(rng.choice([one for one, (family, _) in LINEAR.items() if family == "polar"]))
    family, parameters = {**LINEAR, **OTHER}[name]
    texts = [kind if not numbers else f"{kind}({', '.join(f'{n:g}' for n in numbers)})" for kind, numbers in transforms]
    moments = Moments.of(corpus.document_rows)
    scorer = parse_scorer(" + ".join([*texts, name])).fit(moments)
    bias = None
    if extra == "numbers":
        bias = rng.standard_normal(len(corpus.document_rows)) * 10.0 ** rng.integers(-8, 3)
        scorer = Scorer(scorer.similarity, scorer.transforms, DocumentBias("numbers", bias), scorer.map)
    elif extra != "none":
        some = rng.integers(0, len(corpus.document_rows), 5)
        bank = corpus.document_rows[some] * rng.uniform(0.5, 1.5, (5, dimension)).astype(np.float32)
        bank[rng.random(5) < 0.2] = 0
        near = int(rng.choice([1, 3, 10]))
        scorer = (
            csls(scorer, corpus.documents, bank, near)
            if extra == "csls"
            else nnn(scorer, corpus.documents, bank, 0.75, near)
        )
        bias = (extra, bank, near)
    if standardized and np.any(np.linalg.norm(scorer.transform(corpus.document_rows).astype(np.float64), axis=1)):
        scorer = standardize_queries(scorer, corpus.documents)
    return scorer, scorer.name, (transforms, family, parameters, bias)


def draw_transforms(rng: np.random.Generator, dimension: int) -> list[tuple[str, list[float]]]:
    """No transform, one, or two."""
    pool: list[tuple[str, list[float]]] = [("center", []), ("standardize", []), ("whiten", [0.5]), ("whiten", [1.0])]
    pool += [("drop-top", [1]), ("whiten", [1.0, max(1, dimension // 2)])] if dimension > 1 else []
    count = int(rng.choice([0, 0, 1, 1, 1, 2]))
    chosen = [pool[number] for number in rng.integers(0, len(pool), count)]
    if len(chosen) == 2 and (len(chosen[0][1]) == 2 or len(chosen[1][1]) == 2):  # what is cut off is cut off last
        chosen = chosen[1:]
    return chosen


def draw_excluded(rng: np.random.Generator, queries: int, documents: int) -> np.ndarray:
    """Which documents a query must not get."""
    return rng.random((queries, documents)) < rng.choice([0.02, 0.3, 0.9])


def judge(corpus: Corpus, scorer: Scorer, parts, top, k: int, allowed) -> list[str]:
    """What disagrees with brute force: transformed vectors, the bias, the order, that of equals, or the scores."""
    transforms, family, parameters, bias = parts
    queries, documents = corpus.query_rows, corpus.document_rows
    faults = []
    if transforms:
        faults += judge_transforms(scorer, transforms, corpus.queries, documents)
        queries, documents = scorer.transform(corpus.queries, "query"), scorer.transform(corpus.document_rows)
    numbers = bias
    if isinstance(bias, tuple):
        extra, bank, near = bias
        means, room = bank_means(family, parameters, scorer.transform(bank, "query"), documents, near)
        wanted = -means / 2 if extra == "csls" else -0.75 * means
        if (np.abs(scorer.bias.values - wanted) > room).any():
            faults.append("the bias is not its formula")
        numbers = scorer.bias.values
    brute = brute_force.scores(family, parameters, queries, documents, numbers)
    ranked = top.documents
    if allowed is None:
        if ranked.shape[1] != min(k, len(documents)):
            faults.append(f"{ranked.shape[1]} documents came out")
        rows = list(ranked)
    else:
        rows = [row[row >= 0] for row in ranked]
        wanted = np.minimum(allowed.sum(axis=1), k)
        if [len(row) for row in rows] != wanted.tolist():
            faults.append("other than all allowed documents came out")
    for query, row in enumerate(rows):
        only = brute_force.Scores(*(part[query : query + 1] for part in brute))
        mask = allowed[query : query + 1] if allowed is not None else None
        faults += [fault for fault in [misplaced(row[None], only, mask)] if fault]
        kinds = kinds_of(corpus.document_rows, numbers)
        faults += [fault for fault in [misordered(row[None], kinds, mask)] if fault]
        faults += judge_scores(scorer, only, row, top.scores[query][: len(row)])
    return faults


def kinds_of(rows: np.ndarray, bias) -> np.ndarray:
    """Which documents are equal: a number each."""
    table = rows if bias is None else np.column_stack([rows, np.asarray(bias, np.float64)])
    return np.unique(table + 0.0, axis=0, return_inverse=True)[1].ravel()


def judge_transforms(scorer: Scorer, transforms, queries: np.ndarray, documents: np.ndarray) -> list[str]:
    """Compare transformed vectors with the definitions, by their inner products, which no choice of axes changes."""
    rows, asked = documents.astype(np.float64), queries.astype(np.float64)
    rooms = (0.0, 0.0)
    for name, numbers in transforms:
        matrix, mean, determined = brute_force.affine_of(name, numbers, rows)
        noise = np.ndim(rooms[0]) and (rows.std(axis=0) <= 1000 * rooms[0].max(axis=0)).any()
        if not determined or noise or not np.isfinite(matrix).all():  # fitted on rounding: nobody knows the answer
            return []
        grown = [np.abs(room @ np.abs(matrix)) if np.ndim(room) else 0.0 for room in rooms]
        (rows, first), (asked, second) = mapped(rows, matrix, mean), mapped(asked, matrix, mean)
        rooms = (first + grown[0], second + grown[1])
    ours, theirs = scorer.transform(documents).astype(np.float64), scorer.transform(queries, "query").astype(np.float64)
    room = np.abs(asked) @ rooms[0].T + rooms[1] @ np.abs(rows).T + rooms[1] @ rooms[0].T
    apart = np.abs(theirs @ ours.T - asked @ rows.T)
    worst = float((apart / np.maximum(room * 64, 1e-300)).max())
    return [] if worst <= 1 else [f"transformed vectors are off by {worst:.3g} of what rounding allows"]


def judge_scores(scorer: Scorer, brute, row: np.ndarray, scores: np.ndarray) -> list[str]:
    """Compare returned scores with the values; standardised ones with mean and deviation over the whole corpus."""
    if (scores[1:] > scores[:-1]).any():
        return ["scores rise"]
    values, errors = brute.values[0], brute.value_errors[0]
    wanted, room = values[row], np.maximum.accumulate(errors[row]) + brute.key_errors[0][row].max(initial=0)
    if scorer.standardization is not None:
        finite = values[np.isfinite(values)]
        if not len(finite):
            return []
        # the size that scores of such vectors can have; the closed form knows a deviation to some share of that
        size = max(np.abs(finite).max(), errors.max() / (50 * brute_force.EPSILON))
        deviation = finite.std()
        if deviation <= 1e-4 * size:  # no deviation to speak of: noise, standardised
            return []
        wanted, room = (wanted - finite.mean()) / deviation, 1e-4 * size / deviation + 0 * room
    same = np.isfinite(wanted) == np.isfinite(scores)
    finite = np.isfinite(wanted) & same
    if not same.all() or (np.abs(scores[finite] - wanted[finite]) > 4 * room[finite]).any():
        return [f"scores {scores[:4].tolist()} are not {wanted[:4].astype(float).tolist()}"]
    return []
