"""Regression before and after: formulas, fits against statsmodels, overlap by its definition."""

import json
import math
import re
import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import given
from hypothesis import strategies as st

from microveil.errors import DataError, RequestError
from microveil.measures.models import parse_formula
from microveil.measures.regression import compare_regressions, interval_overlap

FORMULAS = [
    "Y ~ A",
    "Y ~ 1",
    "Y ~ A + B",
    "Y ~ 0 + A + B",
    "Y ~ A * B",
    "Y ~ A:B + A - 1",
    "Y ~ G",
    "Y ~ 0 + G",
    "Y ~ A + G + A:G",
    "Y ~ A + A:G",
    "Y ~ C(H) + A",
    "Y ~ 0 + C(H) + G",
    "Y ~ G * C(H)",
    "Y ~ A * B * G",
    "Y ~ A + G:C(H)",
    "Y ~ 0 + G:C(H)",
    "Y ~ 0 + A:G + A:C(H)",
    "Y ~ 0 + G*C(H)",
    "Y ~ 0 + A*G*C(H)",
    "Y ~ G + A:C(H):G",
]


def people(n=200, seed=0):
    """Numbers A, B, outcomes Y and Z, and categories G (text) and H (whole numbers)."""
    generator = np.random.default_rng(seed)
    a, b = generator.normal(50, 10, n), generator.lognormal(0, 1, n)
    g, h = generator.choice(["f", "m", "x"], n), generator.integers(1, 4, n).astype(float)
    y = 3 + 2 * a - b + 5 * (g == "m") + h + generator.normal(0, 3, n)
    z = (generator.random(n) < 1 / (1 + np.exp(-(a - 50) / 10 - (g == "m")))).astype(float)
    return {"A": a, "B": b, "G": g, "H": h, "Y": y, "Z": z}


def plain_name(name):
    """One form for the names of statsmodels and ours: factors in any order."""
    factors = re.sub(r"\[(?:T\.)?([^]]+)\]", r"=\1", name).split(":")
    return frozenset(re.sub(r"=(\d+)\.0$", r"=\1", factor) for factor in factors)


def assert_fits_agree(ours, theirs):
    """The same coefficients, standard errors and intervals, by name."""
    found = {plain_name(c.term): c.original for c in ours.coefficients}
    assert set(found) == {plain_name(name) for name in theirs.params.index}
    for name, value in theirs.params.items():
        mine = found[plain_name(name)]
        scale = theirs.bse[name]
        assert mine.value == pytest.approx(value, rel=1e-7, abs=1e-7 * scale)
        assert mine.standard_error == pytest.approx(scale, rel=1e-6)
        low, high = theirs.conf_int().loc[name]
        assert mine.interval == pytest.approx((low, high), rel=1e-6, abs=1e-6 * scale)


@pytest.mark.parametrize("formula", FORMULAS)
def test_least_squares_agrees_with_statsmodels(formula):
    """Coefficients, errors and 95 % intervals, with categories, products and no intercept."""
    table = people()
    theirs = smf.ols(formula, pd.DataFrame(table)).fit()
    assert_fits_agree(compare_regressions(table, table, formula), theirs)


@pytest.mark.parametrize("formula", ["Z ~ A", "Z ~ A + G", "Z ~ 0 + A:G + C(H)", "Z ~ 1"])
def test_log_odds_agree_with_statsmodels(formula):
    """Maximum likelihood, with Wald intervals."""
    table = people(600)
    theirs = smf.logit(formula, pd.DataFrame(table)).fit(disp=False, tol=1e-12)
    ours = compare_regressions(table, table, formula, logistic=True)
    assert_fits_agree(ours, theirs)
    assert ours.to_dict()["model"] == "logistic"


def test_least_squares_far_from_zero_is_that_of_rational_arithmetic():
    """Days since 1970 with a spread of a few: slope and intercept to nine figures."""
    days = [20000 + d for d in (0, 1, 3, 4, 8, 9, 11)]
    tax = [5, 3, 8, 9, 11, 10, 17]
    x, y = [Fraction(d) for d in days], [Fraction(t) for t in tax]
    mean_x, mean_y = sum(x) / 7, sum(y) / 7
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    slope /= sum((a - mean_x) ** 2 for a in x)
    table = {"DAY": days, "TAX": tax}
    constant, found = compare_regressions(table, table, "TAX ~ DAY").coefficients
    assert found.original.value == pytest.approx(float(slope), rel=1e-9)
    assert constant.original.value == pytest.approx(float(mean_y - slope * mean_x), rel=1e-9)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Y~A", "Y ~ A"),
        (" Y ~ A + B + A:B ", "Y ~ A + B + A:B"),
        ("Y ~ A:B + B", "Y ~ B + A:B"),
        ("Y ~ A*B*C", "Y ~ A + B + C + A:B + A:C + B:C + A:B:C"),
        ("Y ~ A*B:C", "Y ~ A + B:C + A:B:C"),
        ("Y ~ A + B:A + A:B + A", "Y ~ A + B:A"),
        ("Y ~ A:A", "Y ~ A"),
        ("Y ~ C( A ) + C", "Y ~ C(A) + C"),
        ("Y ~ A - 1", "Y ~ 0 + A"),
        ("Y ~ -1 + A", "Y ~ 0 + A"),
        ("Y ~ 0 + A", "Y ~ 0 + A"),
        ("Y ~ 0 + A + 1", "Y ~ A"),
        ("Y ~ A - 0", "Y ~ A"),
        ("Y ~ 1", "Y ~ 1"),
        ("`a + b` ~ `x:y`*C(`~`)", "`a + b` ~ `x:y` + C(`~`) + `x:y`:C(`~`)"),
        ("höhe ~ größe.2", "höhe ~ größe.2"),
    ],
)
def test_formulas_are_read_and_written(text, expected):
    """Products, stars, categories, quotes and intercept; what is written reads as the same."""
    formula = parse_formula(text)
    assert str(formula) == expected
    assert parse_formula(expected) == formula


