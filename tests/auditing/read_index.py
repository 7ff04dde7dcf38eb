"""Reads what a verdict says about the index, and tries it: in an index set so, random vectors rank as by the scorer."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np

import offsphere as osp

METRIC = r"cosine|dot product \(inner product\)|Euclidean distance \(L2\)"
SET = "(?P<by>set the index to|compare by)"
PLAIN = re.compile(rf"{SET} (?P<metric>{METRIC})(?P<raw>, with the vectors as they are)?$")
CHANGED = re.compile(
    rf"transform the vectors of (?P<sides>documents and queries|both sides|queries alone \(documents stay as they are\)"
    rf"|documents alone \(queries stay as they are\)), and {SET} (?P<metric>{METRIC})"
    r"(?P<undone>; cosine would undo a part of this)?\. Run `offsphere export "
    r'(?:"(?P<served>.+)"|FOLDER) --vectors DIR --to TARGET`(?P<saved> \(FOLDER: where the scorer was saved\))?$'
)
NONE = "no index ranks so: let one set to cosine fetch a few hundred, and re-rank those (scorer.score_pairs)"
RNG = np.random.default_rng(7)
QUERIES, DOCUMENTS = (
    (RNG.normal(size=(count, 5)) * np.exp(RNG.normal(0, 0.8, (count, 1)))).astype(np.float32) for count in (6, 60)
)


def index_complaints(words, scorer, *, pairs):
    """What is wrong with what is said about the index, tried on random vectors."""
    if words == NONE:
        return [] if not scorer.similarity.lowers else ["an index does rank so"]
    plain, changed = PLAIN.match(words), CHANGED.match(words)
    if any(not _fits(match, pairs) for match in (plain, changed) if match is not None):
        return ["an index of pairs, or pairs of an index"]
    if plain is not None:
        told = bool(plain["raw"]) == (plain["metric"] != "cosine")
        ranks = scorer.is_plain and not scorer.transforms and _agrees(scorer, plain["metric"], "raw", pairs)
        return ([] if told else ["raw or not?"]) + ([] if ranks else ["an index set so ranks otherwise"])
    return ["cannot be read"] if changed is None else _of_changed(changed, scorer, pairs)


def _of_changed(changed, scorer, pairs):
    """What is wrong where vectors are transformed before they are stored."""
    complaints = []
    queries, documents = (bool((ours.transform(rows, side) != rows).any()) for ours, rows, side in _both(scorer))
    alone = None if queries == documents or changed["undone"] or pairs else "queries" if queries else "documents"
    if changed["sides"].partition(" alone")[0] != (alone or ("both sides" if pairs else "documents and queries")):
        complaints.append("other vectors are changed")
    if (changed["served"] is None) != bool(changed["saved"]):
        complaints.append("a folder or a name?")
    if changed["served"] is not None and osp.parse_scorer(changed["served"]).name != scorer.name:
        complaints.append("the command makes another scorer")
    if changed["served"] is None and _has_a_name(scorer):
        complaints.append("its name would do")
    if scorer.bias is not None:
        return complaints + ([] if changed["metric"].startswith("dot") and changed["undone"] else ["biases are added"])
    if not _agrees(scorer, changed["metric"], "lowered" if changed["undone"] else "transformed", pairs):
        complaints.append("an index set so ranks otherwise")
    if changed["undone"] and _agrees(scorer, "cosine", "lowered", pairs):
        complaints.append("cosine would undo nothing")
    return complaints


def _both(scorer):
    """A scorer fitted on random documents, with the vectors of each side."""
    fitted = osp.Scorer(scorer.similarity, scorer.transforms).fit(osp.Moments.of(DOCUMENTS))
    return (fitted, QUERIES, "query"), (fitted, DOCUMENTS, "document")


def _has_a_name(scorer):
    return scorer.is_plain and all(part.by_name for part in (*scorer.transforms, scorer.similarity))


def _fits(match, pairs):
    """Whether pairs are compared, and queries asked of an index."""
    sides = match.groupdict().get("sides")
    return (match["by"] == "compare by") == pairs and (sides is None or (sides == "both sides") == pairs)


def _agrees(scorer, metric, stored, pairs):
    return _tried(scorer.name, scorer, metric, stored, pairs)


@lru_cache
def _tried(_, scorer, metric, stored, pairs):
    """Whether an index with that metric orders random documents as the scorer does; for pairs, all pairs at once."""
    fitted = osp.Scorer(scorer.similarity, scorer.transforms).fit(osp.Moments.of(DOCUMENTS))
    if stored == "raw":
        queries, documents = QUERIES, DOCUMENTS
    elif stored == "transformed":
        queries, documents = fitted.transform(QUERIES, "query"), fitted.transform(DOCUMENTS)
    else:
        queries, documents = fitted.lower().queries(QUERIES), fitted.lower().documents(DOCUMENTS)
    left, right = np.asarray(queries, np.float64), np.asarray(documents, np.float64)
    values = left @ right.T
    if metric == "cosine":
        values /= np.linalg.norm(left, axis=1)[:, None] * np.linalg.norm(right, axis=1)
    elif metric.startswith("Euclidean"):
        values = -np.linalg.norm(left[:, None] - right[None], axis=2)
    wanted = np.stack([fitted.score_pairs(np.tile(query, (len(DOCUMENTS), 1)), DOCUMENTS) for query in QUERIES])
    if pairs:
        values, wanted = values.reshape(1, -1), wanted.reshape(1, -1)
    return bool((np.argsort(-values, axis=1) == np.argsort(-wanted, axis=1)).all())
