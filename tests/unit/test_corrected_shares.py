"""Shares corrected for randomisation: unbiased, with the covariance that they have."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import microveil as mv
from command import run
from microveil.noise.shares import correct_shares
from reference import corrected_shares as plain

WEIGHTS = np.array([[6, 3, 1], [2, 7, 1], [1, 1, 3]])
CHANCES = [[Fraction(weight, sum(row)) for weight in row] for row in WEIGHTS.tolist()]
REGIONS = ["north", "south", "east"]
ASKED = {"method": "pram", "epsilon": 2, "attributes": ["R"], "categories": {"R": REGIONS}}


def people(n=600):
    random = np.random.Generator(np.random.PCG64(3))
    return pl.DataFrame({"R": random.choice(REGIONS, n, p=[0.6, 0.3, 0.1])})


@pytest.mark.parametrize("counts", [[5, 3, 2], [1, 0, 0], [40, 1, 900]])
def test_shares_and_covariance_are_those_of_rationals(counts):
    """To the last digits; corrected shares sum to 1."""
    found = correct_shares(WEIGHTS, np.array(counts), tuple("abc"))
    shares = plain.corrected(CHANCES, counts)
    assert found.shares == pytest.approx([float(share) for share in shares], abs=1e-12)
    expected = plain.covariance(CHANCES, shares, sum(counts))
    assert found.covariance.tolist() == [
        pytest.approx([float(entry) for entry in row], abs=1e-12) for row in expected
    ]
    assert sum(shares) == 1


def test_over_all_draws_shares_are_unbiased_and_their_covariance_is_the_one_said():
    """Every release of a small table with its exact chance: mean, covariance, and its estimate."""
    table = [0, 0, 1, 2]
    own = [Fraction(table.count(k), len(table)) for k in range(3)]
    outcomes = []
    for drawn in itertools.product(range(3), repeat=len(table)):
        chance = math.prod(CHANCES[k][seen] for k, seen in zip(table, drawn, strict=True))
        counts = [drawn.count(k) for k in range(3)]
        outcomes.append((float(chance), correct_shares(WEIGHTS, np.array(counts), tuple("abc"))))
    mean = sum(chance * found.shares for chance, found in outcomes)
    assert mean == pytest.approx([float(share) for share in own])
    spread = sum(
        chance * np.outer(found.shares - mean, found.shares - mean) for chance, found in outcomes
    )
    said = sum(chance * found.covariance for chance, found in outcomes)
    assert said == pytest.approx(spread)
    exact = [[float(entry) for entry in row] for row in plain.covariance(CHANCES, own, 4)]
    assert spread == pytest.approx(np.array(exact))
    # Uncorrected shares are not unbiased: the check can fail.
    released = sum(chance * found.released for chance, found in outcomes)
    assert abs(released - mean).max() > 0.05


@pytest.mark.parametrize(
    "weights", [np.ones((2, 2), dtype=np.int64), np.array([[1, 2, 1], [1, 2, 1], [1, 1, 3]])]
)
def test_a_matrix_that_cannot_be_inverted_is_refused(weights):
    """Nothing of the shares is left."""
    with pytest.raises(mv.RequestError, match="cannot be inverted"):
        correct_shares(weights, np.array([3] * len(weights)), tuple(range(len(weights))))


MATRICES = {
    "by epsilon": {},
    "of ranks": {"matrix": {"R": "ordinal"}, "categories": {"R": mv.ordered(*REGIONS)}},
    "one's own": {"matrix": {"R": (WEIGHTS / WEIGHTS.sum(axis=1, keepdims=True)).tolist()}},
}


@pytest.mark.parametrize("kind", list(MATRICES))
def test_a_release_corrects_its_shares_by_the_matrix_that_drew_it(kind):
    """Also from its guarantee read again, and whatever the kind of the matrix."""
    table = people(20_000)
    asked = {**ASKED, **MATRICES[kind]}
    release = mv.protect(table, seed=1, **asked)
    found = release.corrected_shares("R")
    own = [(table["R"] == region).mean() for region in REGIONS]
    assert found.categories == tuple(REGIONS)
    assert (abs(found.shares - own) < 4 * found.standard_errors).all()
    assert abs(found.released - own).max() > 10 * abs(found.shares - own).max()
    (part,) = mv.plan(table, **asked).attributes
    counts = [(release.data["R"] == region).sum() for region in REGIONS]
    assert (
        found.shares.tolist()
        == correct_shares(part.weights, np.array(counts), tuple(REGIONS)).shares.tolist()
    )
    again = mv.Guarantee.from_dict(json.loads(json.dumps(release.guarantee.to_dict())))
    assert again == release.guarantee
    assessed = mv.assess(table, release.data, corrected=True, guarantee=again)
    assert assessed.corrected["R"].corrected.shares.tolist() == found.shares.tolist()
    compared = assessed.corrected["R"]
    assert compared.moved(found.shares) < compared.moved(found.released)


def test_whole_numbers_and_missing_cells():
    """Numbers are categories from the lower bound on; who has no value is no part of the shares."""
    random = np.random.Generator(np.random.PCG64(9))
    ages = np.where(random.random(9000) < 0.1, np.nan, random.integers(3, 6, 9000))
    release = mv.protect({"A": ages}, method="pram", epsilon=3, seed=2, attributes="A",
                         bounds={"A": (3, 5)}, resolution={"A": 1}, missing="keep")  # fmt: skip
    found = release.corrected_shares("A")
    assert found.categories == (3, 4, 5)
    assert found.n_records == np.isfinite(ages).sum()
    assert found.shares == pytest.approx([1 / 3] * 3, abs=0.05)


WIDE = [f"place {number}" for number in range(101)]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"method": "dp-synthetic", "n_records": 600}, "no transition matrix drew it"),
        ({"matrix": {"R": "invariant"}}, "made from the data"),
        ({"matrix": {"R": np.eye(101).tolist()}, "categories": {"R": [*REGIONS, *WIDE[3:]]}},
         "very large"),
        ({"categories": mv.categories_from_data(people())}, "read from the data"),
        ({"matrix": {"R": [[1 / 3] * 3] * 3}}, "cannot be inverted"),
    ],
)  # fmt: skip
def test_what_no_stated_matrix_drew_is_not_corrected(more, message):
    """With the reason, in the release and in an assessment."""
    release = mv.protect(people(), **{**ASKED, **more})
    with pytest.raises(mv.RequestError, match=message):
        release.corrected_shares("R")
    with pytest.raises(mv.RequestError):
        mv.assess(people(), release, corrected=True)


def test_a_guarantee_of_an_earlier_version_corrects_nothing():
    """It does not state the matrix, and a share alone could be that of one's own matrix."""
    release = mv.protect(people(), **ASKED)
    contents = release.guarantee.to_dict()
    del contents["attributes"]["R"]["transition"]
    earlier = mv.Guarantee.from_dict(contents)
    with pytest.raises(mv.RequestError, match="an earlier version"):
        mv.assess(people(), release.data, corrected=True, guarantee=earlier)


