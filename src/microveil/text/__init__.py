"""What is written for people, as values and in its forms; no words of any one report or command."""

from microveil.text.aligned import aligned, wrapped
from microveil.text.readable import (
    enumerated,
    listed,
    one_line,
    readable,
    shortened,
    some_of,
    typed,
)

__all__ = [
    "aligned",
    "enumerated",
    "listed",
    "one_line",
    "readable",
    "shortened",
    "some_of",
    "typed",
    "wrapped",
]
