"""The kinds of arrays that functions take and return, each named once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]  # numbers that were computed: scores, lengths, values
Rows = NDArray[np.float32]  # vectors as they are searched and stored, a row each
Vectors = NDArray[np.floating]  # vectors as they come, of any precision, a row each
Index = NDArray[np.int64]  # row numbers
Counts = NDArray[np.int32]  # how many of something, such as tokens, each row has
Flags = NDArray[np.bool_]  # which rows
Arrays = Mapping[str, NDArray[Any]]  # by name, as they are kept in files
