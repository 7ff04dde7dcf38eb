"""A document bias in a scorer's files: its name in the description, numbers, ids and bank among the arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from offsphere.base.arrays import Arrays
from offsphere.base.errors import DataError
from offsphere.base.reading.json_files import parse_json
from offsphere.base.reading.records import record_of
from offsphere.scoring.document_bias import DocumentBias
from offsphere.scoring.query_bank import QueryBank
from offsphere.scoring.scorer_files import BANK, numbers_of


def bias_config(bias: DocumentBias | None) -> dict[str, Any]:
    """Describe a bias as plain values; one without ids as it always was."""
    if bias is None or bias.ids is None:
        return {"bias": bias.name if bias is not None else None}
    bank = {"neighbours": bias.bank.neighbours, "share": bias.bank.share} if bias.bank is not None else None
    return {"bias": bias.name, BANK: bank}


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
    name = config["bias"]
    if name is None and "bias" not in arrays:
        return None
    ids = parse_json(arrays["bias.ids"].tobytes(), f"the ids of {name}") if "bias.ids" in arrays else None
    if not isinstance(name, str) or not (ids is None or isinstance(ids, list)):
        raise DataError(f"the bias {name} is no list of numbers with a list of ids: save the scorer again")
    described = config.get(BANK)
    bank = _bank_of(described, numbers_of(arrays, "bias.bank", 2)) if described is not None else None
    known = np.zeros(0) if ids == [] and bank is not None else numbers_of(arrays, "bias", 1)  # by its bank alone
    return DocumentBias(name, known, ids, bank)


def _bank_of(described: Any, queries: Any) -> QueryBank:
    """Make the bank again from its queries and what is said of it."""
    values = record_of(_BankDescription, described, "the query bank")
    if values.neighbours < 1:
        raise DataError(f"the query bank asks for {values.neighbours} neighbours: save the scorer again")
    return QueryBank(queries, values.neighbours, values.share)


@dataclass(frozen=True)
class _BankDescription:
    """What stands in the description of a scorer about its bank."""

    neighbours: int
    share: float