@pytest.mark.parametrize("rows", [[[1, 2]], [[1, -1], [0, 1]], [[0, 0], [0, 1]], [], "mine", 7,
                                  [[2**70, 1], [1, 1]]])  # fmt: skip
def test_a_matrix_in_a_guarantee_that_is_none_is_refused(rows, tmp_path):
    """A file that was tampered with is an error of ours."""
    contents = mv.plan(people(), **ASKED).guarantee.to_dict()
    contents["attributes"]["R"]["transition"] = rows
    (tmp_path / "guarantee.json").write_text(json.dumps(contents))
    with pytest.raises(mv.FileError, match="of schema 1 or 2"):
        mv.Guarantee.read(tmp_path / "guarantee.json")


def test_assess_by_command_line_shows_what_python_finds(tmp_path):
    """As JSON and as a table; without a guarantee beside the file it is refused."""
    table = people()
    table.write_csv(tmp_path / "people.csv")
    release = mv.protect(table, **ASKED)
    release.write(tmp_path / "out")
    files = [str(tmp_path / "people.csv"), str(tmp_path / "out" / "data.csv")]
    shown = run("assess", *files, "--corrected", "--json", folder=tmp_path)
    expected = mv.assess(table, release, corrected=True)
    assert json.loads(shown.stdout)["corrected_shares"] == json.loads(
        json.dumps(expected.to_dict()["corrected_shares"])
    )
    text = run("assess", *files, "--corrected", folder=tmp_path).stdout
    assert text == expected.to_text()
    assert "Shares of R, corrected for randomisation" in text
    (tmp_path / "out" / "guarantee.json").unlink()
    refused = run("assess", *files, "--corrected", folder=tmp_path)
    assert refused.returncode == 2
    assert "guarantee.json beside it" in " ".join(refused.stderr.split())