def test_a_quoted_name_is_taken_as_it_is():
    """Signs within backquotes are part of the name."""
    assert parse_formula("Y ~ C(`a:b*c`)").terms == (("C(`a:b*c`)",),)


@pytest.mark.parametrize(
    "text",
    [
        "", "Y", "Y ~", "~ A", "Y ~ A +", "Y ~ A B", "Y ~ A + + B", "Y ~ A ~ B", "Y ~ A - B",
        "Y ~ 0", "Y ~ -1", "Y ~ Y", "Y ~ A + C(Y)", "Y ~ (A + B)", "Y ~ A:", "Y ~ A^2", "Y ~ 2",
        "Y ~ 10", "Y ~ C(A", "Y ~ C(A + B)", "Y ~ log(A)", "Y + Z ~ A", "Y ~ A:1",
    ],
)  # fmt: skip
def test_formulas_that_cannot_be_read_are_refused(text):
    """Nothing is guessed; the message shows the notation."""
    with pytest.raises(RequestError, match="Y ~ A"):
        parse_formula(text)


def test_without_formulaic_the_extra_is_named(monkeypatch):
    """Also where a formula is only read."""
    monkeypatch.setitem(sys.modules, "formulaic", None)
    with pytest.raises(RequestError, match=r"microveil\[report\]"):
        parse_formula("Y ~ A")


def test_a_quote_that_is_not_closed_is_told():
    """And so is that no name with a quote in it can be written."""
    with pytest.raises(RequestError, match="come in pairs"):
        parse_formula("Y ~ `A")


def test_a_product_of_many_attributes_is_refused():
    """Before it is multiplied out; sums may be long."""
    for sign in "*:":
        with pytest.raises(RequestError, match="at most 8 attributes"):
            parse_formula(f"Y ~ {sign.join(f'A{i}' for i in range(9))}")
    assert len(parse_formula(f"Y ~ {'+'.join(f'A{i}' for i in range(300))}").terms) == 300


ends = st.tuples(st.integers(-50, 50), st.integers(1, 40)).map(lambda pair: (pair[0], sum(pair)))


@given(ends, ends, st.integers(1, 7), st.integers(-9, 9))
def test_overlap_is_the_mean_share_in_common(one, other, scale, shift):
    """As by fractions; symmetric, the same in other units, 1 for equal intervals alone."""
    common = min(one[1], other[1]) - max(one[0], other[0])
    exact = (Fraction(common, one[1] - one[0]) + Fraction(common, other[1] - other[0])) / 2
    found = interval_overlap(one, other)
    assert found == pytest.approx(float(exact), abs=1e-12)
    assert found == interval_overlap(other, one)
    moved = [tuple(scale * end + shift for end in interval) for interval in (one, other)]
    assert interval_overlap(*moved) == pytest.approx(found, abs=1e-12)
    assert (found == 1) == (one == other)
    assert (found < 0) == (one[1] < other[0] or other[1] < one[0])


def test_overlap_without_intervals_is_undefined():
    """A missing end, or no width, gives no figure; equal points overlap wholly."""
    assert math.isnan(interval_overlap((math.nan, math.nan), (math.nan, math.nan)))
    assert math.isnan(interval_overlap((0, 1), (0.5, 0.5)))
    assert interval_overlap((2, 2), (2, 2)) == 1


@pytest.mark.parametrize("formula", FORMULAS)
def test_identical_tables_overlap_wholly(formula):
    """Every coefficient, by least squares; differences are 0."""
    table = people()
    found = compare_regressions(table, {**table}, formula)
    assert found.mean_overlap == found.mean_overlap_from_zero == 1
    assert {c.standardised_difference for c in found.coefficients} == {0}
    assert found.undetermined == ()


