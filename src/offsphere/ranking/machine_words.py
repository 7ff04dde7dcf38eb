"""What numba has no word for and LLVM has: to test a chunk of numbers at once, and to ask for memory ahead of its use.

LLVM makes of it what a processor has: with AVX-512 the test of 64 documents is a dozen instructions, and its answer one
number, a bit a document. Without, it is slower, and the same.

Compiled code does not ask whether an index is inside its array: ``collect`` gives whole chunks of a tile, and
``multiply_exactly`` rows of a block, where a wrong one would only be fetched for nothing.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import extending, types
from numba.core import cgutils

CHUNK = 64  # numbers that are tested at once, as many as a machine word has bits
LINE = 64  # bytes that memory sends at once
READ, KEEP, DATA = 0, 3, 1  # what LLVM asks: to be read, as near as possible, data and no code
intrinsic: Any = extending.intrinsic  # whose functions are called without their first argument, the context
BITS, BYTE, NUMBER = ir.IntType(CHUNK), ir.IntType(8), ir.IntType(32)


@intrinsic
def affine_bits(_: Any, dots: Any, weights: Any, offsets: Any, begin: Any, factor: Any, least: Any) -> Any:
    """Raise the bits of the documents with ``dot * weight + factor * offset`` not at most the least, or no number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        dot, weight, offset = (_chunk(context, builder, signature, arguments, a) for a in range(3))
        factors, leasts = (_repeated(builder, arguments[a]) for a in (4, 5))
        scaled = builder.fmul(dot, weight, flags=("contract",))
        key = builder.fadd(scaled, builder.fmul(factors, offset, flags=("contract",)), flags=("contract",))
        return builder.bitcast(builder.fcmp_unordered(">", key, leasts), BITS)

    return types.uint64(dots, weights, offsets, begin, factor, least), generate


@intrinsic
def positive_bits(_: Any, marks: Any, begin: Any) -> Any:
    """Raise the bits of the marks that are not at most zero, or no number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        mark = _chunk(context, builder, signature, arguments, 0)
        return builder.bitcast(builder.fcmp_unordered(">", mark, ir.Constant(mark.type, None)), BITS)

    return types.uint64(marks, begin), generate


@intrinsic
def lowest_bit(_: Any, bits: Any) -> Any:
    """Give the position of the lowest bit that is raised; one is."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(bits), generate


@intrinsic
def prefetch_row(_: Any, rows: Any, row: Any) -> Any:
    """Ask for a row of a two-dimensional array whose rows are contiguous; nothing waits for it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        ask = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [BYTE.as_pointer(), NUMBER, NUMBER, NUMBER]),
            "llvm.prefetch.p0",
        )
        stride, _ = cgutils.unpack_tuple(builder, array.strides)
        _, width = cgutils.unpack_tuple(builder, array.shape)
        start = builder.gep(builder.bitcast(array.data, BYTE.as_pointer()), [builder.mul(arguments[1], stride)])
        size = builder.mul(width, array.itemsize)
        with cgutils.for_range_slice(builder, size.type(0), size, size.type(LINE)) as (offset, _):
            builder.call(ask, [builder.gep(start, [offset]), NUMBER(READ), NUMBER(KEEP), NUMBER(DATA)])
        return context.get_dummy_value()

    return types.void(rows, row), generate


def _chunk(context: Any, builder: Any, signature: Any, arguments: Any, which: int) -> Any:
    """Load a chunk of one of the arrays, which are contiguous float32; the argument behind all of them says where."""
    count = sum(isinstance(kind, types.Array) for kind in signature.args)
    array = context.make_array(signature.args[which])(context, builder, arguments[which])
    start = builder.gep(array.data, [arguments[count]])
    return builder.load(builder.bitcast(start, ir.VectorType(ir.FloatType(), CHUNK).as_pointer()), align=4)


def _repeated(builder: Any, number: Any) -> Any:
    """Make a chunk of one float32."""
    kind = ir.VectorType(ir.FloatType(), CHUNK)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), number, NUMBER(0))
    return builder.shuffle_vector(
        first, ir.Constant(kind, ir.Undefined), ir.Constant(ir.VectorType(NUMBER, CHUNK), None)
    )
