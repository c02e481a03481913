"""How many pairs of attributes a new table can measure, by public figures and before the draw."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from microveil.methods.base import Choices
from microveil.methods.synthetic_plan import Planning, is_learnt, room_of
from microveil.schema import Attribute
from microveil.synthesis.choosing import TablesPlan

# Of a table of fewer cells than two by two nothing is left but noise.
LEAST_CELLS = 4
# What is proposed at most: epsilons of two digits, and records.
EPSILONS = [Fraction(digits) * Fraction(10) ** power for power in range(-3, 2)
            for digits in range(10, 100)]  # fmt: skip
MOST_RECORDS = 10**12

T = TypeVar("T", Fraction, int)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedPairs:
    """How many of all pairs can be measured; where it is none, the least that would do instead.

    None stands for an epsilon, a number of attributes or of records that nothing small would do.
    """

    n_pairs: int
    n_measured: int
    epsilon: Fraction | None = None
    n_attributes: int | None = None
    n_records: int | None = None

    @property
    def would_do(self) -> str:
        """What would let a pair be measured, in words."""
        ways = []
        if self.epsilon is not None:
            ways.append(f"epsilon={float(self.epsilon):g} or more")
        if self.n_attributes is not None:
            ways.append(f"{self.n_attributes} columns at most")
        if self.n_records is not None:
            ways.append(f"a table of {self.n_records:,} records or more")
        return ", or ".join(ways)


def expected_pairs(attributes: Sequence[Attribute], choices: Choices) -> ExpectedPairs | None:
    """Count the pairs that a request can measure; None where it asks for no table of pairs.

    A pair can be measured where in a table of two by two cells a fair share of the records stands
    out of the noise; that it is kept is not said, which depends on how the two are related.
    """
    tables = Planning(tuple(attributes), choices).tables()
    if tables is None:
        return None
    n_pairs = len(attributes) * (len(attributes) - 1) // 2
    if _can_measure(tables, choices.n_records):
        # Of a table of three, a target and two more, all pairs; the first two are its tree's.
        n_measured = tables.n_tables if tables.target is None else 2 * len(attributes) - 3
        return ExpectedPairs(n_pairs=n_pairs, n_measured=min(n_measured, n_pairs))

    def does(attributes: Sequence[Attribute], choices: Choices) -> bool:
        planned = Planning(tuple(attributes), choices).tables()
        return planned is not None and _can_measure(planned, choices.n_records)

    # Each is found by planning with it, so that it does do.
    target = choices["target"] and choices["target"][0]
    # Those whose domains are learnt leave less of delta to the others.
    in_order = sorted(attributes, key=lambda one: (one.name != target, not is_learnt(one)))
    epsilon = _least(EPSILONS, lambda epsilon: does(attributes, replace(choices, epsilon=epsilon)))
    fewer = range(len(attributes) - 1, 1, -1)
    n_attributes = _least(fewer, lambda number: does(in_order[:number], choices))
    more = range(choices.n_records, MOST_RECORDS)
    n_records = _least(more, lambda number: does(attributes, replace(choices, n_records=number)))
    return ExpectedPairs(
        n_pairs=n_pairs,
        n_measured=0,
        epsilon=epsilon,
        n_attributes=n_attributes,
        n_records=n_records,
    )


def _can_measure(tables: TablesPlan, n_records: int) -> bool:
    has_target = tables.target is not None
    return room_of(tables.noise, n_records, has_target=has_target) >= LEAST_CELLS


def _least(tried: Sequence[T], does: Callable[[T], bool]) -> T | None:
    """Return the first that does, of some after which all do; None where none does."""
    place = bisect_left(tried, 1, key=lambda one: int(does(one)))
    return tried[place] if place < len(tried) else None
