"""Models that take images give what bare transformers gives, before any normalisation."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from offsphere import Image, embed, load_encoder
from offsphere.base.errors import DataError, OffsphereError
from offsphere.data import RankingTask
from offsphere.data.items import ItemList
from offsphere.data.judgments import Judgment
from offsphere.encode.token_layers import token_layers
from tests.tiny_vision import pictures, save_clip, save_dino, save_resnet, save_siglip, save_vit

PICTURES = pictures(5)
TEXTS = ["a cat", "http://localhost/cat.png", "x"]


def bare(folder, given, method=None):
    """What transformers' own classes give."""
    from transformers import AutoModel, AutoProcessor

    model, processor = AutoModel.from_pretrained(folder).eval(), AutoProcessor.from_pretrained(folder)
    inputs = processor(**given, return_tensors="pt")
    with torch.inference_mode():
        return getattr(model, method)(**inputs) if method else model(**inputs)


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    return save_clip(tmp_path_factory.mktemp("clip"))


def test_clip_gives_the_projections_of_transformers_with_their_lengths(clip):
    encoder = load_encoder(str(clip))
    assert list(encoder.kinds) == ["text", "image"]
    images = bare(clip, {"images": PICTURES}, "get_image_features").pooler_output
    texts = bare(clip, {"text": TEXTS, "padding": True}, "get_text_features").pooler_output
    assert np.abs(encoder.encode([Image.of(picture) for picture in PICTURES], "document") - images.numpy()).max() < 1e-6
    assert np.abs(encoder.encode(TEXTS, "query") - texts.numpy()).max() < 1e-6
    assert np.ptp(np.linalg.norm(images, axis=1)) > 0
    assert encoder.description.dimension == 16


def test_texts_and_images_may_stand_on_one_side(clip):
    encoder = load_encoder(str(clip))
    mixed = encoder.encode([PICTURES[0], TEXTS[0], PICTURES[1]], "document")
    np.testing.assert_allclose(mixed[[0, 2]], encoder.encode(PICTURES[:2], "document"), atol=1e-6)
    np.testing.assert_allclose(mixed[1:2], encoder.encode(TEXTS[:1], "document"), atol=1e-6)


def test_a_vision_transformer_gives_its_class_token(tmp_path):
    for save in (save_vit, save_dino):
        folder = save(tmp_path / save.__name__)
        encoder = load_encoder(str(folder))
        wanted = bare(folder, {"images": PICTURES}).last_hidden_state[:, 0]
        assert list(encoder.kinds) == ["image"]
        assert np.abs(encoder.encode(PICTURES, "document") - wanted.numpy()).max() < 1e-6


def test_a_residual_network_gives_the_mean_over_the_picture(tmp_path):
    folder = save_resnet(tmp_path)
    square = [picture.resize((40, 40)) for picture in PICTURES]  # its processor crops nothing, and a batch has one size
    wanted = bare(folder, {"images": square}).pooler_output.flatten(1)
    assert np.abs(load_encoder(str(folder)).encode(square, "document") - wanted.numpy()).max() < 1e-6


def test_siglip_gives_the_features_of_transformers(tmp_path):
    folder = save_siglip(tmp_path)
    encoder = load_encoder(str(folder))
    wanted = bare(folder, {"images": PICTURES}, "get_image_features").pooler_output
    assert list(encoder.kinds) == ["text", "image"]
    assert np.abs(encoder.encode(PICTURES, "document") - wanted.numpy()).max() < 1e-6


def test_a_clip_of_sentence_transformers_is_found_by_its_name_on_the_hub(clip, tmp_path, monkeypatch):
    """As sentence-transformers/clip-ViT-B-32 lies in the cache: stages, and a configuration in the first one alone."""
    import json
    import shutil

    import huggingface_hub.constants as hub

    commit = "0" * 40
    home = tmp_path / "models--sentence-transformers--clip-tiny"
    model = home / "snapshots" / commit
    shutil.copytree(clip, model / "0_CLIPModel")
    kind = "sentence_transformers.models.CLIPModel"
    (model / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": "0_CLIPModel", "type": kind}]))
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text(commit)
    monkeypatch.setattr(hub, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path))
    encoder = load_encoder("clip-tiny")
    wanted = bare(clip, {"images": PICTURES}, "get_image_features").pooler_output
    assert np.abs(encoder.encode(PICTURES, "document") - wanted.numpy()).max() < 1e-6
    assert encoder.description.revision == commit


