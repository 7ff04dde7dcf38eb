"""A document bias in a scorer's files: its name in the description, numbers, ids and bank among the arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from offsphere.base.errors import DataError
from offsphere.scoring.document_bias import DocumentBias
from offsphere.scoring.query_bank import QueryBank
from offsphere.scoring.value_key import Arrays

FORMAT_WITH_IDS = 2  # which versions that go by row number refuse to read


def bias_config(bias: DocumentBias | None) -> dict[str, Any]:
    """Describe a bias as plain values; one without ids as it always was."""
    if bias is None or bias.ids is None:
        return {"bias": bias.name if bias is not None else None}
    bank = {"neighbours": bias.bank.neighbours, "share": bias.bank.share} if bias.bank is not None else None
    return {"format": FORMAT_WITH_IDS, "bias": bias.name, "bank": bank}


def bias_arrays(bias: DocumentBias | None) -> dict[str, Any]:
    """Give the numbers of a bias, its ids as the bytes of a JSON list, and the bank's queries."""
    if bias is None:
        return {}
    arrays: dict[str, Any] = {"bias": bias.values}
    if bias.ids is not None:
        arrays["bias.ids"] = np.frombuffer(json.dumps(list(bias.ids)).encode(), np.uint8)
    if bias.bank is not None:
        arrays["bias.bank"] = bias.bank.queries
    return arrays


def bias_of(config: Mapping[str, Any], arrays: Arrays) -> DocumentBias | None:
    """Make the bias again from what ``bias_config`` and ``bias_arrays`` gave."""
    if config["bias"] is None:
        return None
    values: Any = arrays["bias"]
    ids = json.loads(arrays["bias.ids"].tobytes()) if "bias.ids" in arrays else None
    if values.ndim != 1 or not (ids is None or isinstance(ids, list)):
        raise DataError(f"the bias {config['bias']} is no list of numbers with a list of ids: save the scorer again")
    described = config.get("bank")
    if described is None:
        return DocumentBias(config["bias"], values, ids)
    queries: Any = arrays["bias.bank"]
    if queries.ndim != 2 or not len(queries) or int(described["neighbours"]) < 1:  # noqa: PLR2004
        raise DataError(f"the query bank of {config['bias']} holds no rows of queries: save the scorer again")
    return DocumentBias(
        config["bias"], values, ids, QueryBank(queries, int(described["neighbours"]), float(described["share"]))
    )
