"""What may be asked of a release: each argument declared once.

::

    argument   an argument as a value: what it takes, its flags, its entry in a recipe
    reading    from what was given to a checked value
    general    the arguments that every request may have
    steps      those that only some methods have a step for
    registry   all of them in one order, with what registered methods declare

Flags and help are made of these: nothing heavy is imported here.
"""

from microveil.arguments.argument import Argument, Entry, Flag
from microveil.arguments.registry import DECLARED, arguments, declare, general, steps

__all__ = [
    "DECLARED",
    "Argument",
    "Entry",
    "Flag",
    "arguments",
    "declare",
    "general",
    "steps",
]
