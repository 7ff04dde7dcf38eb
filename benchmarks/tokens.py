"""Comparing texts by their tokens: transport against POT, soft cosine against gensim, MaxSim against a loop in torch.

Word Rotator's Distance of 1,379 pairs of the STS Benchmark, at least 3 times as fast as POT called in a plain loop on
cost matrices made by numpy; soft cosine of the same pairs, at least 5 times as fast as gensim; late interaction of 64
queries with 100 documents each against the loop that one would write in torch. All tokenise beforehand.
"""

from __future__ import annotations

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

from pathlib import Path

import numpy as np
import ot
import torch
from gensim.similarities import SparseTermSimilarityMatrix
from harness import Clock, Goals, quick
from scipy.sparse import csc_matrix

from offsphere import load_encoder, load_task
from offsphere.tokens.late_interaction import MaxSim
from offsphere.tokens.soft_cosine import SoftCosine
from offsphere.tokens.token_bags import TokenBags
from offsphere.tokens.token_measure import TextPairs
from offsphere.tokens.token_model import token_model
from offsphere.tokens.transport import Transport
from offsphere.tokens.vocabulary import Vocabulary

DATA = Path(os.environ.get("OFFSPHERE_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))


def main() -> None:
    small = quick(__doc__)
    goals = Goals(judged=not small)
    sides, words = sts(100 if small else 1_379)
    rounds = 1 if small else 3
    transport(sides, goals, rounds)
    soft_cosine(sides, words, goals, rounds)
    long_texts(2 if small else 10, goals, rounds)
    late_interaction(4 if small else 64, goals, rounds)
    goals.finish()


def sts(count: int) -> tuple[list[TokenBags], Vocabulary]:
    """Both sides of the STS Benchmark as bags of a static table."""
    task, encoder = load_task(DATA / "stsb", "test"), load_encoder("wordllama")
    model = token_model(encoder)
    texts = [side.items[:count] for side in task.sides]
    words = Vocabulary.of([model.tokens(some) for some in texts], lambda ids: encoder.table[ids])
    batches = [next(model.batches(some, "left", [0], words)) for some in texts]
    return [batch.layers[0] for batch in batches], words


def texts_of(bags: TokenBags) -> list[tuple[np.ndarray, np.ndarray]]:
    """The vectors of each text in float64, and how often each stands there."""
    spans = zip(bags.starts.tolist(), bags.ends.tolist(), strict=True)
    return [(bags.table[bags.rows[first:last]].astype(np.float64), bags.counts[first:last]) for first, last in spans]


def rotator(x: np.ndarray, x_counts: np.ndarray, y: np.ndarray, y_counts: np.ndarray) -> float:
    """Word Rotator's Distance as one would write it with POT."""
    a, b = np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1)
    cost = 1 - (x / a[:, None]) @ (y / b[:, None]).T
    supply, demand = a * x_counts, b * y_counts
    return float(ot.emd2(supply / supply.sum(), demand / demand.sum(), cost))


def transport(sides: list[TokenBags], goals: Goals, rounds: int) -> None:
    left, right = sides
    pairs = TextPairs(np.arange(len(left)), np.arange(len(right)))
    texts = list(zip(texts_of(left), texts_of(right), strict=True))

    def loop() -> list[float]:
        return [rotator(*x, *y) for x, y in texts]

    np.testing.assert_allclose(Transport().scores(left, right, pairs), -np.array(loop()), atol=1e-6)
    clock = Clock()
    clock.run({"POT in a loop": loop, "ours": lambda: Transport().scores(left, right, pairs)}, rounds)
    print(f"Word Rotator's Distance of {len(left):,} pairs, {left.sizes.mean():.0f} tokens each")
    clock.show()
    goals.at_least("POT / ours, wall", clock.wall["POT in a loop"] / clock.wall["ours"], 3)
    goals.at_least("POT / ours, CPU", clock.cpu["POT in a loop"] / clock.cpu["ours"], 3)


def long_texts(count: int, goals: Goals, rounds: int) -> None:
    """A claim against abstracts, and abstracts against each other: the solver itself, and no overhead of a call."""
    rng = np.random.default_rng(0)
    for rows, columns in ((20, 250), (250, 250)):
        table = (rng.normal(size=(2_000, 256)) * rng.lognormal(0, 0.5, (2_000, 1)) + 0.5).astype(np.float32)
        sides = [
            TokenBags.of(table, np.arange(2_000), rng.integers(0, 2_000, size * count), np.arange(1, count + 1) * size)
            for size in (rows, columns)
        ]
        texts = list(zip(*(texts_of(bags) for bags in sides), strict=True))
        pairs = TextPairs(np.arange(count), np.arange(count))
        clock = Clock()
        clock.run(
            {
                "POT in a loop": lambda texts=texts: [rotator(*x, *y) for x, y in texts],
                "ours": lambda sides=sides, pairs=pairs: Transport().scores(*sides, pairs),
            },
            rounds,
        )
        print(f"the same of {count} pairs of {rows} and {columns} tokens")
        clock.show()
        goals.note(f"POT / ours, {rows} x {columns}, CPU", clock.cpu["POT in a loop"] / clock.cpu["ours"])


def soft_cosine(sides: list[TokenBags], words: Vocabulary, goals: Goals, rounds: int) -> None:
    left, right = sides
    pairs = TextPairs(np.arange(len(left)), np.arange(len(right)))
    measure = SoftCosine().fit(words)
    oracle = SparseTermSimilarityMatrix(csc_matrix(measure.similarity))
    corpora = [
        [
            list(zip(np.searchsorted(words.ids, bags.ids[bags.rows[first:last]]).tolist(), bags.counts[first:last]))  # noqa: B905
            for first, last in zip(bags.starts.tolist(), bags.ends.tolist(), strict=True)
        ]
        for bags in sides
    ]

    def loop() -> list[float]:
        return [float(oracle.inner_product(x, y, normalized=(True, True))) for x, y in zip(*corpora, strict=True)]

    np.testing.assert_allclose(measure.scores(left, right, pairs), loop(), atol=1e-5)
    clock = Clock()
    clock.run({"gensim": loop, "ours": lambda: measure.scores(left, right, pairs)}, rounds)
    print(f"soft cosine of {len(left):,} pairs, {len(words.ids):,} terms, {measure.similarity.nnz:,} similarities")
    clock.show()
    goals.at_least("gensim / ours, wall", clock.wall["gensim"] / clock.wall["ours"], 5)
    goals.at_least("gensim / ours, CPU", clock.cpu["gensim"] / clock.cpu["ours"], 5)


def late_interaction(queries: int, goals: Goals, rounds: int) -> None:
    """Claims of scifact with 100 of its abstracts each: a static table, and vectors that differ from place to place."""
    task, encoder = load_task(DATA / "scifact"), load_encoder("wordllama")
    model = token_model(encoder)
    rng = np.random.default_rng(0)
    claims, abstracts = (list(side.items) for side in task.sides)
    listed = np.stack([rng.choice(1_000, 100, replace=False) for _ in range(queries)])
    pairs = TextPairs(np.repeat(np.arange(queries), 100), listed.ravel())
    words = Vocabulary.of([], lambda ids: encoder.table[ids])
    left, right = (
        next(model.batches(texts, "document", [0], words)).layers[0] for texts in (claims[:queries], abstracts[:1_000])
    )
    for kind, sides in (("a static table", (left, right)), ("a vector a place", (in_context(left), in_context(right)))):
        asking, asked = (
            [torch.nn.functional.normalize(torch.as_tensor(x, dtype=torch.float32), dim=1) for x, _ in texts_of(bags)]
            for bags in sides
        )
        torch.set_num_threads(1)

        def loop(asking: list[torch.Tensor] = asking, asked: list[torch.Tensor] = asked) -> list[list[float]]:
            return [
                [float((query @ asked[number].T).max(dim=1).values.sum()) for number in numbers]
                for query, numbers in zip(asking, listed.tolist(), strict=True)
            ]

        def ours(sides: tuple[TokenBags, TokenBags] = sides) -> np.ndarray:
            return MaxSim().scores(*sides, pairs)

        same = sides[0].counts.max() == 1  # the loop does not count a repeated token of a query twice
        if same:
            sums = np.array(loop()) / sides[0].sizes[:queries, None]
            np.testing.assert_allclose(ours().reshape(sums.shape), sums, atol=1e-5)
        clock = Clock()
        clock.run({"torch, a document at a time": loop, "ours": ours}, rounds)
        print(f"late interaction of {queries} queries with 100 documents each, {kind}")
        clock.show()
        for what, times in (("wall", clock.wall), ("CPU", clock.cpu)):
            goals.note(f"torch / ours, {kind}, {what}", times["torch, a document at a time"] / times["ours"])


def in_context(bags: TokenBags) -> TokenBags:
    """The same texts as if every token had a vector of its own in each place."""
    every = np.arange(len(bags.rows))
    return TokenBags(bags.table[bags.rows], bags.ids[bags.rows], every, np.ones(len(every)), bags.ends)


if __name__ == "__main__":
    main()
