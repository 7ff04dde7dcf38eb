"""Bags of token vectors to test with."""

from __future__ import annotations

import numpy as np
import pytest

from offsphere.tokens.token_bags import TokenBags


def random_bags(rng, texts=12, terms=30, dimension=8, longest=9, empty=()):
    """Texts of a small table whose lengths differ, with repeated tokens; some of them empty."""
    table = (rng.normal(size=(terms, dimension)) * rng.lognormal(0, 0.7, (terms, 1))).astype(np.float32)
    return bags_of(rng, table, texts, longest, empty)


def bags_of(rng, table, texts=12, longest=9, empty=()):
    sizes = [0 if text in empty else int(rng.integers(1, longest + 1)) for text in range(texts)]
    slots = np.concatenate([rng.integers(0, len(table), size) for size in sizes]).astype(np.int64)
    frequency = rng.dirichlet(np.ones(len(table)))
    return TokenBags.of(table, np.arange(len(table)) + 100, slots, np.cumsum(sizes), frequency)


def text_of(bags, number):
    """The vectors of a text and how often each stands there."""
    rows = bags.rows[bags.starts[number] : bags.ends[number]]
    return bags.table[rows].astype(np.float64), bags.counts[bags.starts[number] : bags.ends[number]], rows


@pytest.fixture
def two_bags():
    """The texts of two sides, over one table."""
    rng = np.random.default_rng(0)
    left = random_bags(rng)
    return left, bags_of(rng, left.table, texts=15)


def ones(texts):
    """A model that has a vector a text, and none a token."""
    return np.ones((len(texts), 4), np.float32)
