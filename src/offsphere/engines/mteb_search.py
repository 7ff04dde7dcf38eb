"""Our scorers inside ``mteb.evaluate``: a leaderboard run that ranks by the scorer that was chosen.

``ScorerIndex`` is a search backend of MTEB's own wrapper; ``mteb_model`` puts it together with one of our encoders,
whose vectors still have their lengths. What MTEB then reports is what ``offsphere compare`` measures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from offsphere.base.arrays import Array, Index, Rows
from offsphere.base.errors import OffsphereError
from offsphere.base.extras import load_extra
from offsphere.encode.encoder import Encoder
from offsphere.ranking.search import search
from offsphere.scoring.given_scorer import fitted_scorer
from offsphere.scoring.names import parse_scorer
from offsphere.scoring.scorer import Scorer


class ScorerIndex:
    """A search backend for MTEB that ranks by a scorer, exactly; ties by document order.

    Transforms that were never fitted are fitted on the documents that are added, as ``compare`` does.

    Args:
        scorer: What to rank by: chosen by an audit, loaded from a folder, or an adapter's.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> index = ScorerIndex(osp.parse_scorer("dot"))
        >>> index.add_documents(np.array([[1.0, 0.0], [3.0, 3.0]]), ["short", "long"])
        >>> index.search(np.array([[1.0, 0.0]]), 1)
        ([[3.0]], [[1]])
    """

    def __init__(self, scorer: Scorer) -> None:
        """Start with a scorer and without documents."""
        self.scorer = scorer
        self._ids: list[str] = []
        self._rows: list[Rows] = []
        self._fitted: Scorer | None = None

    def add_documents(self, embeddings: Any, idxs: Sequence[str]) -> None:
        """Add vectors of documents and their ids."""
        self._rows.append(_as_rows(embeddings))
        self._ids += [str(name) for name in idxs]
        self._fitted = None

    def search(
        self,
        embeddings: Any,
        top_k: int,
        similarity_fn: Callable[..., Any] | None = None,  # noqa: ARG002  # the scorer is what ranks
        top_ranked: Mapping[str, Sequence[str]] | None = None,
        query_idx_to_id: Mapping[int, str] | None = None,
    ) -> tuple[list[list[float]], list[list[int]]]:
        """Rank all documents, or for each query those that it was given; scores and row numbers, best first.

        Raises:
            OffsphereError: No document was added, or queries with given documents have no ids.
        """
        if not self._rows:
            raise OffsphereError("there are no documents: MTEB calls index before it calls search")
        queries = _as_rows(embeddings)
        if top_ranked is None:
            (top,) = search(queries, self._rows, [self._ready], top_k, ids=self._ids)
            return top.scores.tolist(), top.documents.tolist()
        if query_idx_to_id is None:
            raise OffsphereError("re-ranking needs to know which query is which: MTEB gives query_idx_to_id")
        rows = {name: row for row, name in enumerate(self._ids)}
        documents = np.concatenate(self._rows)
        scores, orders = [], []
        for number in range(len(queries)):
            given = np.array([rows[name] for name in top_ranked[query_idx_to_id[number]]])
            values, order = self._rank_given(queries[number : number + 1], documents, given, top_k)
            scores.append(values.tolist())
            orders.append(order.tolist())
        return scores, orders

    def clear(self) -> None:
        """Forget all documents, for the next task."""
        self._ids, self._rows, self._fitted = [], [], None

    @property
    def _ready(self) -> Scorer:
        """The scorer, fitted on the documents where it was not before."""
        if self._fitted is None:
            self._fitted = fitted_scorer(self.scorer, self._rows)
        return self._fitted

    def _rank_given(self, query: Rows, documents: Rows, given: Index, top_k: int) -> tuple[Array, Index]:
        """Rank some documents for one query; MTEB wants their numbers in the list that was given."""
        names = [self._ids[row] for row in given.tolist()]
        (top,) = search(query, documents[given], [self._ready], top_k, ids=names)
        return top.scores[0], top.documents[0]


class _LengthKeepingEncoder:
    """One of our encoders with the face that MTEB asks for, whose similarities are those of the scorer."""

    def __init__(self, encoder: Encoder, scorer: Scorer, meta: Any) -> None:
        self.encoder, self.scorer, self.mteb_model_meta = encoder, scorer, meta

    def encode(self, inputs: Any, *, prompt_type: Any = None, **_: Any) -> Rows:
        """Encode the texts of a loader's batches, as queries or as documents."""
        side = "query" if str(getattr(prompt_type, "value", prompt_type)) == "query" else "document"
        texts = [text for batch in inputs for text in batch["text"]]
        return self.encoder.encode(texts, side)  # type: ignore[arg-type]

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Score every pair of two collections."""
        import torch

        first, second = _as_rows(embeddings1), _as_rows(embeddings2)
        rows = [self.scorer.score_pairs(np.repeat(row[None], len(second), axis=0), second) for row in first]
        return torch.as_tensor(np.stack(rows))

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Score the pairs of two collections, row by row."""
        import torch

        return torch.as_tensor(self.scorer.score_pairs(_as_rows(embeddings1), _as_rows(embeddings2)))


def mteb_model(encoder: Encoder, scorer: Scorer | str) -> Any:
    """Make a model for ``mteb.evaluate`` of an encoder and the scorer that was chosen for its vectors.

    Args:
        encoder: As ``load_encoder`` gives it: with lengths.
        scorer: What ranks: a scorer, or the name of one without transforms.

    Returns:
        A search model: retrieval and reranking tasks of MTEB take it.

    Raises:
        MissingExtraError: MTEB is not installed.
    """
    scorer = parse_scorer(scorer) if isinstance(scorer, str) else scorer
    wrappers, metas = load_extra("mteb.models.search_wrappers"), load_extra("mteb.models.model_meta")
    about = encoder.description
    name = about.model.rpartition(":")[2].replace("/", "--")
    meta = metas.ModelMeta.create_empty(
        {"name": f"offsphere/{name}", "revision": f"{about.revision} {scorer.name}", "embed_dim": about.dimension}
    )
    return wrappers.SearchEncoderWrapper(
        _LengthKeepingEncoder(encoder, scorer, meta), index_backend=ScorerIndex(scorer)
    )


def _as_rows(embeddings: Any) -> Rows:
    """Vectors as float32 rows, whether MTEB holds them as tensors or as arrays."""
    given = embeddings.detach().cpu().numpy() if hasattr(embeddings, "detach") else embeddings
    return np.ascontiguousarray(np.asarray(given), np.float32)
