"""Training pairs of texts as a data set of sentence-transformers' own trainer."""

from __future__ import annotations

from typing import Any

import numpy as np

from offsphere.learning.data.training_pairs import TextPairs


def training_dataset(pairs: TextPairs) -> Any:
    """Columns anchor, positive, negative_1, ... and, as label, a number for every text of a row."""
    from datasets import Dataset

    (texts,) = pairs.sources
    columns: dict[str, Any] = {
        "anchor": [texts.queries[row] for row in pairs.queries.tolist()],
        "positive": [texts.documents[row] for row in pairs.documents.tolist()],
    }
    keys = [texts.query_keys[pairs.queries], texts.document_keys[pairs.documents]]
    for number, rows in enumerate(pairs.negatives.T, 1):
        columns[f"negative_{number}"] = [texts.documents[row] for row in rows.tolist()]
        keys.append(texts.document_keys[rows])
    return Dataset.from_dict({**columns, "label": np.stack(keys, axis=1).tolist()})
