from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offsphere.base.errors import DataError, VectorError
from offsphere.ranking.hub_bias import csls, nnn
from offsphere.ranking.search import search
from offsphere.scoring.names import parse_scorer
from offsphere.scoring.query_bank import MOST_QUERIES
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.standardize_queries import standardize_queries
from offsphere.vectors.moments import Moments
from tests.oracles import values
from tests.processes import environment_with
from tests.scoring.samples import vectors

SAVED = Path(__file__).parent / "saved" / "bias"  # of 50 documents, saved before biases had ids
COUNT, BANK = 60, 30
TOLERANCE = 1e-12  # of a bias that is made later; one that was kept is equal to the last bit
SEEDS = st.integers(0, 10_000)


def ids_of(rows):
    return [f"d{row}" for row in rows]


def corpus(seed):
    return vectors(seed, 5), vectors(seed + 1, COUNT), vectors(seed + 2, BANK)


def biased(documents, bank, ids=None):
    white = parse_scorer("whiten(0.5) + cosine").fit(Moments.of(documents[:40]))
    return [
        nnn(Scorer(), documents, bank, ids=ids),
        nnn(parse_scorer("polar(1, 0.5)"), documents, bank, alpha=0.5, k=7, ids=ids),
        csls(white, documents, bank, ids=ids),
    ]


def by_id(top, ids):
    """The scores of each query's documents by their ids."""
    return [
        dict(zip([ids[row] for row in rows], scores, strict=True))
        for rows, scores in zip(top.documents, top.scores.tolist(), strict=True)
    ]


@given(seed=SEEDS)
def test_permuting_the_corpus_permutes_the_results(seed):
    queries, documents, bank = corpus(seed)
    names = ids_of(range(COUNT))
    order = np.random.default_rng(seed).permutation(COUNT)
    moved = [names[row] for row in order]
    for scorer in biased(documents, bank, names):
        before = search(queries, documents, [scorer], COUNT, ids=names)[0]
        after = search(queries, documents[order], [scorer], COUNT, ids=moved)[0]
        assert (order[after.documents] == before.documents).all()
        assert (after.scores == before.scores).all()
        lowering = scorer.lower()
        assert (lowering.documents(documents[order], moved) == lowering.documents(documents, names)[order]).all()


@given(seed=SEEDS)
def test_documents_that_remain_keep_their_scores(seed):
    queries, documents, bank = corpus(seed)
    names = ids_of(range(COUNT))
    rest = np.sort(np.random.default_rng(seed).permutation(COUNT)[:20])
    left = [names[row] for row in rest]
    for scorer in biased(documents, bank, names):
        whole = by_id(search(queries, documents, [scorer], COUNT, ids=names)[0], names)
        part = by_id(search(queries, documents[rest], [scorer], COUNT, ids=left)[0], left)
        assert part == [{name: scores[name] for name in left} for scores in whole]


@given(seed=SEEDS)
def test_a_new_document_gets_the_bias_that_a_fresh_fit_with_the_same_bank_gives(seed):
    queries, documents, bank = corpus(seed)
    names = ids_of(range(COUNT))
    order = np.random.default_rng(seed).permutation(COUNT)
    all_names = [names[row] for row in order]
    fresh = biased(documents, bank, names)
    for early, late in zip(biased(documents[:40], bank, names[:40]), fresh, strict=True):
        extended = by_id(search(queries, documents[order], [early], COUNT, ids=all_names)[0], all_names)
        expected = by_id(search(queries, documents, [late], COUNT, ids=names)[0], names)
        for query, scores in zip(extended, expected, strict=True):
            assert query == pytest.approx(scores, abs=TOLERANCE, rel=0)
        added = early.lower().documents(documents[40:], names[40:])
        assert np.allclose(added[:, -1], late.bias.values[40:], atol=1e-6)  # a lowered vector is of float32


def test_the_bias_of_a_new_document_is_its_formula():
    queries, documents, bank = corpus(3)
    scorer = nnn(Scorer(), documents[:40], bank, 0.75, 7, ids=ids_of(range(40)))
    near = np.sort(values("cosine", bank, documents), axis=0)[::-1][:7].mean(axis=0)
    top = search(queries, documents, [scorer], COUNT, ids=ids_of(range(COUNT)))[0]
    expected = values("cosine", queries, documents) - 0.75 * near
    assert np.allclose(np.take_along_axis(expected, top.documents, 1), top.scores)


def test_a_bank_that_is_larger_than_what_is_kept_is_thinned_at_even_steps():
    documents, bank = vectors(0, 5), vectors(1, 2 * MOST_QUERIES)
    scorer = nnn(Scorer(), documents, bank, ids=ids_of(range(5)))
    assert (scorer.bias.bank.queries == bank[::2]).all()
    assert (scorer.bias.values == nnn(Scorer(), documents, bank[::2]).bias.values).all()


OTHER_PROCESS = """
import sys, json
import numpy as np
import offsphere as osp
folder = sys.argv[1]
arrays = np.load(f"{folder}/arrays.npz")
names = json.load(open(f"{folder}/ids.json"))
top = osp.search(arrays["queries"], arrays["documents"], [osp.Scorer.load(folder)], 20, ids=names)[0]
np.savez(f"{folder}/top.npz", documents=top.documents, scores=top.scores)
"""


