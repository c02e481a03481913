"""Margins of a new table: what of a deviation is noise."""

import json

import numpy as np
import pytest

import microveil as mv
from microveil.noise.noise import RandomSource
from microveil.synthesis.cuts import cut_covariance, cut_errors
from microveil.synthesis.measurements import Interval, margins_of
from microveil.synthesis.measuring import Counter

N = 2000
RANDOM = np.random.Generator(np.random.PCG64(5))
INCOMES = np.rint(np.exp(9 + RANDOM.normal(size=N))).astype(np.int64).clip(0, 10**6)
PEOPLE = {
    "INCOME": INCOMES,
    "CARS": RANDOM.integers(0, 5, N),
    "REGION": RANDOM.choice(["North", "South", "West"], N, p=[0.6, 0.3, 0.1]),
}
ASKED = {
    "method": "dp-synthetic",
    "attributes": list(PEOPLE),
    "bounds": {"INCOME": (0, 10**6), "CARS": (0, 9)},
    "categories": {"REGION": ["North", "South", "West"]},
}


def measured_anew(planned, run, confidence):
    measurements = planned.synthetic.measured(
        Counter(planned.prepared.columns), RandomSource.seeded(run)
    )
    return margins_of(measurements, confidence)


@pytest.mark.parametrize("n_releases", [25, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize("budget", [{"epsilon": 3}, {"epsilon": 1, "delta": 1e-9}])
def test_intervals_hold_what_is_true_as_often_as_they_say(budget, n_releases):
    """Of shares, quantiles and means at 90 %: over all releases in 82 to 99 % of cases."""
    held: dict[str, list[bool]] = {"share": [], "quantile": [], "mean": []}

    def look(kind: str, interval: Interval, truth: float) -> None:
        held[kind].append(interval.lower <= truth <= interval.upper)

    planned = mv.plan(PEOPLE, structure="independent", **budget, **ASKED)
    for run in range(n_releases):
        margins = measured_anew(planned, run, 0.9)
        found = margins.attributes
        for interval in found["REGION"].shares:
            look("share", interval, float(np.mean(PEOPLE["REGION"] == interval.label)))
        for interval in found["INCOME"].quantiles:
            look("quantile", interval, float(np.quantile(INCOMES, float(interval.label))))
        look("mean", found["CARS"].mean, float(PEOPLE["CARS"].mean()))
    for kind, hits in held.items():
        assert np.mean(hits) >= 0.82, kind
        # Not by being wide.
        assert np.mean(hits) <= 0.99, kind


def test_narrower_intervals_would_not_hold():
    """The test above can fail: at 30 % far fewer shares lie inside."""
    inside = []
    planned = mv.plan(PEOPLE, structure="independent", epsilon=3, **ASKED)
    for run in range(20):
        margins = measured_anew(planned, run, 0.3)
        inside += [
            interval.lower <= np.mean(PEOPLE["REGION"] == interval.label) <= interval.upper
            for interval in margins.attributes["REGION"].shares
        ]
    assert np.mean(inside) < 0.7


def test_margins_are_of_measurements_alone_and_repeat():
    """The same measurements have the same margins, and every interval its estimate inside."""
    release = mv.protect(PEOPLE, epsilon=5, missing="protect", **ASKED)
    one = release.margins()
    assert one.to_dict() == margins_of(release.measurements).to_dict()
    assert json.loads(json.dumps(one.to_dict())) == one.to_dict()
    for margins in one.attributes.values():
        mean = () if margins.mean is None else (margins.mean,)
        for interval in (*margins.shares, *margins.quantiles, *mean):
            assert interval.lower <= interval.estimate <= interval.upper
    # Laplace noise has one of 100 say that an income has a count of its own, and one of 140 that
    # somebody lacks a value.
    for name, measured in zip(PEOPLE, release.measurements.attributes, strict=True):
        listed = [entry.label for entry in one.attributes[name].shares]
        assert ("missing" in listed) == measured.has_missing
        assert len(listed) == len({*listed}) == len(measured.counts.steps)
    assert set(one.pairs) == {
        tuple(list(PEOPLE)[place] for place in scope) for scope in release.measurements.tables
    }


def test_margins_and_measurements_are_written_together(tmp_path):
    """Both stand beside the table, with the conditions of the guarantee, and hold no true count."""
    release = mv.protect(PEOPLE, epsilon=5, outside="error", **ASKED)
    folder, _ = release.write(tmp_path / "release", with_measurements=True)
    written = json.loads((folder / "measurements.json").read_text())
    assert written["epsilon"] == 5
    assert [entry["id"] for entry in written["conditions"]] == [
        "outside-checked",
        "repeated-people",
    ]
    assert set(written["attributes"]) == set(PEOPLE)
    margins = json.loads((folder / "margins.json").read_text())
    assert margins == release.margins().to_dict()
    steps = np.array(written["attributes"]["REGION"]["steps"])
    assert np.any(steps % written["attributes"]["REGION"]["steps_per_record"])  # noisy to the step


def test_margins_are_refused_where_nothing_was_measured(tmp_path):
    """Other methods draw from the table itself; a seed's measurements are nobody's to publish."""
    rows = mv.protect(PEOPLE, method="laplace", epsilon=1, attributes=["CARS"],
                      bounds={"CARS": (0, 9)})  # fmt: skip
    with pytest.raises(mv.RequestError, match="not from measurements"):
        rows.margins()
    with pytest.raises(mv.RequestError, match="not from measurements"):
        rows.write(tmp_path / "rows", with_measurements=True)
    seeded = mv.protect(PEOPLE, epsilon=5, seed=1, **ASKED)
    with pytest.raises(mv.RequestError, match="takes the noise off"):
        seeded.write(tmp_path / "seeded", with_measurements=True)
    with pytest.raises(mv.RequestError, match="confidence"):
        seeded.margins(95)
    assert not list(tmp_path.iterdir())


def test_trial_errors_of_cuts_have_the_covariance_that_corrects_them():
    """Drawn and worked out by the same law: each entry within what so many trials can tell."""
    rates = (0.05, 0.1, 0.2)
    found = np.cov(cut_errors(rates), rowvar=False)
    due = cut_covariance(rates)
    scale = np.sqrt(np.outer(due.diagonal(), due.diagonal()))
    assert (np.abs(found - due) <= 0.1 * scale).all()
    # By hand: the first cut alone, the second with half of it.
    assert due[4, 4] == pytest.approx(2 / 0.05**2)
    assert due[2, 2] == pytest.approx(2 / 0.1**2 + 0.25 * 2 / 0.05**2)
    assert due[2, 4] == pytest.approx(0.5 * 2 / 0.05**2)