def test_means_over_coefficients_are_told_with_and_without_negative_overlaps():
    """By hand from the single ones."""
    table = people()
    noised = {**table, "A": np.random.default_rng(2).permutation(table["A"])}
    found = compare_regressions(table, noised, "Y ~ A + B")
    overlaps = [c.overlap for c in found.coefficients]
    assert min(overlaps) < 0
    assert found.mean_overlap == pytest.approx(sum(overlaps) / 3)
    assert found.mean_overlap_from_zero == pytest.approx(sum(max(0, o) for o in overlaps) / 3)


def test_records_with_a_missing_cell_are_left_out_and_counted():
    """In attributes of the formula alone, in either table."""
    table = people(50)
    holed = {name: column.copy() for name, column in table.items()}
    holed["A"][3] = math.nan
    holed["G"][[3, 7]] = ""
    holed["B"][:] = math.nan
    kept = np.delete(np.arange(50), [3, 7])
    found = compare_regressions(table, holed, "Y ~ A + G")
    expected = compare_regressions(
        table, {name: column[kept] for name, column in table.items()}, "Y ~ A + G"
    )
    assert (found.n_original, found.n_protected, found.n_left_out) == (50, 48, 2)
    assert found.coefficients == expected.coefficients
    other = compare_regressions(holed, holed, "Y ~ A")
    assert (other.n_original, other.n_protected, other.n_left_out) == (49, 49, 2)


def test_collinear_terms_are_undetermined_and_the_others_are_not():
    """2 A beside A: no figure for either, the usual one for B."""
    table = people()
    table["D"] = 2 * table["A"]
    found = compare_regressions(table, table, "Y ~ A + D + B")
    assert found.undetermined == ("A", "D")
    assert found.coefficients[3].original.value == pytest.approx(
        compare_regressions(table, table, "Y ~ A + B").coefficients[2].original.value
    )
    assert found.to_dict()["mean_overlap"] is None
    assert found.to_dict()["coefficients"][1]["original"]["interval"] == [None, None]
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize("n", [6, 60])
def test_a_collinear_term_leaves_the_intervals_of_the_others(n):
    """Degrees of freedom are lost to what is fitted, not to what is written down."""
    table = people(n)
    table["D"] = 2 * table["A"]
    written = compare_regressions(table, table, "Y ~ A + D + B").coefficients[3].original
    fitted = compare_regressions(table, table, "Y ~ A + B").coefficients[2].original
    assert written.standard_error == pytest.approx(fitted.standard_error)
    assert written.interval == pytest.approx(fitted.interval)


def test_a_difference_is_told_in_the_standard_errors_of_the_original():
    """Upwards where the protected coefficient is the larger; the release's errors do not count."""
    before, after = people(), people(seed=1)
    after["Y"] = 7 * after["Y"]
    slope = compare_regressions(before, after, "Y ~ A").coefficients[1]
    one, other = slope.original, slope.protected
    assert other.value > one.value
    assert other.standard_error > 5 * one.standard_error
    assert slope.standardised_difference == pytest.approx(
        (other.value - one.value) / one.standard_error
    )


def test_a_category_of_one_table_alone_is_undetermined_in_the_other():
    """It has a coefficient where it occurs; the reference is one of the original's."""
    table = people()
    other = {**table, "G": np.where(table["G"] == "x", "a", table["G"])}
    found = compare_regressions(table, other, "Y ~ G")
    assert [c.term for c in found.coefficients] == ["Intercept", "G=m", "G=x", "G=a"]
    assert found.undetermined == ("G=x", "G=a")
    assert not math.isnan(found.coefficients[3].protected.value)


def test_log_odds_of_records_told_for_certain_are_undetermined():
    """No finite coefficients fit best where A tells Z; so there are none."""
    table = people()
    told = {**table, "Z": (table["A"] > 50).astype(float)}
    found = compare_regressions(table, told, "Z ~ A", logistic=True)
    assert found.undetermined == ("Intercept", "A")
    assert not math.isnan(found.coefficients[1].original.value)


@pytest.mark.parametrize(
    ("change", "formula", "logistic", "match"),
    [
        ({"G": np.arange(200.0)}, "Y ~ G", False, "text in both tables or numbers in both"),
        ({}, "G ~ A", False, "must be numbers"),
        ({}, "Y ~ A", True, "0 or 1"),
        ({"A": np.full(200, math.nan)}, "Y ~ A", False, "more complete records"),
        ({}, "Y ~ C(A)*C(B)", False, "at most 1000"),
        ({}, "Y ~ 0 + C(A)", False, "more complete records"),
        ({"A": np.full(200, math.inf)}, "Y ~ A", False, "finite"),
        ({"A": ["secret", 5.0] * 100}, "Y ~ A", False, "text in both"),
    ],
)
def test_tables_that_do_not_fit_the_formula_are_refused(change, formula, logistic, match):
    """With the place and the rule, and never a value."""
    table = people()
    with pytest.raises(DataError, match=match) as refused:
        compare_regressions(table, {**table, **change}, formula, logistic=logistic)
    assert "secret" not in str(refused.value)
