"""Exact top-k of many similarities in one pass: against the bare matrix product, sentence-transformers and FAISS.

All on the same vectors, in the same run. Goals are ratios of CPU time, best of interleaved runs. Memory is the growth
of the process's peak while ours runs with ten similarities.
"""

from __future__ import annotations

import resource

import faiss
import numpy as np
import torch
from harness import Clock, Goals, quick
from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

from offsphere.ranking.search import search
from offsphere.scoring.names import parse_scorer

NAMES = [
    "cosine", "dot", "euclidean", "overlap", "half",
    "norm-mix(0.9)", "norm-gap(1)", "radial-confidence(10)", "polar(1, 0.75)", "polar(1, 1.25)",
]  # fmt: skip
K = 100


def main() -> None:
    small = quick(__doc__)
    goals = Goals(judged=not small)
    rounds = 1 if small else 4
    measure(*((50, 2_000) if small else (1_000, 200_000)), goals, rounds)
    for k in (K, 10):
        few_documents(*((50, 1_000) if small else (5_000, 20_000)), k, goals, rounds)
    goals.finish()


def vectors_of(query_count: int, document_count: int) -> tuple[np.ndarray, np.ndarray]:
    """Random queries, and documents of unequal lengths."""
    rng = np.random.default_rng(0)
    queries = rng.standard_normal((query_count, 384), dtype=np.float32)
    documents = rng.standard_normal((document_count, 384), dtype=np.float32)
    return queries, documents * rng.lognormal(0, 0.2, (document_count, 1)).astype(np.float32)


def few_documents(query_count: int, document_count: int, k: int, goals: Goals, rounds: int) -> None:
    """Many queries and few documents: the product is small, and the k best are found anew for every query."""
    queries, documents = vectors_of(query_count, document_count)
    scorers = [parse_scorer(name) for name in NAMES]
    search(queries[:10], documents[:1_000], scorers, 10)  # compile
    clock = Clock()
    clock.run(
        {
            "bare product in blocks": lambda: bare_product(queries, documents),
            "ours, 10 similarities": lambda: search(queries, documents, scorers, k),
        },
        rounds,
    )
    print(f"{query_count:,} queries x {document_count:,} documents x 384, k = {k}")
    clock.show()
    ratio = clock.cpu["ours, 10 similarities"] / clock.cpu["bare product in blocks"]
    goals.at_most(f"10 similarities / bare product ({query_count}x{document_count}, k = {k})", ratio, 2.5)


def measure(query_count: int, document_count: int, goals: Goals, rounds: int) -> None:
    queries, documents = vectors_of(query_count, document_count)
    scorers = [parse_scorer(name) for name in NAMES]
    search(queries[:10], documents[:2_000], scorers, 10)  # compile

    before = peak_memory()
    search(queries, documents, scorers, K)
    memory = peak_memory() - before

    clock = Clock()
    clock.run(
        {
            "bare product in blocks": lambda: bare_product(queries, documents),
            "ours, 1 similarity": lambda: search(queries, documents, scorers[:1], K),
            "ours, 5 similarities": lambda: search(queries, documents, scorers[:5], K),
            "ours, 10 similarities": lambda: search(queries, documents, scorers, K),
            "faiss.knn, 1 similarity": lambda: faiss.knn(queries, documents, K, metric=faiss.METRIC_INNER_PRODUCT),
        },
        rounds,
    )
    peer = sentence_transformers_job(queries, documents)
    clock.run({"sentence-transformers, 5 similarities": peer}, 1)
    print(f"{query_count:,} queries x {document_count:,} documents x 384, k = {K}")
    clock.show()
    bare = clock.cpu["bare product in blocks"]
    five = clock.cpu["ours, 5 similarities"]
    size = f"{query_count}x{document_count}"
    ratios = {
        "1 similarity / bare product": (clock.cpu["ours, 1 similarity"] / bare, "most", 1.05),
        "10 similarities / bare product": (clock.cpu["ours, 10 similarities"] / bare, "most", 1.6),
        "sentence-transformers / ours, 5 similarities": (
            clock.cpu["sentence-transformers, 5 similarities"] / five, "least", 6.0,
        ),
        "ours with 5 / faiss with 1": (five / clock.cpu["faiss.knn, 1 similarity"], "most", 1.0),
        "ours with 5 / faiss called 5 times": (five / (5 * clock.cpu["faiss.knn, 1 similarity"]), "most", 1.0),
        "extra memory, GB": (memory / 1e9, "most", 0.5),
    }  # fmt: skip
    for name, (value, side, goal) in ratios.items():
        if side == "most":
            goals.at_most(f"{name} ({size})", value, goal)
        else:
            goals.at_least(f"{name} ({size})", value, goal)


def bare_product(queries: np.ndarray, documents: np.ndarray) -> None:
    for start in range(0, len(documents), 8_192):
        queries @ documents[start : start + 8_192].T


def sentence_transformers_job(queries: np.ndarray, documents: np.ndarray) -> object:
    """Its evaluator with five similarities on vectors that are already there: only scoring and ranking are timed."""

    def cosine(a, b):  # noqa: ANN001, ANN202
        return torch.nn.functional.normalize(a) @ torch.nn.functional.normalize(b).T

    def dot(a, b):  # noqa: ANN001, ANN202
        return a @ b.T

    def euclidean(a, b):  # noqa: ANN001, ANN202
        return -torch.cdist(a, b)

    def overlap(a, b):  # noqa: ANN001, ANN202
        product = a @ b.T
        return product / ((a**2).sum(1)[:, None] + (b**2).sum(1)[None, :] - product.abs())

    def half(a, b):  # noqa: ANN001, ANN202
        return (a / a.norm(dim=1, keepdim=True).sqrt()) @ (b / b.norm(dim=1, keepdim=True).sqrt()).T

    names = {f"q{n}": str(n) for n in range(len(queries))}
    corpus = {f"d{n}": str(n) for n in range(len(documents))}
    relevant = {name: {f"d{n}"} for n, name in enumerate(names)}
    evaluator = InformationRetrievalEvaluator(
        names, corpus, relevant, corpus_chunk_size=50_000, mrr_at_k=[10], ndcg_at_k=[10], accuracy_at_k=[1],
        precision_recall_at_k=[1], map_at_k=[K], write_csv=False,
        score_functions={"cosine": cosine, "dot": dot, "euclidean": euclidean, "overlap": overlap, "half": half},
    )  # fmt: skip
    given = {"q": torch.from_numpy(queries), "d": torch.from_numpy(documents)}
    position = {text: number for number, text in enumerate(corpus.values())}

    def embed_inputs(model, sentences, **_):  # noqa: ANN001, ANN003, ANN202, ARG001
        if list(sentences[:2]) == list(evaluator.queries[:2]) and len(sentences) == len(queries):
            return given["q"]
        first = position[sentences[0]]
        return given["d"][first : first + len(sentences)]

    evaluator.embed_inputs = embed_inputs  # the vectors exist; nothing is encoded

    class Model:
        similarity_fn_name = "cosine"

    return lambda: evaluator.compute_all_metrics(Model())


def peak_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


if __name__ == "__main__":
    main()
