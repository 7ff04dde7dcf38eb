"""BM25, fusion and a model as judge: against bm25s' own ranking, against ranx, and against sentence-transformers."""

from __future__ import annotations

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import OffsphereError, ParameterError
from offsphere.cli.options.shared_options import ModelOptions
from offsphere.comparison.fusion import WEIGHTS, reciprocal_ranks, weighted_sums
from offsphere.comparison.list_source import ListRequest
from offsphere.data.items import ItemList
from offsphere.data.judgments import Judgment
from offsphere.data.scored_lists import ScoredLists
from offsphere.encode.cross_encoder import CrossEncoderModel
from offsphere.statistics.metrics import parse_metric
from tests.oracles import top
from tests.ranx_oracle import ask_ranx

WORDS = ["wing", "flutter", "heat", "tunnel", "shock", "plate", "nozzle", "jet"]
WORDS += ["layer", "wake", "drag", "lift", "panel", "cone", "blade", "rotor"]


def textual(queries=24, documents=60, seed=0):
    """A task whose texts are drawn words, and whose vectors say something of them too."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, rng.integers(4, 14))) for _ in range(documents)]
    asked = [" ".join(rng.choice(texts[rng.integers(documents)].split(), 3)) for _ in range(queries)]
    shared = [[len(set(q.split()) & set(d.split())) for d in texts] for q in asked]
    judged = [Judgment(f"q{q}", f"d{d}", 1.0) for q, row in enumerate(shared) for d in np.argsort(-np.array(row))[:3]]
    named = ItemList([f"q{q}" for q in range(queries)], asked), ItemList([f"d{d}" for d in range(documents)], texts)
    task = osp.RankingTask.build("words", *named, judged)
    bags = [np.array([[t.split().count(w) for w in WORDS] for t in some], np.float32) for some in (asked, texts)]
    rows = [bag @ rng.normal(size=(len(WORDS), 6)).astype(np.float32) for bag in bags]
    return task, task.vectors(*rows)


@pytest.fixture(scope="module")
def words():
    return textual()


def asked_of(task, vectors):
    return ListRequest(task, vectors, parse_metric("ndcg@10"))


def scores_of(lists):
    """Lists as a dictionary of dictionaries: what ranx makes a run of."""
    return {
        f"q{q}": {f"d{d}": float(s) for d, s in zip(row, scores, strict=True) if d >= 0}
        for q, (row, scores) in enumerate(zip(lists.documents, lists.scores, strict=True))
    }


def fused_by_ranx(parts, norm, method, params):
    code = "fused = ranx.fuse([run_of(part) for part in given['parts']], **given['how']); answer = fused.to_dict()"
    return ask_ranx(
        code, parts=[scores_of(part) for part in parts], how={"norm": norm, "method": method, "params": params}
    )


def test_bm25_ranks_as_bm25s_does(words):
    bm25s = pytest.importorskip("bm25s")
    task, vectors = words
    (row,) = osp.Bm25().candidates(asked_of(task, vectors))
    index = bm25s.BM25()
    index.index(bm25s.tokenize(task.document_texts, show_progress=False), show_progress=False)
    found = index.retrieve(bm25s.tokenize(task.query_texts, show_progress=False), k=10, show_progress=False)
    assert np.allclose(row.options[0].scores[:, :10], found.scores, atol=1e-5)
    ours, theirs = row.options[0].documents[:, :10], np.asarray(found.documents)
    apart = np.diff(np.c_[found.scores, row.options[0].scores[:, 10]], axis=1) < -1e-5  # not tied with the next
    alone = apart & np.c_[np.ones(len(ours), bool), apart[:, :-1]]
    assert alone.sum() > 40
    assert (ours[alone] == theirs[alone]).all()


def test_words_that_no_document_has_find_nothing_and_no_words_at_all_do_no_harm():
    lists = osp.Bm25().search(["zebra", "", "heat the"], ["heat of a plate", "", "jet"], 5)
    assert lists.documents.tolist() == [[-1], [-1], [0]]
    assert osp.Bm25().search(["heat"], ["", "the of"], 5).documents.tolist() == [[-1]]


def test_reciprocal_rank_fusion_is_that_of_ranx():
    rng = np.random.default_rng(2)
    parts = []
    for depth in (12, 20):
        documents = np.stack([rng.permutation(40)[:depth] for _ in range(9)])
        parts.append(ScoredLists.ranked(documents, rng.normal(size=documents.shape)))
    theirs = fused_by_ranx(parts, None, "rrf", {"k": 60})
    ours = reciprocal_ranks(parts)
    for q in range(9):
        expected = theirs[f"q{q}"]
        for document, score in zip(ours.documents[q], ours.scores[q], strict=True):
            assert document < 0 or expected[f"d{document}"] == pytest.approx(score)
        assert (ours.documents[q] >= 0).sum() == len(expected)


def test_a_weighted_sum_of_standardised_scores_is_that_of_ranx():
    rng = np.random.default_rng(3)
    documents = np.tile(np.arange(30), (9, 1))
    parts = [ScoredLists.ranked(documents, scale * rng.normal(size=(9, 30))) for scale in (9.0, 0.1)]
    for weight, ours in zip((0.3, 0.8), weighted_sums(*parts, (0.3, 0.8)), strict=True):
        theirs = fused_by_ranx(parts, "zmuv", "wsum", {"weights": (weight, 1 - weight)})
        for q in range(9):
            expected = [theirs[f"q{q}"][f"d{document}"] for document in ours.documents[q]]
            assert np.allclose(expected, ours.scores[q], atol=1e-6)


def test_who_is_missing_from_a_list_gets_its_lowest_score():
    first = ScoredLists.ranked(np.array([[0, 1]]), np.array([[5.0, 1.0]]))
    second = ScoredLists.ranked(np.array([[2, 1]]), np.array([[3.0, 1.0]]))
    (joined,) = weighted_sums(first, second, (0.5,))
    assert dict(zip(joined.documents[0].tolist(), joined.scores[0].tolist(), strict=True)) == {
        0: 0.0,
        1: -1.0,
        2: 0.0,
    }


def test_fusion_is_two_rows_and_its_weight_is_tuned_on_other_queries(words):
    task, vectors = words
    table = osp.compare(task, vectors, ["dot"], lists=[osp.Bm25(), osp.Fusion(osp.Bm25(), "center + cosine")])
    rows = {row.name: row for row in table.lists}
    assert set(rows) == {"bm25", "bm25 + center + cosine (ranks)", "bm25 + center + cosine (scores)"}
    tuned = rows["bm25 + center + cosine (scores)"]
    assert tuned.tuned
    assert len(tuned.fold_parameters) == 5
    assert {parameters["weight"] for parameters in tuned.fold_parameters} <= set(WEIGHTS)


def test_rows_that_read_texts_fall_out_where_there_are_none_and_say_so():
    task = osp.RankingTask.from_judgments({f"q{n}": {f"d{n}": 1} for n in range(20)}, [f"d{n}" for n in range(30)])
    rng = np.random.default_rng(0)
    vectors = task.vectors(*(rng.normal(size=(rows, 4)).astype(np.float32) for rows in (20, 30)))
    sources = [osp.Bm25(), osp.Fusion(osp.Bm25()), osp.Judge("cross-encoder:somewhere")]
    table = osp.compare(task, vectors, ["dot"], lists=sources)
    told = [note for note in table.notes if "has ids and vectors alone" in note]
    assert [note.split(" is left out")[0] for note in told] == ["bm25", "bm25", "the judge"]


def test_bm25_and_fusion_fall_out_of_pairs():
    task = osp.PairTask("pairs", np.arange(20.0), ["a cat"] * 20, ["a dog"] * 20)
    rows = np.random.default_rng(0).normal(size=(2, 20, 4)).astype(np.float32)
    table = osp.compare(task, task.vectors(*rows), ["dot"], lists=[osp.Bm25(), osp.Fusion(osp.Bm25())])
    assert sum("has pairs, and no lists that could be ranked" in note for note in table.notes) == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: osp.Bm25(b=2), "b from 0 to 1"),
        (lambda: osp.Fusion(osp.Bm25(), "cosin"), "did you mean cosine"),
        (lambda: osp.Judge("roberta"), "write cross-encoder:M"),
        (lambda: osp.Judge("cross-encoder:x", top=0), "rank at least one"),
    ],
)
def test_what_cannot_be_meant_is_refused_at_once(make, message):
    with pytest.raises(OffsphereError, match=message):
        make()


def save_cross_encoder(folder, labels=1):
    """A tiny cross-encoder: two layers of random weights that know the words of these tests."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("sentence_transformers")
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    torch.manual_seed(0)
    known = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    vocabulary = {word: number for number, word in enumerate(known)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, mask_token="[MASK]", **names).save_pretrained(folder)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(vocab_size=len(vocabulary), num_labels=labels, max_position_embeddings=64, **sizes)
    BertForSequenceClassification(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory):
    return save_cross_encoder(tmp_path_factory.mktemp("judge") / "tiny")


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_the_judge_of_pairs_says_what_the_cross_encoder_says(cross_encoder, own_cache):
    from scipy import stats
    from sentence_transformers import CrossEncoder

    rng = np.random.default_rng(0)
    left, right = ([" ".join(rng.choice(WORDS, 5)) for _ in range(40)] for _ in range(2))
    task = osp.PairTask("pairs", rng.normal(size=40), left, right)
    rows = rng.normal(size=(2, 40, 4)).astype(np.float32)
    table = osp.compare(task, task.vectors(*rows), ["dot"], lists=[osp.Judge(f"cross-encoder:{cross_encoder}")])
    expected = CrossEncoder(cross_encoder).predict(list(zip(left, right, strict=True)), show_progress_bar=False)
    row = table.lists[0]
    assert row.name == "judge tiny"
    assert row.value == pytest.approx(stats.spearmanr(expected, task.gold).statistic, abs=1e-9)
    assert "40 pairs read in" in row.cost


