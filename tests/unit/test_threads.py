"""Work side by side: its order, and when it is worth threads."""

import threading

import pytest

from microveil.table.threads import FEW_VALUES, in_threads


@pytest.mark.parametrize(("n_values", "is_beside"), [(FEW_VALUES - 1, False), (FEW_VALUES, True)])
def test_few_values_are_worked_on_here_and_many_in_threads(n_values, is_beside):
    """Whichever it is, results come in the order of the items."""
    found = in_threads(lambda item: (item, threading.get_ident()), range(20), n_values)
    assert [item for item, _ in found] == list(range(20))
    assert (threading.get_ident() not in {thread for _, thread in found}) is is_beside
