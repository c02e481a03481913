"""Propensity: the pMSE against statsmodels, its null distribution by simulation."""

import json
import math

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.preprocessing import PolynomialFeatures

from microveil.errors import DataError
from microveil.measures.models import basis_of, fit_logistic
from microveil.measures.propensity import propensity
from microveil.partition import ranking


def people(n, seed=0):
    """Three attributes, correlated, one skewed."""
    generator = np.random.default_rng(seed)
    a = generator.normal(50, 10, n)
    return {"A": a, "B": np.exp(a / 20 + generator.normal(size=n)), "C": generator.random(n)}


def noised(table, spread, seed=1):
    """Normal noise on every attribute, in its standard deviations."""
    generator = np.random.default_rng(seed)
    return {
        name: column + spread * column.std() * generator.normal(size=len(column))
        for name, column in table.items()
    }


@pytest.mark.parametrize("order", [1, 2])
def test_identical_tables_cannot_be_told_apart(order):
    """The pMSE is 0, in any order of the records."""
    table = people(300)
    backwards = {name: column[::-1] for name, column in table.items()}
    found = propensity(table, backwards, order=order)
    assert found.pmse == pytest.approx(0, abs=1e-20)
    assert found.ratio == pytest.approx(0, abs=1e-15)
    assert found.converged


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("n_protected", [400, 150])
def test_pmse_agrees_with_statsmodels(order, n_protected):
    """Main effects, and with squares and products; tables of one size and of two."""
    original, protected = people(400), noised(people(n_protected, seed=2), 0.4)
    pooled = np.vstack([np.column_stack(list(t.values())) for t in (original, protected)])
    pooled = (pooled - pooled.mean(axis=0)) / pooled.std(axis=0)
    member = np.repeat([0.0, 1.0], [400, n_protected])
    design = PolynomialFeatures(order).fit_transform(pooled)
    fitted = sm.Logit(member, design).fit(disp=False, tol=1e-12, maxiter=100).predict()
    found = propensity(original, protected, order=order)
    assert found.pmse == pytest.approx(np.mean((fitted - member.mean()) ** 2), rel=1e-8)
    assert found.n_parameters == design.shape[1]
    assert (found.n_original, found.n_protected) == (400, n_protected)


def test_the_null_is_that_of_the_paper():
    """By hand: 4 parameters, 100 original and 300 protected records."""
    found = propensity(people(100), people(300, seed=1), order=1)
    assert found.expected == pytest.approx(3 * 0.25**2 * 0.75 / 400)
    assert found.standard_deviation == pytest.approx(math.sqrt(6) * 0.25**2 * 0.75 / 400)
    assert found.ratio == pytest.approx(found.pmse / found.expected)
    assert found.standardised == pytest.approx(
        (found.pmse - found.expected) / found.standard_deviation
    )


def resynthesised(generator, n_original, n_protected, *, from_fit=True):
    """A normal sample, and another from the law fitted to it, or from the true one."""
    covariance = np.array([[1.0, 0.5, 0.2], [0.5, 2.0, 0.0], [0.2, 0.0, 1.0]])
    original = generator.multivariate_normal(np.zeros(3), covariance, n_original)
    mean, spread = np.zeros(3), covariance
    if from_fit:
        mean, spread = original.mean(axis=0), np.cov(original.T)
    drawn = generator.multivariate_normal(mean, spread, n_protected)
    return [dict(zip("ABC", table.T, strict=True)) for table in (original, drawn)]


@pytest.mark.parametrize(
    ("n_original", "n_protected", "runs"),
    [
        (150, 300, 150),
        *(
            pytest.param(*both, 400, marks=pytest.mark.slow)
            for both in ((150, 300), (400, 400), (300, 600))
        ),
    ],
)
def test_the_null_is_what_resynthesis_by_a_correct_model_gives(n_original, n_protected, runs):
    """Mean within 8 % and standard deviation within 12 % over 400 simulated syntheses.

    Of fewer both are taken wider, by the root of how many times fewer they are.
    An independent sample of the population is not that case: it gives 1/(1 - c) times it,
    which the same test tells apart.
    """
    generator = np.random.default_rng(0)
    share, wider = n_protected / (n_original + n_protected), (400 / runs) ** 0.5
    for from_fit, factor in ((True, 1), (False, 1 / (1 - share))):
        pairs = (
            resynthesised(generator, n_original, n_protected, from_fit=from_fit)
            for _ in range(runs)
        )
        found = [propensity(*pair, order=1) for pair in pairs]
        values = np.array([one.pmse for one in found])
        assert values.mean() == pytest.approx(factor * found[0].expected, rel=0.08 * wider)
        assert values.std() == pytest.approx(factor * found[0].standard_deviation, rel=0.12 * wider)


def test_means_alone_do_not_show_microaggregation_and_variances_do():
    """Clusters of 100 keep every mean, so order 1 sees nothing; order 2 does."""
    table = {"A": people(1000)["B"]}
    labels = ranking(table["A"], 250).labels
    means = np.bincount(labels, table["A"]) / np.bincount(labels)
    aggregated = {"A": means[labels]}
    assert propensity(table, aggregated, order=1).ratio < 1e-9
    assert propensity(table, aggregated, order=2).ratio > 0.5


def test_records_told_for_certain_are_told():
    """The pMSE is c(1 - c) where a value tells every record, and no fit converges."""
    table = people(100)
    found = propensity(table, {**table, "A": table["A"] + 1000}, order=1)
    assert found.pmse == pytest.approx(0.25, abs=1e-6)
    assert not found.converged
    partly = propensity({"G": ["a", "b"] * 50}, {"G": ["a", "c"] * 50})
    assert partly.pmse == pytest.approx((100 * 0 + 100 * 0.25) / 200, abs=1e-6)
    assert not partly.converged