def test_shares_of_units_are_corrected_by_the_matrix_that_drew_their_records():
    """The guarantee's share is the unit's: of a record it is so many times less."""
    households, random = np.repeat(np.arange(15_000), 2), np.random.Generator(np.random.PCG64(2))
    table = {"HOUSEHOLD": households, "SMOKES": random.choice(["no", "yes"], 30_000, p=[0.8, 0.2])}
    release = mv.protect(
        table, method="pram", epsilon=4, attributes=["SMOKES"], unit="HOUSEHOLD", max_rows=2,
        categories={"SMOKES": ["no", "yes"]},
    )  # fmt: skip
    found = release.corrected_shares("SMOKES")
    assert abs(found.shares[1] - 0.2) < 5 * found.standard_errors[1] < 0.05


ASKED_MISSING = {
    **ASKED, "epsilon": 3, "missing": "protect", "missing_codes": {"R": ["refused", "unknown"]},
}  # fmt: skip


def lacking(n=30_000):
    random = np.random.Generator(np.random.PCG64(6))
    words = [*REGIONS, "refused", "unknown", None]
    return pl.DataFrame({"R": random.choice(words, n, p=[0.4, 0.2, 0.1, 0.15, 0.05, 0.1])})


@pytest.mark.parametrize("reasons", [False, True])
def test_being_missing_is_a_category_that_is_corrected_too(reasons, tmp_path):
    """One for all reasons or one for each, behind the values; also of files, by guarantee."""
    table = lacking()
    release = mv.protect(table, seed=4, missing_reasons=reasons, **ASKED_MISSING)
    found = release.corrected_shares("R")
    named = (*REGIONS, None, "refused", "unknown") if reasons else (*REGIONS, None)
    assert found.categories == named
    own = [0.4, 0.2, 0.1, 0.1, 0.15, 0.05] if reasons else [0.4, 0.2, 0.1, 0.3]
    assert (abs(found.shares - own) < 5 * found.standard_errors).all()
    assert found.n_records == len(table)
    assert abs(found.released - own).max() > 5 * found.standard_errors.max()
    counts = [
        (release.data["R"].is_null() if name is None else release.data["R"] == name).sum()
        for name in named
    ]
    (part,) = mv.plan(table, missing_reasons=reasons, **ASKED_MISSING).attributes
    chances = [[Fraction(w, sum(row)) for w in row] for row in part.weights.tolist()]
    exact = plain.corrected(chances, counts)
    assert found.shares == pytest.approx([float(share) for share in exact], abs=1e-12)
    assessed = mv.assess(table, release, corrected=True)
    compared = assessed.corrected["R"]
    before = [
        table["R"].is_null().sum() if name is None else (table["R"] == name).sum() for name in named
    ]
    if not reasons:
        before[-1] += table["R"].is_in(["refused", "unknown"]).sum()
    assert compared.original == pytest.approx(np.array(before) / len(table))
    assert "\n  missing  " in assessed.to_text()
    table.with_row_index("RECORD").write_csv(tmp_path / "people.csv")
    release.write(tmp_path / "out")
    shown = run(
        "assess", str(tmp_path / "people.csv"), str(tmp_path / "out" / "data.csv"), "--corrected",
        "--json", "--missing-codes", "R=refused,unknown", folder=tmp_path,
    )  # fmt: skip
    assert json.loads(shown.stdout)["corrected_shares"] == json.loads(
        json.dumps(assessed.to_dict()["corrected_shares"])
    )


def test_codes_of_numbers_and_dates_are_corrected_by_their_reasons():
    """A code counts by what it is in its column: -9 of a number, a day of a date."""
    random = np.random.Generator(np.random.PCG64(8))
    days = np.array(["2020-01-01", "2020-01-02", "1900-01-01"], dtype="datetime64[D]")
    table = pl.DataFrame(
        {"A": random.choice([1, 2, -9], 9000, p=[0.5, 0.3, 0.2]), "D": random.choice(days, 9000)}
    )
    release = mv.protect(
        table, method="pram", epsilon=8, attributes=["A", "D"], missing="protect",
        missing_reasons=True, missing_codes={"A": [-9], "D": ["1900-01-01"]},
        bounds={"A": (1, 2), "D": ("2020-01-01", "2020-01-02")},
    )  # fmt: skip
    found = release.corrected_shares("A")
    assert found.categories == (1, 2, None, -9)
    assert found.shares == pytest.approx([0.5, 0.3, 0, 0.2], abs=0.05)
    of_days = release.corrected_shares("D")
    assert of_days.categories[2:] == (None, "1900-01-01")
    assert of_days.shares == pytest.approx([1 / 3, 1 / 3, 0, 1 / 3], abs=0.05)
    assessed = mv.assess(table, release, corrected=True)
    shares = assessed.corrected["A"].original
    assert shares == pytest.approx([(table["A"] == code).mean() for code in (1, 2, 0, -9)])