def test_a_task_of_texts_and_images_is_embedded_and_resumes_without_encoding(clip, tmp_path):
    images = ItemList([f"d{row}" for row in range(5)], [Image.of(picture) for picture in PICTURES])
    task = RankingTask.build("pets", ItemList(["q"], ["a cat"]), images, [Judgment("q", "d1", 1.0)])
    encoder = load_encoder(str(clip))
    vectors = embed(task, encoder, tmp_path)
    np.testing.assert_allclose(vectors.documents, encoder.encode(PICTURES, "document"), atol=1e-6)
    encoder.encode = None  # nothing is encoded twice
    assert embed(task, encoder, tmp_path).documents.shape == (5, 16)
    other = ItemList(images.ids, [*images.items[:4], Image.of(PICTURES[0].transpose(0))])
    changed = RankingTask.build("pets", ItemList(["q"], ["a cat"]), other, [Judgment("q", "d1", 1.0)])
    again = embed(changed, load_encoder(str(clip)), tmp_path)
    assert np.abs(again.documents[4] - vectors.documents[0]).max() > 1e-4


def test_a_text_model_given_pictures_says_so_and_the_other_way_round(tmp_path):
    images = ItemList(["d"], [Image.of(PICTURES[0])])
    task = RankingTask.build("pets", ItemList(["q"], ["a cat"]), images, [Judgment("q", "d", 1.0)])
    with pytest.raises(DataError, match="wordllama takes texts, not images: name a model that takes images"):
        embed(task, "wordllama", tmp_path / "one")
    with pytest.raises(DataError, match=r"takes images, not texts: .*--query-model"):
        embed(task, str(save_vit(tmp_path / "vit")), tmp_path / "two")


def test_a_function_that_takes_images_gets_pictures_a_few_at_a_time(tmp_path):
    from offsphere.encode.function import FunctionEncoder

    sizes = []

    def red(given):
        sizes.append(len(given))
        return [[np.asarray(picture)[:, :, 0].mean(), 1] for picture in given]

    images = ItemList(["d"], [Image.of(PICTURES[0])])
    task = RankingTask.build("pets", images, images, [Judgment("d", "d", 1.0)])
    blind = FunctionEncoder(lambda texts: [[1.0] for _ in texts], "callable:m:f")
    with pytest.raises(
        DataError, match=r"if the function does take them, say so by its attribute kinds = \('image',\)"
    ):
        embed(task, blind, tmp_path)
    red.kinds = ("image",)
    encoder = FunctionEncoder(red, "red")
    rows = encoder.encode([Image.of(picture) for picture in PICTURES * 20], "document")
    np.testing.assert_allclose(rows[:5, 0], [np.asarray(picture)[:, :, 0].mean() for picture in PICTURES], rtol=1e-6)
    assert max(sizes) == 32
    red.kinds = ("sound",)
    with pytest.raises(OffsphereError, match="a function takes 'text' or 'image', or both"):
        FunctionEncoder(red, "red")


@pytest.mark.parametrize(("save", "padding"), [(save_clip, True), (save_siglip, "max_length")])
def test_layers_of_texts_are_those_of_the_text_tower(save, padding, tmp_path):
    folder = save(tmp_path)
    (tokens,) = token_layers(load_encoder(str(folder)), ["a cat"], "document")
    from transformers import AutoModel, AutoProcessor

    inputs = AutoProcessor.from_pretrained(folder)(text=["a cat"], padding=padding, return_tensors="pt")
    with torch.inference_mode():
        wanted = AutoModel.from_pretrained(folder).eval().text_model(**inputs, output_hidden_states=True)
    shown = [layer[0].numpy() for layer in wanted.hidden_states]
    assert len(shown) == len(tokens.layers) == 3
    assert max(np.abs(ours - theirs).max() for ours, theirs in zip(tokens.layers, shown, strict=True)) < 1e-5


def test_texts_of_siglip_are_those_of_transformers_whatever_stands_beside_them(tmp_path):
    """It was trained on texts that are padded in full, and looks at the padding."""
    folder = save_siglip(tmp_path / "hub")
    texts = ["a cat", "cat", "a a a"]
    wanted = bare(folder, {"text": texts, "padding": "max_length"}, "get_text_features").pooler_output.numpy()
    encoder = load_encoder(str(folder))
    assert np.abs(encoder.encode(texts, "query") - wanted).max() < 1e-6
    assert np.abs(encoder.encode(texts[:1], "query") - wanted[:1]).max() < 1e-6
    encoder.model.save_pretrained(str(tmp_path / "saved"))
    from sentence_transformers import SentenceTransformer

    plain = SentenceTransformer(str(tmp_path / "saved"), device="cpu")
    assert np.abs(plain.encode([{"text": texts[1]}]) - wanted[1:2]).max() < 1e-6