def test_collinear_and_constant_attributes_are_no_parameters():
    """A double of an attribute and a constant add nothing, at either order."""
    original, protected = people(200), noised(people(200), 0.5)

    def wider(table):
        return {**table, "D": 3 - 2 * table["A"], "E": np.full(200, 0.1)}

    for order in (1, 2):
        plain = propensity(original, protected, order=order)
        more = propensity(wider(original), wider(protected), order=order)
        assert more.n_parameters == plain.n_parameters == {1: 4, 2: 10}[order]
        assert more.pmse == pytest.approx(plain.pmse, rel=1e-6)


def test_nothing_that_varies_gives_no_ratio():
    """A constant attribute: pMSE 0, and None for what is undefined."""
    figures = propensity({"A": [0.1] * 9}, {"A": [0.1] * 9}).to_dict()
    assert figures["pmse"] == pytest.approx(0, abs=1e-20)
    assert figures["ratio"] is figures["standardised"] is None
    assert figures["descriptive"]
    json.dumps(figures, allow_nan=False)


def test_categories_count_by_their_shares():
    """By hand: probabilities of a category are its shares; 3 categories are 2 parameters more."""
    original = {"G": ["a"] * 50 + ["b"] * 30 + ["c"] * 20}
    protected = {"G": ["a"] * 30 + ["b"] * 50 + ["c"] * 20}
    expected = (80 * (30 / 80 - 0.5) ** 2 + 80 * (50 / 80 - 0.5) ** 2) / 200
    for order in (1, 2):
        found = propensity(original, protected, order=order)
        assert found.pmse == pytest.approx(expected)
        assert found.n_parameters == 3


def test_products_show_what_single_categories_do_not():
    """Two attributes with their shares kept and their association lost."""
    original = {"G": ["a", "b"] * 50, "H": ["x", "y"] * 50}
    protected = {"G": ["a", "b"] * 50, "H": ["x", "x", "y", "y"] * 25}
    assert propensity(original, protected, order=1).pmse == pytest.approx(0, abs=1e-20)
    assert propensity(original, protected, order=2).pmse > 0.02


def test_records_with_a_missing_cell_are_left_out_and_counted():
    """On either side, numbers and text."""
    original, protected = people(60), noised(people(60), 0.5)
    text = np.array(["f", "m", "m"] * 20)
    holed = {name: column.copy() for name, column in protected.items()}
    holed["A"][5] = math.nan
    text_holed = text.copy()
    text_holed[[5, 9]] = ""
    kept = np.delete(np.arange(60), [5, 9])
    found = propensity({**original, "G": text}, {**holed, "G": text_holed})
    expected = propensity(
        {**original, "G": text},
        {**{name: column[kept] for name, column in protected.items()}, "G": text[kept]},
    )
    assert (found.n_original, found.n_protected, found.n_left_out) == (60, 58, 2)
    assert found.pmse == pytest.approx(expected.pmse)


def test_the_fit_of_rare_members_and_far_values_converges():
    """One record in a thousand, one value a million deviations away."""
    generator = np.random.default_rng(0)
    x = generator.normal(size=5000)
    member = (generator.random(5000) < 0.001 * np.exp(x)).astype(float)
    design = np.column_stack([np.ones(5000), x])
    fit = fit_logistic(basis_of(design), member)
    assert fit.converged
    assert fit.probabilities == pytest.approx(
        sm.Logit(member, design).fit(disp=False, tol=1e-12, maxiter=100).predict(), rel=1e-6
    )
    design[0, 1] = 1e6
    assert fit_logistic(basis_of(design), member).converged


def test_the_fit_converges_where_full_steps_overshoot():
    """A few far values throw Newton's steps farther each time; halved, they end at the best fit."""
    records = np.array(
        [
            (-2, 0.11), (240, -14), (-1, -0.0017), (-0.049, -0.59), (8.3, 0.98), (4.6, -3.4),
            (-0.59, -0.024), (-76, -6.3), (0.0005, -270), (0.24, 1.9), (0.57, 0.21),
        ]
    )  # fmt: skip
    outcome = np.array([1.0, 1, 1, 1, 0, 0, 1, 0, 0, 1, 0])
    basis = basis_of(np.column_stack([np.ones(11), records]))
    fit = fit_logistic(basis, outcome)
    assert fit.converged
    assert basis.directions.T @ (outcome - fit.probabilities) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("value", [0.1, 1e-300, 1e140, -7.3e15])
def test_constants_are_no_parameters_whatever_their_rounding(value):
    """The computed mean of equal values may miss them by a rounding."""
    for n in (5, 7, 10, 49):
        table = {"A": np.arange(float(n)), "E": np.full(n, value)}
        assert propensity(table, table).n_parameters == 3


@pytest.mark.parametrize(
    ("original", "protected", "match"),
    [
        ({"A": [1.0, 2]}, {"A": ["1", "2"]}, "text in both tables"),
        ({"A": [1.0, 2]}, {"A": [math.nan] * 2}, "without a missing cell"),
        ({"A": [1.0]}, {"A": [2.0]}, "fewer than records"),
    ],
)
def test_what_cannot_be_compared_is_refused(original, protected, match):
    """Tables without common ground, more terms than records."""
    with pytest.raises(DataError, match=match):
        propensity(original, protected)


def test_a_column_of_names_is_refused():
    """More than a thousand terms are a mistake, told before memory is filled."""
    names = {"NAME": [str(i) for i in range(5000)]}
    with pytest.raises(DataError, match="at most 1000"):
        propensity(names, names)
