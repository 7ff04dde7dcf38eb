"""Pictures that can be told apart: each in a colour and with a stripe, and the words that say which."""

from __future__ import annotations

import numpy as np

import offsphere as osp
from offsphere.data.items import ItemList
from offsphere.data.judgments import Judgment
from offsphere.data.ranking_task import RankingTask

COLOURS = {"red": (220, 30, 30), "green": (30, 200, 40), "blue": (40, 50, 220), "old": (120, 110, 90)}
PLACES = {"near": 1, "under": 5, "above": 9}  # words that the small transformer knows, for where the stripe is
SIDE = 12


def painted(count=48, seed=0):
    """Images with the words that describe each."""
    rng = np.random.default_rng(seed)
    images, words = [], []
    for number in range(count):
        colour, place = list(COLOURS)[number % 4], list(PLACES)[number // 4 % 3]
        pixels = rng.normal(COLOURS[colour], 20, (SIDE, SIDE, 3))
        pixels[PLACES[place] : PLACES[place] + 2] = 255 * rng.random()
        images.append(osp.Image.of(pixels.clip(0, 255).astype(np.uint8), f"{colour} {place} {number}"))
        words.append(f"{colour} {place}")
    return images, words


def class_task(count=48, seed=0):
    """Every image asks for the others of its colour and place."""
    images, words = painted(count, seed)
    ids = [f"p{number}" for number in range(count)]
    asking = range(count // 2)
    judged = [
        Judgment(f"p{a}", f"p{b}", 1.0, "") for a in asking for b in range(count // 2, count) if words[a] == words[b]
    ]
    return RankingTask.build(
        "painted",
        ItemList([ids[a] for a in asking], [images[a] for a in asking]),
        ItemList(ids[count // 2 :], images[count // 2 :]),
        judged,
    )


def caption_task(count=48, seed=0):
    """Every caption asks for the images that it describes."""
    images, words = painted(count, seed)
    texts = sorted(set(words))
    captions = [f"{text} {number}" for number, text in enumerate(texts)]
    judged = [
        Judgment(name, f"p{row}", 1.0, "")
        for name, text in zip(captions, texts, strict=True)
        for row, word in enumerate(words)
        if word == text
    ]
    return RankingTask.build(
        "captions", ItemList(captions, texts), ItemList([f"p{row}" for row in range(count)], images), judged
    )
