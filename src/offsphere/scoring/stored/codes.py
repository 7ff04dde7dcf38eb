"""Codes: how the numbers of a stored vector are written, and what is read back from them.

A search of codes is a search of what they are read back as: ``q . decode(code)`` differs from the same sum over whole
numbers by rounding alone. So every code is searched exactly by the one search there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Arrays, Rows

STEPS = 255  # between the smallest and the largest of 256 codes
NOTHING: Arrays = MappingProxyType({})


class Code(Protocol):
    """How numbers are written. What must be fitted is fitted on the range of every dimension of the documents."""

    bits: ClassVar[int]  # that a number takes
    ranged: ClassVar[bool]  # whether it depends on the range of the numbers, or cannot write every number

    @classmethod
    def fitted(cls, low: Rows, high: Rows) -> Self:
        """Make the code for documents whose dimensions lie between these, (dimension,) each."""
        ...

    def decoded(self, rows: Rows) -> Rows:
        """Give what is read back from the codes of these vectors, a row each."""
        ...

    def arrays(self) -> Arrays:
        """Give the numbers it was fitted to, by name."""
        ...


@dataclass(frozen=True, slots=True)
class Float32:
    """Four bytes a number: nothing is lost."""

    bits: ClassVar[int] = 32
    ranged: ClassVar[bool] = False

    @classmethod
    def fitted(cls, low: Rows, high: Rows) -> Self:  # noqa: ARG003
        """Make the code, which is the same for all documents."""
        return cls()

    def decoded(self, rows: Rows) -> Rows:
        """Give the vectors themselves."""
        return rows

    def arrays(self) -> Arrays:
        """Give nothing, since nothing is fitted."""
        return NOTHING


@dataclass(frozen=True, slots=True)
class Float16(Float32):
    """Two bytes a number, eleven bits of which are its digits; nothing above 65,504. As halfvec of pgvector.

    Example:
        >>> import numpy as np
        >>> Float16().decoded(np.array([[1.0, 0.1, 70_000]], np.float32)).tolist()
        [[1.0, 0.0999755859375, inf]]
    """

    bits: ClassVar[int] = 16
    ranged: ClassVar[bool] = True

    def decoded(self, rows: Rows) -> Rows:
        """Round to the nearest number of half precision."""
        with np.errstate(over="ignore"):  # who fits it refuses what is not finite
            return rows.astype(np.float16).astype(np.float32)


@dataclass(frozen=True, slots=True)
class BFloat16(Float32):
    """Two bytes a number, eight bits of which are its digits; the range of float32.

    Example:
        >>> import numpy as np
        >>> BFloat16().decoded(np.array([[1.0, 0.1, 70_000]], np.float32)).tolist()
        [[1.0, 0.10009765625, 70144.0]]
    """

    bits: ClassVar[int] = 16
    ranged: ClassVar[bool] = True

    def decoded(self, rows: Rows) -> Rows:
        """Round to the nearest number whose last sixteen bits are zero; of two that are as near, to the even one."""
        whole = np.ascontiguousarray(rows, dtype=np.float32).view(np.uint32)
        up = np.uint32(0x7FFF) + ((whole >> np.uint32(16)) & np.uint32(1))
        return ((whole + up) & np.uint32(0xFFFF0000)).view(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Int8:
    """A byte a number: one of 256 steps between the smallest and the largest number of its dimension.

    As QT_8bit of FAISS: a code is ``floor(255 (x - low) / span)`` and is read back as the middle of its step.

    Example:
        >>> import numpy as np
        >>> code = Int8.fitted(np.zeros(1, np.float32), np.full(1, 255, np.float32))
        >>> code.codes(np.array([[0.0], [7.9], [255.0]], np.float32)).ravel().tolist()
        [0, 7, 255]
        >>> code.decoded(np.array([[7.9]], np.float32)).tolist()
        [[7.5]]
    """

    low: Rows  # (dimension,)
    span: Rows  # (dimension,)

    bits: ClassVar[int] = 8
    ranged: ClassVar[bool] = True

    @classmethod
    def fitted(cls, low: Rows, high: Rows) -> Self:
        """Make the code of these ranges."""
        return cls(low, high - low)

    def codes(self, rows: Rows) -> NDArray[np.uint8]:
        """Write the vectors, a byte a number; what lies outside the range gets its end."""
        wide = np.where(self.span > 0, self.span, np.float32(1))
        shares = np.clip((rows - self.low) / wide, 0, 1)
        return (shares * np.float32(STEPS)).astype(np.uint8)

    def decoded(self, rows: Rows) -> Rows:
        """Give the middle of every step."""
        shares = (self.codes(rows).astype(np.float32) + np.float32(0.5)) / np.float32(STEPS)
        return np.asarray(self.low + shares * self.span)

    def arrays(self) -> Arrays:
        """Give both ends of the ranges."""
        return {"low": self.low, "span": self.span}


@dataclass(frozen=True, slots=True)
class Binary(Float32):
    """A bit a number: whether it is above zero. Read back as 1 and -1, whose inner product counts equal bits.

    ``sign(q) . sign(d) = dimensions - 2 * Hamming distance``, so the inner product ranks as the distance does.

    Example:
        >>> import numpy as np
        >>> Binary().decoded(np.array([[0.3, 0.0, -2.0]], np.float32)).tolist()
        [[1.0, -1.0, -1.0]]
    """

    bits: ClassVar[int] = 1

    def decoded(self, rows: Rows) -> Rows:
        """Give 1 for every number above zero, else -1."""
        return np.where(rows > 0, np.float32(1), np.float32(-1))


CODES: Mapping[str, type[Code]] = MappingProxyType(
    {"float32": Float32, "float16": Float16, "bfloat16": BFloat16, "int8": Int8, "binary": Binary}
)
