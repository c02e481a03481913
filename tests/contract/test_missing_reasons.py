"""Why cells are missing, kept apart in the release."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import microveil as mv
from microveil.errors import RequestError
from microveil.noise.noise import RandomSource
from microveil.table.table import restored

CODES = {"INCOME": [-9, -8]}
KEPT = {"missing": "keep", "missing_codes": CODES, "missing_reasons": True}
NOISY = {"method": "dp-um", "k": 3, "epsilon": 1, "bounds": {"INCOME": (0, 1000)}, "seed": 3}


def incomes(kind=pl.Int32):
    values = [100, -9, 300, None, -8, 500, 700, -9, 20]
    return pl.DataFrame({"INCOME": values}, schema={"INCOME": kind})


@pytest.mark.parametrize("kind", [pl.Int32, pl.Float32, pl.Int64])
@pytest.mark.parametrize(
    "made", [lambda frame: frame, pl.DataFrame.to_arrow, pl.DataFrame.to_pandas]
)
def test_reasons_come_back_in_their_places(kind, made):
    """Cells with a code have it in the release, and cells without are empty."""
    table = made(incomes(kind))
    request = {**NOISY, "attributes": "INCOME", "resolution": {"INCOME": 1}}
    released = pl.DataFrame(mv.protect(table, **request, **KEPT).data)["INCOME"].to_list()
    assert [released[place] for place in (1, 4, 7)] == [-9, -8, -9]
    assert released[3] is None or np.isnan(released[3])
    assert all(0 <= released[place] <= 1000 for place in (0, 2, 5, 6, 8))


def test_reasons_follow_their_cells_through_each_shuffle():
    """Shuffled, there are as many cells of each reason as before, and beside a key each its own."""
    table = incomes().with_columns(KEY=pl.int_range(9) * 100)
    request = {**NOISY, "attributes": ["INCOME"], "keep": ["KEY"], "shuffle": True}
    released = mv.protect(table, **request, **KEPT).data.sort("KEY")["INCOME"].to_list()
    assert [released[place] for place in (1, 3, 4, 7)] == [-9, None, -8, -9]
    apart = {**NOISY, "attributes": ["INCOME"], "shuffle": "columns"}
    found = Counter(mv.protect(table, **apart, **KEPT).data["INCOME"].to_list())
    assert (found[-9], found[-8], found[None]) == (2, 1, 1)


def test_reasons_are_said_to_be_published_as_they_are():
    """The condition on missing cells names the attributes whose reasons are released."""
    plain = mv.plan(incomes(), **NOISY, attributes="INCOME", missing="keep", missing_codes=CODES)
    with_reasons = mv.plan(incomes(), **NOISY, attributes="INCOME", **KEPT)
    texts = []
    for planned in (plain, with_reasons):
        (found,) = (c for c in planned.claim.conditions if c.id == "missing-cells")
        texts.append(found.text)
        assert found.scopes
    assert "code" not in texts[0]
    assert "INCOME with the code that says why, published as it is" in texts[1]
    assert "missing for the same reasons" in texts[1]


REFUSED = [
    ({"missing": "error"}, "missing_reasons"),
    ({"missing_codes": None}, "missing_reasons"),
    ({"bounds": {"INCOME": (-9, 1000)}}, "missing codes of 'INCOME'"),
    ({"method": "mdav", "bounds": None, "epsilon": None}, "missing codes of 'INCOME'"),
    ({"missing": "protect"}, "missing"),
    ({"missing": "protect", "method": "dp-synthetic", "k": None}, "missing_reasons"),
]


@pytest.mark.parametrize(("changed", "place"), REFUSED)
def test_reasons_that_could_be_values_or_nothing_are_refused(changed, place):
    """A code inside the domain could be a value, and without missing cells there is no reason."""
    request = {**NOISY, "attributes": "INCOME", **KEPT, **changed}
    with pytest.raises(RequestError) as refused:
        mv.protect(incomes(), **request)
    assert refused.value.place == place


PROTECTED = {"method": "pram", "epsilon": 1, "attributes": "A", "missing": "protect"}


def pram_plan(cells, *, reasons, epsilon=1):
    table = pl.DataFrame({"A": cells}, schema={"A": pl.Int64})
    codes = {"missing_codes": {"A": [-9, -8]}, "missing_reasons": True} if reasons else {}
    bounds = {"A": (0, 2)}
    return mv.plan(table, **{**PROTECTED, "epsilon": epsilon}, bounds=bounds, **codes)


@pytest.mark.parametrize("reasons", [False, True])
def test_being_missing_costs_pram_no_more_than_a_value(reasons):
    """Over all neighbours of small tables, and every outcome, the loss is epsilon and no more.

    A neighbour may lose its value, gain one or have another reason. In rational arithmetic.
    """
    outcomes = [0, 1, 2, None, *([-9, -8] if reasons else [])]
    laws = {}
    for cells in itertools.product(outcomes, repeat=2):
        part = pram_plan(list(cells), reasons=reasons).attributes[0]
        rows = part.weights[part.codes]
        laws[cells] = [[Fraction(int(weight), int(row.sum())) for weight in row] for row in rows]
    assert {len(law[0]) for law in laws.values()} == {len(outcomes)}
    worst = Fraction(1)
    for one, other in itertools.product(laws, repeat=2):
        if sum(a != b for a, b in zip(one, other, strict=True)) == 1:
            for chosen in itertools.product(range(len(outcomes)), repeat=2):
                chances = [
                    laws[cells][0][chosen[0]] * laws[cells][1][chosen[1]] for cells in (one, other)
                ]
                worst = max(worst, chances[0] / chances[1])
    assert worst <= Fraction(np.e)
    assert float(worst) == pytest.approx(np.e, rel=1e-9)


@pytest.mark.parametrize("reasons", [False, True])
def test_pram_draws_missing_cells_as_it_draws_values(reasons):
    """Whatever a cell was, each outcome comes with the probability that its row gives it."""
    outcomes = [0, 1, 2, None, *([-9, -8] if reasons else [])]
    cells = [cell for cell in outcomes for _ in range(20_000)]
    planned = pram_plan(cells, reasons=reasons)
    drawn = planned.attributes[0].draw(RandomSource.seeded(1))
    released = restored(planned.table, "A", drawn).to_list()
    stay = np.e / (np.e + len(outcomes) - 1)
    for place, cell in enumerate(outcomes):
        found = Counter(released[place * 20_000 : (place + 1) * 20_000])
        assert set(found) == set(outcomes)
        shares = {outcome: found[outcome] / 20_000 for outcome in outcomes}
        for outcome, share in shares.items():
            expected = stay if outcome == cell else (1 - stay) / (len(outcomes) - 1)
            assert share == pytest.approx(expected, abs=5 * np.sqrt(expected / 20_000))


def test_pram_covers_which_cells_are_missing():
    """With missing="protect" rows are covered, without a condition on missing cells."""
    planned = pram_plan([0, None, 2], reasons=True)
    assert planned.claim.scopes.row.covered
    assert not [c for c in planned.claim.conditions if c.id == "missing-cells"]
    assert planned.claim.model.value == "dp"


def test_nothing_of_the_original_decides_what_pram_refuses():
    """A table without any value, or with one alone, is released like another."""
    for cells in ([None, None, None], [1, None, None]):
        assert pram_plan(cells, reasons=False).attributes[0].weights.shape == (4, 4)


def test_a_reason_that_the_type_cannot_hold_is_released_as_missing():
    """A code beyond a column's type would be clipped to a value: the cell stays empty."""
    table = pl.DataFrame({"A": [0, 1, None] * 50}, schema={"A": pl.UInt8})
    codes = {"missing_codes": {"A": [-9]}, "missing_reasons": True}
    released = mv.protect(table, **{**PROTECTED, "epsilon": 0.1}, bounds={"A": (1, 2)},
                          outside="clamp", **codes).data["A"]  # fmt: skip
    assert set(released.to_list()) == {1, 2, None}


