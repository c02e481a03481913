"""Notes of a plan: what a person should know before publishing, said once."""

import numpy as np
import pytest

import microveil as mv
from microveil.methods import METHODS

N = 400
RANDOM = np.random.default_rng(3)
TABLE = {"A": RANDOM.permutation(N), "B": RANDOM.permutation(N), "C": np.arange(N) % 2}
ASKED = {
    "k": 5,
    "epsilon": 4,
    "attributes": ["A", "B"],
    "bounds": {"A": (0, N), "B": (0, N), "C": (0, 1)},
    "exact_cells": "allow",
}
ROWS = "What rows show of the people they follow is not covered (row scope)"


def of_rows(**asked):
    """The notes on rows, and the guarantee that they stand beside."""
    planned = mv.plan(TABLE, **{**ASKED, **asked})
    return [note for note in planned.notes if note.startswith(ROWS)], planned.guarantee


@pytest.mark.parametrize("method", METHODS)
def test_a_note_names_what_would_cover_rows_where_they_follow_people_and_an_epsilon_is_spent(
    method,
):
    """Of every method, and of none that covers them or promises nothing of the kind."""
    asked = {"attributes": ["C"]} if method == "pram" else {}
    notes, guarantee = of_rows(method=method, **asked)
    assert len(notes) == guarantee.follows_individuals
    assert guarantee.follows_individuals == (
        guarantee.epsilon is not None and not guarantee.scopes.row.covered
    )


def test_the_method_that_the_note_names_covers_rows_for_the_same_request():
    """No other line is to be written."""
    (note,), _ = of_rows(method="dp-um")
    named = note.removeprefix(f"{ROWS}: ").split(" would")[0]
    notes, guarantee = of_rows(method=named)
    assert notes == []
    assert guarantee.scopes.row.epsilon == 4


@pytest.mark.parametrize(
    "change",
    [
        {"scope": "vector"},
        {"keep": ["C"]},
        {"seed": 1},
        {"shuffle": "columns"},
        {"attributes": None},
        {"bounds": mv.bounds_from_data(TABLE)},
    ],
    ids=str,
)
def test_who_asks_for_another_thing_is_not_pointed_to_a_new_table(change):
    """For a scope, for columns beside rows, for an experiment; or for what it cannot cover either.

    Where domains or columns come from a look at the table, the conditions say what is in the way.
    """
    assert of_rows(method="dp-um")[0]
    assert of_rows(method="dp-um", **change)[0] == []


def left_out_of(names):
    """The note on the columns that a request does not release."""
    table = TABLE | {name: np.array([f"w{row}" for row in range(N)]) for name in names}
    notes = mv.plan(table, method="mdav", k=5, attributes=["A", "B"], bounds=ASKED["bounds"]).notes
    (note,) = (note for note in notes if note.startswith("Not released"))
    return note


def test_a_wall_of_names_is_its_beginning_and_how_many_more_there_are():
    """Eight are named all, of more the first five; and a name's own dot ends no sentence."""
    assert left_out_of(["Staff no."]).startswith("Not released: C, 'Staff no.'.")
    seven = [f"T{number}" for number in range(7)]
    assert left_out_of(seven).startswith(f"Not released: C, {', '.join(seven)}.")
    many = [f"T{number}" for number in range(93)]
    assert left_out_of(many).startswith("Not released: C, T0, T1, T2, T3 and 89 more.")
