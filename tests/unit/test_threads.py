"""Work side by side: its order, and when it is worth threads."""

import time

import pytest

from microveil.table.threads import MADE_AT_ONCE, made_ahead


def test_parts_come_in_order_while_few_further_ones_are_made():
    """However long each takes: what was made and not taken yet is three parts at most."""
    begun = []

    def make(item):
        begun.append(item)
        time.sleep(0.002 if item % 2 else 0)
        return item

    for taken, item in enumerate(made_ahead(make, range(20)), start=1):
        assert item == taken - 1
        assert len(begun) <= taken + MADE_AT_ONCE
    assert begun == list(range(20))


def test_an_error_comes_in_its_turn_and_what_is_not_wanted_is_not_made():
    """Parts before it were good; nobody waits for the rest of many."""
    begun = []

    def make(item):
        begun.append(item)
        return 1 // (5 - item)

    parts = made_ahead(make, range(1000))
    assert [next(parts) for _ in range(5)] == [0, 0, 0, 0, 1]
    with pytest.raises(ZeroDivisionError):
        next(parts)
    parts = made_ahead(make, range(6, 1000))
    next(parts)
    parts.close()
    assert len(begun) < 20
