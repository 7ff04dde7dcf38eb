"""A threshold that goes with a scorer: below it a result is not shown. It lies beside the scorer's own files."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from offsphere.base.errors import DataError
from offsphere.base.reading.sealed_json import read_sealed, write_sealed

NAME = "threshold.json"


@dataclass(frozen=True, slots=True)
class Cut:
    """A threshold and what it promises.

    Attributes:
        threshold: what scores at least this is shown, by the scorer's own values.
        promise: what was guaranteed when it was chosen, in words.
    """

    threshold: float
    promise: str

    def save(self, folder: Path) -> None:
        """Write it beside a saved scorer, with a digest, so that a flipped byte is noticed."""
        write_sealed(folder / NAME, {"threshold": self.threshold, "promise": self.promise}, {})

    @classmethod
    def load(cls, folder: Path) -> Cut | None:
        """Read the threshold of a saved scorer; nothing where it has none.

        Raises:
            DataError: where the file is damaged or says something else.
        """
        path = folder / NAME
        if not path.exists():
            return None
        values = read_sealed(path)
        number, promise = values.get("threshold"), values.get("promise")
        if type(number) is not float or not isfinite(number) or not isinstance(promise, str):
            raise DataError(f"{path} is no threshold of a scorer: choose it again with offsphere threshold")
        return cls(number, promise)
