"""Small encoders made here: a transformer of two layers with words for tokens, and a static table."""

from __future__ import annotations

import pytest

WORDS = [
    "red", "green", "blue", "small", "large", "old", "new", "cat", "dog", "bird", "house", "tree", "river", "city",
    "runs", "sleeps", "sings", "falls", "grows", "waits", "near", "under", "above", "the", "a", "in", "of", "and",
    "what", "who",
]  # fmt: skip


def tokenizer():
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {name: number for number, name in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )


def save_transformer(folder, *, dropout=0.0, seed=0, normalize=False):
    """A BERT of two layers, saved as people save theirs."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Normalize, Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling
    from transformers import BertConfig, BertModel

    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(WORDS) + 4,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )
    inner = folder / "bert"
    BertModel(config).save_pretrained(inner)
    tokenizer().save_pretrained(inner)
    stages = [Transformer(str(inner), max_seq_length=32), Pooling(32, pooling_mode="mean")]
    SentenceTransformer(modules=[*stages, *([Normalize()] if normalize else [])]).save_pretrained(
        str(folder / "model"), create_model_card=False
    )
    return folder / "model"


@pytest.fixture(scope="session")
def transformer_folder(tmp_path_factory):
    return save_transformer(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def dropout_folder(tmp_path_factory):
    return save_transformer(tmp_path_factory.mktemp("dropout"), dropout=0.2)


@pytest.fixture
def transformer(transformer_folder):
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(transformer_folder), device="cpu")


@pytest.fixture
def static():
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    torch.manual_seed(0)
    return SentenceTransformer(modules=[StaticEmbedding(tokenizer(), embedding_dim=16)], device="cpu")


def words_task(queries=80, documents=100, seed=0, name="words"):
    """Documents are forty draws from five words of their own; a query is three words of its document."""
    import numpy as np

    from offsphere.data.ranking_task import ItemList, Judgment, RankingTask

    rng = np.random.default_rng(seed)
    nouns = WORDS[:23]
    texts = [" ".join(rng.choice(rng.choice(nouns, 5, replace=False), 40)) for _ in range(documents)]
    wanted = rng.permutation(documents)[:queries] if queries <= documents else rng.integers(0, documents, queries)
    asked = [" ".join(rng.choice(texts[number].split(), 3, replace=False)) for number in wanted]
    ids = [f"d{number}" for number in range(documents)]
    judged = [Judgment(f"q{row}", ids[number], 1.0) for row, number in enumerate(wanted)]
    return RankingTask.build(
        name, ItemList([f"q{row}" for row in range(queries)], asked), ItemList(ids, texts), judged, split="train"
    )


@pytest.fixture(scope="session")
def words():
    return words_task()