@pytest.mark.parametrize("number", range(3))
def test_another_process_serves_a_saved_bias_to_a_corpus_that_changed(tmp_path, number):
    queries, documents, bank = corpus(11)
    names = ["tab\tline\nend", "Ünï", *ids_of(range(2, 40))]
    scorer = biased(documents[:40], bank, names)[number]
    scorer.save(tmp_path)
    order = np.random.default_rng(0).permutation(COUNT)
    moved = [[*names, *ids_of(range(40, COUNT))][row] for row in order]
    np.savez(tmp_path / "arrays.npz", queries=queries, documents=documents[order])
    (tmp_path / "ids.json").write_text(json.dumps(moved))
    subprocess.run([sys.executable, "-c", OTHER_PROCESS, tmp_path], check=True, env=environment_with())
    top = np.load(tmp_path / "top.npz")
    here = search(queries, documents[order], [scorer], 20, ids=moved)[0]
    assert (top["documents"] == here.documents).all()
    assert np.allclose(top["scores"], here.scores, atol=TOLERANCE, rtol=0)
    assert Scorer.load(tmp_path).key == scorer.key
    assert json.loads((tmp_path / "scorer.json").read_text())["format"] == 2  # which earlier versions refuse


def test_a_bias_that_cannot_be_matched_says_why_in_one_line():
    queries, documents, bank = corpus(0)
    names = ids_of(range(COUNT))
    named, unnamed = biased(documents, bank, names)[0], biased(documents, bank)[0]
    with pytest.raises(VectorError, match=r"knows its 60 documents by id: say which these 60 are, with ids="):
        search(queries, documents, [named], 3)
    with pytest.raises(VectorError, match="there are 59 ids for 60 documents"):
        search(queries, documents, [named], 3, ids=names[1:])
    with pytest.raises(VectorError, match="document id 'd1' stands there twice"):
        search(queries, documents, [named], 3, ids=["d1", *names[1:]])
    with pytest.raises(VectorError, match=r"document id 0 is of type int: ids are texts, write str\(id\)"):
        search(queries, documents, [named], 3, ids=range(COUNT))
    with pytest.raises(VectorError, match=r"the bias is of 60 documents, there are 59: .* was made without ids"):
        search(queries, documents[1:], [unnamed], 3, ids=names[1:])
    with pytest.raises(VectorError, match="the bias is of 60 documents, there are 2"):
        unnamed.lower().documents(documents[:2])
    with pytest.raises(VectorError, match="there are 2 ids for 60 documents"):
        nnn(Scorer(), documents, bank, ids=["a", "b"])


def test_a_bias_without_a_bank_refuses_new_documents():
    from dataclasses import replace

    queries, documents, bank = corpus(0)
    scorer = nnn(Scorer(), documents[:40], bank, ids=ids_of(range(40)))
    scorer = replace(scorer, bias=replace(scorer.bias, bank=None))
    search(queries, documents[:10], [scorer], 3, ids=ids_of(range(10)))
    with pytest.raises(VectorError, match=r"no bias for document 'd40' \(20 are unknown\) and no query bank"):
        search(queries, documents, [scorer], 3, ids=ids_of(range(COUNT)))


def test_a_scorer_saved_before_biases_had_ids_serves_its_own_row_count_alone():
    scorer = Scorer.load(SAVED)
    count, width = len(scorer.bias.values), len(scorer.map.shift)
    documents = vectors(0, count + 1, width)
    queries = vectors(1, 3, width)
    assert search(queries, documents[:count], [scorer], 3, ids=ids_of(range(count)))[0].scores.shape == (3, 3)
    with pytest.raises(VectorError, match=rf"the bias is of {count} documents, there are {count + 1}: .* without ids"):
        search(queries, documents, [scorer], 3)


def test_standardised_scores_of_a_named_bias_follow_the_documents():
    queries, documents, bank = corpus(5)
    names = ids_of(range(COUNT))
    scorer = standardize_queries(nnn(Scorer(), documents, bank, ids=names), documents[::-1], ids=names[::-1])
    top = search(queries, documents, [scorer], COUNT, ids=names)[0]
    assert np.allclose(top.scores.mean(axis=1), 0, atol=1e-5)
    assert np.allclose(top.scores.std(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("bias.ids", np.frombuffer(b'{"a": 1}', np.uint8)),
        ("bias.ids", np.frombuffer(b'["a"]', np.uint8)),
        ("bias.bank", np.zeros(4, np.float32)),
        ("bias", np.zeros((2, 2))),
    ],
)
def test_damaged_files_of_a_bias_are_told_in_one_line(tmp_path, name, damage):
    from offsphere.scoring.scorer_files import write_scorer_files

    _, documents, bank = corpus(0)
    scorer = nnn(Scorer(), documents, bank, ids=ids_of(range(COUNT)))
    write_scorer_files(tmp_path, scorer.config(), {**scorer.arrays(), name: damage})
    with pytest.raises((DataError, VectorError)):
        Scorer.load(tmp_path)


def test_what_serving_costs_is_told():
    _, documents, bank = corpus(0)
    names = ids_of(range(COUNT))
    assert Scorer().upkeep == (0, False, 0, False)
    assert parse_scorer("euclidean").upkeep == (1, False, 0, False)
    named, unnamed = nnn(Scorer(), documents, bank, ids=names), nnn(Scorer(), documents, bank)
    assert named.upkeep == (1, True, BANK, False)
    assert unnamed.upkeep == (1, True, 0, True)
    assert standardize_queries(named, documents, ids=names).upkeep == (2, True, BANK, True)
    for scorer in (named, unnamed):  # what is said of dimensions is what lowering does
        assert scorer.lower().documents(documents, names).shape[1] == documents.shape[1] + scorer.upkeep.dimensions
