"""How many pairs a new table can measure, said before the draw by public figures alone."""

import re
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import microveil as mv
from command import run

CODES = ["a", "b", "c"]


def codes(n_records, n_columns):
    """Columns of codes, in which nothing hangs together."""
    random = np.random.default_rng(1)
    return pl.DataFrame({f"C{nth}": random.choice(CODES, n_records) for nth in range(n_columns)})


def planned(n_records, n_columns, **more):
    names = [f"C{nth}" for nth in range(n_columns)]
    asked = {"epsilon": 0.3, "categories": dict.fromkeys(names, CODES), "delta": 1e-9, **more}
    return mv.plan(codes(n_records, n_columns), attributes=names, **asked)


def can_measure(plan):
    """Whether the plan says that pairs can be measured; it says one of both."""
    said, *_ = plan.notes
    found = re.match(r"(No pair|\d+ of \d+ pairs) of columns can be measured", said)
    return found[1] != "No pair"


MORE = [{}, {"delta": 0}, {"target": "C3"}, {"structure": "tree"}]
N_MEASURED = [({}, 6), ({"target": "C1"}, 5), ({"structure": "tree"}, 3)]


@pytest.mark.parametrize("more", MORE, ids=str)
def test_what_would_let_a_pair_be_measured_does_and_no_less(more):
    """An epsilon of two digits, columns left out, and records: each is asked for and held."""
    plan = planned(400, 9, **more)
    (pairs,) = (part.pairs for part in plan.parts)
    assert not can_measure(plan)
    assert (pairs.n_pairs, pairs.n_measured) == (36, 0)
    assert pairs.would_do in plan.notes[0]
    step = 10.0 ** (np.floor(np.log10(float(pairs.epsilon))) - 1)
    for epsilon, does in ((pairs.epsilon, True), (round(float(pairs.epsilon) - step, 9), False)):
        assert can_measure(planned(400, 9, **{**more, "epsilon": epsilon})) is does
    for n_records, does in ((pairs.n_records, True), (pairs.n_records - 1, False)):
        assert can_measure(planned(n_records, 9, **more)) is does
    if pairs.n_attributes is None:
        assert not can_measure(planned(400, 2 + bool(more.get("target")) * 2, **more))
        return
    for n_columns, does in ((pairs.n_attributes, True), (pairs.n_attributes + 1, False)):
        assert can_measure(planned(400, n_columns, **more)) is does


@pytest.mark.parametrize(("more", "n_measured"), N_MEASURED)
def test_as_many_pairs_are_measured_as_is_said(more, n_measured):
    """Those of two columns, and all that are in tables of three."""
    names = [f"C{nth}" for nth in range(4)]
    asked = {"epsilon": 9, "attributes": names, "categories": dict.fromkeys(names, CODES)}
    release = mv.protect(codes(3000, 4), **asked, **more)
    said = [note for note in release.notes if "can be measured" in note]
    assert said == [release.notes[0]]
    assert said[0].startswith(f"{n_measured} of 6 pairs of columns can be measured")
    assert ("How other pairs do" in said[0]) is (n_measured < 6)
    in_tables = {pair for scope in release.measurements.tables for pair in pairs_in(scope)}
    assert len(in_tables) == n_measured


def pairs_in(scope):
    """The pairs of columns of a table, each in order."""
    return {tuple(sorted(pair)) for pair in [*pairwise(scope), (scope[0], scope[-1])]}


def test_of_columns_drawn_apart_nothing_is_said():
    """As it was asked for, or there is one column alone."""
    for plan in (planned(400, 5, structure="independent"), planned(400, 1)):
        assert not any("pairs of columns" in note or "No pair" in note for note in plan.notes)


def test_the_command_says_it_first_and_inspect_beforehand(tmp_path):
    """With what would do, in the same words."""
    codes(400, 9).write_csv(tmp_path / "codes.csv")
    listed = [part for nth in range(9) for part in ("--categories", f"C{nth}={','.join(CODES)}")]
    asked = ["codes.csv", "--epsilon", "0.3", "--delta", "1e-9", *listed]
    inspected = run("inspect", *asked, folder=tmp_path)
    assert inspected.returncode == 0, inspected.stderr
    done = run("protect", *asked, "-o", "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    first = done.stderr.splitlines()[0]
    assert first.startswith("note: No pair of columns can be measured at this budget")
    sentence = re.search(r"What would do: .*records or more\.", " ".join(done.stderr.split()))[0]
    assert sentence in " ".join(inspected.stderr.split())