def test_the_judge_ranks_the_nearest_again_and_leaves_the_rest_behind_them(words, cross_encoder, own_cache):
    from sentence_transformers import CrossEncoder

    task, vectors = words
    (row,) = osp.Judge(f"cross-encoder:{cross_encoder}", top=6).candidates(asked_of(task, vectors))
    q, d = vectors.queries.astype(float), vectors.documents.astype(float)
    cosine = q @ d.T / np.outer(np.linalg.norm(q, axis=1), np.linalg.norm(d, axis=1))
    nearest, model = top(cosine, 10), CrossEncoder(cross_encoder)
    for query in range(task.units):
        pairs = [(task.query_texts[query], task.document_texts[found]) for found in nearest[query][:6]]
        scores = model.predict(pairs, show_progress_bar=False)
        again = nearest[query][:6][np.argsort(-scores, kind="stable")]
        found = row.options[0].documents[query]
        assert set(found[:6]) == set(again)
        assert (found[:6] == again).mean() > 0.6  # scores of a tiny model nearly tie
        assert found[6:].tolist() == nearest[query][6:].tolist()


def test_what_was_judged_is_kept_and_a_killed_run_goes_on(words, cross_encoder, own_cache, monkeypatch):
    task, vectors = words
    monkeypatch.setattr("offsphere.comparison.judge.CHUNK", 50)
    judge = osp.Judge(f"cross-encoder:{cross_encoder}", top=10)
    whole = CrossEncoderModel.score
    calls = []

    def killed(self, pairs):
        if len(calls) == 2:
            raise KeyboardInterrupt
        calls.append(len(pairs))
        return whole(self, pairs)

    monkeypatch.setattr(CrossEncoderModel, "score", killed)
    with pytest.raises(KeyboardInterrupt):
        judge.candidates(asked_of(task, vectors))
    monkeypatch.setattr(CrossEncoderModel, "score", whole)
    (resumed,) = judge.candidates(asked_of(task, vectors))
    assert "240 pairs read, 100 of them kept from before" in resumed.cost
    (again,) = judge.candidates(asked_of(task, vectors))
    assert again.cost == "240 pairs read, 240 of them kept from before"
    assert np.array_equal(again.options[0].documents, resumed.options[0].documents)
    alone = osp.Judge(f"cross-encoder:{cross_encoder}", top=10, cache=False).candidates(asked_of(task, vectors))[0]
    assert np.array_equal(alone.options[0].scores, resumed.options[0].scores)