def test_text_reasons_are_categories_of_their_own():
    """Of text each code is one more category, and frames with lists of categories take it."""
    cells = ["m", "f", "refused", None] * 30
    for kind in (pl.String, pl.Categorical, pl.Enum(["m", "f", "refused"])):
        table = pl.DataFrame({"A": cells}, schema={"A": kind})
        codes = {"missing_codes": {"A": "refused"}, "missing_reasons": True}
        request = {**PROTECTED, "categories": {"A": ["m", "f"]}}
        for frame in (table, table.to_pandas(), table.to_arrow()):
            data = pl.DataFrame(mv.protect(frame, **request, **codes).data)["A"]
            assert set(data.cast(pl.String).to_list()) == {"m", "f", "refused", None}


def test_words_that_are_missing_everywhere_are_no_reasons():
    """Text of missing_values is missing without a reason, beside codes that are reasons."""
    table = pl.DataFrame({"A": ["m", "f", "refused", "NA"] * 30})
    codes = {"missing_codes": {"A": "refused"}, "missing_values": "NA", "missing_reasons": True}
    request = {**PROTECTED, "epsilon": 20, "categories": {"A": ["m", "f"]}}
    part = mv.plan(table, **request, **codes).attributes[0]
    assert part.codes.tolist() == [0, 1, 3, 2] * 30
    kept = {**request, "missing": "keep"}
    data = mv.protect(table, **kept, **codes).data["A"].to_list()
    assert (data[2::4], data[3::4]) == (["refused"] * 30, [None] * 30)


def test_comparisons_and_the_audit_take_hidden_missing_cells():
    """What measures pram measures it where missing cells are categories too."""
    cells = [0, 1, 2, None, -9] * 12
    table = pl.DataFrame({"A": cells}, schema={"A": pl.Int64})
    request = {**PROTECTED, "bounds": {"A": (0, 2)}, "missing_codes": {"A": [-9]}}
    assert mv.audit(table, **request).vector_scope == pytest.approx(1)
    assert mv.empirical_audit(table, runs=2000, **request).contradicted == ()
    rest = {name: value for name, value in request.items() if name not in ("method", "epsilon")}
    found = mv.compare(table, methods="pram", epsilon=[1], runs=2, seed=1, **rest)
    assert found.summary.height == 1
    assert mv.advise(table, **request).expected["A"].mean_squared_error > 0
    release = mv.protect(table, **request, missing_reasons=True)
    assert mv.assess(table, release).to_dict()["n_cells_compared"] <= 36
