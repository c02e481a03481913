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
def store(_context, _address, word):
    """Write the eight bytes of a whole number or float to an address; it returns nothing: 0."""

    def generate(_context, builder, _signature, arguments):
        address, value = arguments
        builder.store(value, builder.inttoptr(address, value.type.as_pointer()), align=1)
        return ir.Constant(ir.IntType(32), 0)

    return types.int32(types.uint64, word), generate


@intrinsic
def load(_context, _address):
    """Read eight bytes from an address as a word, the lowest first."""

    def generate(_context, builder, _signature, arguments):
        word = ir.IntType(64)
        return builder.load(builder.inttoptr(arguments[0], word.as_pointer()), align=1)

    return types.uint64(types.uint64), generate


@intrinsic
def load_byte(_context, _address):
    """Read one byte from an address as a word."""

    def generate(_context, builder, _signature, arguments):
        byte = builder.load(builder.inttoptr(arguments[0], ir.IntType(8).as_pointer()))
        return builder.zext(byte, ir.IntType(64))

    return types.uint64(types.uint64), generate
