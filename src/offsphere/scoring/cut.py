"""A threshold that goes with a scorer: below it a result is not shown. It lies beside the scorer's own files."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path

from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import is_there
from offsphere.base.reading.sealed_json import read_sealed, write_sealed

NAME = "threshold.json"


@dataclass(frozen=True, slots=True)
class Cut:
    """A threshold and what it promises.

    Attributes:
        threshold: what scores at least this is shown, by the scorer's own values.
        promise: what was guaranteed when it was chosen, in words.
        scorer: the key of the scorer whose values these are.
    """

    threshold: float
    promise: str
    scorer: str

    def save(self, folder: Path) -> None:
        """Write it beside a saved scorer, with a digest, so that a flipped byte is noticed."""
        write_sealed(folder / NAME, asdict(self), {})

    @classmethod
    def load(cls, folder: Path, scorer: str) -> Cut | None:
        """Read the threshold of a saved scorer; nothing where it has none.

        Args:
            folder: of the scorer.
            scorer: its key.

        Raises:
            DataError: where the file is damaged, says something else, or is of another scorer.
        """
        path = folder / NAME
        if not is_there(path):
            return None
        values = read_sealed(path)
        number, promise = values.get("threshold"), values.get("promise")
        if type(number) is not float or not isfinite(number) or not isinstance(promise, str):
            raise DataError(f"{path} is no threshold of a scorer: choose it again with offsphere threshold")
        if values.get("scorer") != scorer:
            raise DataError(
                f"{path} is the threshold of another scorer than the one beside it: remove it, or choose it again with "
                "offsphere threshold"
            )
        return cls(number, promise, scorer)
