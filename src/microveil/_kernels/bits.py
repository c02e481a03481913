"""Bits and bytes of a word, by the instructions that processors have for them."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def count(_context, _word):
    """How many bits are set."""

    def generate(_context, builder, _signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def lowest(_context, _word):
    """Position of the lowest set bit; 64 if none is."""

    def generate(_context, builder, _signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


@intrinsic
def above_highest(_context, _word):
    """Position of the highest set bit plus one; 0 if none is."""

    def generate(_context, builder, _signature, arguments):
        zeros = builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))
        return builder.sub(ir.Constant(ir.IntType(64), 64), zeros)

    return types.uint64(types.uint64), generate


@intrinsic
def store(_context, _address, _word):
    """Write a word's eight bytes to an address, the lowest first; none is returned: 0."""

    def generate(_context, builder, _signature, arguments):
        address, word = arguments
        builder.store(word, builder.inttoptr(address, word.type.as_pointer()), align=1)
        return ir.Constant(ir.IntType(32), 0)

    return types.int32(types.uint64, types.uint64), generate
