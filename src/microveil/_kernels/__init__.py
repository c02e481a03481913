"""Compiled loops: arrays in, arrays out, no checks, nothing of microveil imported.

Every kernel has a plain-Python oracle in ``tests/reference``; the public functions
that call them check their input, so that a kernel need not.
"""