def test_what_a_model_judged_that_nobody_can_know_again_is_not_taken_for_what_it_says(
    words, cross_encoder, own_cache, monkeypatch
):
    """One of the hub that tells no commit: under the same name there may be other weights tomorrow."""
    from sentence_transformers import CrossEncoder

    monkeypatch.setattr("offsphere.encode.cross_encoder._load", lambda source, device: CrossEncoder(cross_encoder))
    for _ in range(2):
        (row,) = osp.Judge("cross-encoder:hub/tiny", top=5).candidates(asked_of(*words))
        assert "120 pairs read in" in row.cost


def test_a_cross_encoder_of_several_labels_is_refused(words, tmp_path):
    folder = save_cross_encoder(tmp_path / "nli", labels=3)
    with pytest.raises(OffsphereError, match="has 3 labels: nobody knows which of them means similar"):
        osp.compare(*words, ["dot"], lists=[osp.Judge(f"cross-encoder:{folder}")])


def test_a_folder_without_a_model_is_told(words, tmp_path):
    pytest.importorskip("sentence_transformers")
    with pytest.raises(OffsphereError, match="holds no cross-encoder"):
        osp.compare(*words, ["dot"], lists=[osp.Judge(f"cross-encoder:{tmp_path}")])


def test_fuse_without_bm25_is_refused():
    from offsphere.cli.options.other_systems import OtherSystems

    with pytest.raises(ParameterError, match="write --bm25 too"):
        OtherSystems(fuse=["dot"]).sources(ModelOptions(), ignore_missing=False)
