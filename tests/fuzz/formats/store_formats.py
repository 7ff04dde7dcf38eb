"""Stores of vectors, finished or not, and what the cache keeps."""

from __future__ import annotations

import os
from unittest import mock

import numpy as np

from tests.fuzz.subject import IDS, VECTORS, subject


@subject("store")
class StoreFolder:
    @staticmethod
    def write(folder):
        from offsphere.encode.embedding import SideItems, embed_items
        from offsphere.encode.function import FunctionEncoder

        rows = dict(zip(IDS, VECTORS, strict=True))
        encoder = FunctionEncoder(lambda texts: [rows.get(text, VECTORS[0]) for text in texts], "rows")
        embed_items(SideItems("document", [f"id of {text}" for text in IDS], IDS), encoder, folder, block=5)
        (folder / ".lock").unlink(missing_ok=True)

    @staticmethod
    def read(folder):
        from offsphere.data.store import open_store

        store = open_store(folder)
        return np.asarray(store.vectors), [store.ids, *store.counts], store.manifest


@subject("store in the making")
class UnfinishedStore:
    """A store that a kill left after two of three blocks: it is finished right, or one line says that it cannot be."""

    texts = [f"text {row}" for row in range(30)]  # noqa: RUF012

    @classmethod
    def embed(cls, folder, blocks):
        from offsphere.encode.embedding import SideItems, embed_items
        from offsphere.encode.function import FunctionEncoder

        def rows(texts):
            nonlocal blocks
            blocks -= len(texts) > 1
            if blocks < 0:
                raise KeyboardInterrupt
            return [[len(text), float(text.split()[-1]), 1.5] for text in texts if text != "offsphere"] or [[0, 0, 0]]

        rows.__version__ = "1"
        side = SideItems("document", [str(row) for row in range(30)], cls.texts)
        return embed_items(side, FunctionEncoder(rows, "rows"), folder, block=10)

    @staticmethod
    def write(folder):
        try:
            UnfinishedStore.embed(folder, 2)
        except KeyboardInterrupt:
            (folder / ".lock").unlink(missing_ok=True)

    @staticmethod
    def read(folder):
        store = UnfinishedStore.embed(folder, 3)
        store.verify()
        return np.asarray(store.vectors), store.ids


@subject("cache entry")
class CacheEntry:
    """A damaged entry is a miss: what is asked for comes out the same, computed again."""

    @staticmethod
    def write(folder):
        from offsphere.base.cache import Memo

        Memo(folder / "question").arrays("part", lambda: {"rows": VECTORS, "names": np.array(IDS)})

    @staticmethod
    def read(folder):
        from offsphere.base.cache import Memo

        return Memo(folder / "question").arrays("part", lambda: {"rows": VECTORS, "names": np.array(IDS)})


@subject("kept answer of a reader")
class KeptAnswer:
    """A damaged one is a miss: the reader is asked again."""

    @staticmethod
    def write(folder):
        KeptAnswer.read(folder)

    @staticmethod
    def read(folder):
        from offsphere.answering.asking import ask_all
        from offsphere.answering.reader import FunctionReader

        with mock.patch.dict(os.environ, {"XDG_CACHE_HOME": str(folder)}):
            told = ask_all(FunctionReader(_shouted, "shout"), ["a question é"], workers=1)
        return dict(told.told), len(told.failed)


def _shouted(prompt):
    """What the reader makes of a prompt; known again by this file."""
    return prompt.upper()
