"""A text that looks like the address of a picture is a text: nothing is fetched, and nothing is opened."""

from __future__ import annotations

import copy
import socket
import threading
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from PIL import Image as Pillow

from offsphere import embed, load_encoder
from offsphere.data import RankingTask
from offsphere.data.items import ItemList
from offsphere.data.judgments import Judgment
from offsphere.encode.sentence import load_sentence_transformer
from tests.tiny_vision import save_clip


@contextmanager
def listening():
    """A server on this machine that serves nobody, and remembers who came."""
    came = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                came.append(connection)
                connection.close()

        thread = threading.Thread(target=accept)
        thread.start()
        yield server.getsockname()[1], came
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    return save_clip(tmp_path_factory.mktemp("clip"))


def texts_like_pictures(port, picture):
    return [
        f"http://127.0.0.1:{port}/cat.png",
        f"http://127.0.0.1:{port}/cat.mp4",
        str(picture),
        "data:image/png;base64,iVBORw0KGgo=",
        "https://youtu.be/x",
        "a plain one",
    ]


def test_such_texts_are_embedded_as_texts_and_nobody_is_asked_for_a_picture(clip, tmp_path, monkeypatch):
    picture = tmp_path / "cat.png"
    Pillow.new("RGB", (9, 9), "red").save(picture)
    opened = []
    original = Pillow.open
    monkeypatch.setattr(Pillow, "open", lambda *given, **options: opened.append(given) or original(*given, **options))
    with listening() as (port, came):
        texts = texts_like_pictures(port, picture)
        items = ItemList([f"d{row}" for row in range(len(texts))], texts)
        task = RankingTask.build("odd", items, items, [Judgment("d0", "d1", 1.0)])
        vectors = embed(task, load_encoder(str(clip)), tmp_path / "vectors")
    assert came == []
    assert opened == []
    from transformers import CLIPModel, CLIPProcessor

    inputs = CLIPProcessor.from_pretrained(clip)(text=texts, padding=True, truncation=True, return_tensors="pt")
    with torch.inference_mode():
        wanted = CLIPModel.from_pretrained(clip).eval().get_text_features(**inputs).pooler_output
    assert np.abs(vectors.documents - wanted.numpy()).max() < 1e-6


def test_the_server_of_this_test_would_notice(clip):
    """The danger is real: without the marks the same model connects."""
    from sentence_transformers import SentenceTransformer

    with listening() as (port, came):
        with pytest.raises(Exception):  # noqa: B017, PT011  # the server gives no picture
            SentenceTransformer(str(clip)).encode([f"http://127.0.0.1:{port}/cat.png"])
        assert came


def test_a_model_that_was_loaded_keeps_texts_for_everybody_and_so_does_a_copy(clip):
    model = load_sentence_transformer(str(clip))
    twin = copy.deepcopy(model)
    with listening() as (port, came):
        text = f"http://127.0.0.1:{port}/cat.png"
        for one in (model, twin):
            assert one.preprocess([text, "a cat"])["modality"] == "text"
            assert one.encode([text]).shape == (1, 16)
    assert came == []
    assert twin.preprocess.__self__ is twin


def test_a_marked_model_is_saved_as_a_plain_one(clip, tmp_path):
    from sentence_transformers import SentenceTransformer

    model = load_sentence_transformer(str(clip))
    model.save_pretrained(str(tmp_path))
    plain = SentenceTransformer(str(tmp_path))
    np.testing.assert_allclose(plain.encode(["a cat"]), model.encode(["a cat"]), atol=1e-6)


@pytest.mark.parametrize("door", ["train", "dynamics"])
def test_texts_that_are_learned_from_fetch_nothing_whoever_loaded_the_model(clip, door):
    """A model as its user has it, unmarked; a probe leaves it as it was."""
    from sentence_transformers import SentenceTransformer

    import offsphere as osp

    model = SentenceTransformer(str(clip), device="cpu")
    with listening() as (port, came):
        texts = [f"http://127.0.0.1:{port}/{row}.png" for row in range(12)]
        if door == "train":
            task = osp.PairTask("odd", np.array([5.0, 5.0, 5.0, 0.0] * 3), texts, texts[::-1])
            osp.train(task, model, batch=2, steps=2, rate=1e-4, dynamics_every=1)
        else:
            probe = osp.TextProbe(texts[:3], texts[3:6], texts[6:])
            osp.Dynamics(probe, osp.ContrastiveLoss(model, "both")).look(model, 0)
            assert "preprocess" not in vars(model)
    assert came == []
