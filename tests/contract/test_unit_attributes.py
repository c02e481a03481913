"""Attributes that are one value a unit: drawn once, from its first record, and copied."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import microveil as mv
from microveil.commands.files import inspect_file, protect_file
from microveil.compare import compare
from microveil.protect.draw import draw
from microveil.protect.release import Manifest, Release

H = 4
SIZES = np.array([1, 2, 3, 4] * 30)
OWNERS = np.random.default_rng(5).permutation(np.repeat(np.arange(120), SIZES))
REGION = np.array(["North", "South", "East"])[OWNERS % 7 % 3]
PEOPLE = {
    "HOUSEHOLD": OWNERS,
    "REGION": REGION,
    "INCOME": OWNERS * 731 % 1000,
    "SEX": np.where(np.arange(300) % 3 > 0, "f", "m"),
}
LISTS = {"REGION": ["North", "South", "East"], "SEX": ["f", "m"]}
UNIT = {"unit": "HOUSEHOLD", "max_rows": H, "unit_attributes": ["REGION"]}
DRAWN = {"method": "pram", "epsilon": 4, "attributes": ["REGION", "SEX"], "categories": LISTS}
NOISY = {
    "method": "laplace",
    "epsilon": 2,
    "attributes": ["INCOME"],
    "bounds": {"INCOME": (0, 999)},
}
FRAMES = {
    "arrays": lambda columns: columns,
    "polars": pl.DataFrame,
    "pandas": lambda columns: pd.DataFrame(columns, index=range(900, 1200)),
    "arrow": lambda columns: pa.table({name: list(cells) for name, cells in columns.items()}),
}


def values_by_unit(data, name):
    """How many different values each unit has in a release."""
    columns = {n: data[n].to_pylist() if isinstance(data, pa.Table) else list(data[n]) for n in
               ("HOUSEHOLD", name)}  # fmt: skip
    return pl.DataFrame(columns).group_by("HOUSEHOLD").agg(pl.col(name).n_unique())[name]


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("shuffle", [False, True])
def test_all_rows_of_a_unit_have_one_value_and_others_of_their_own(kind, shuffle):
    """By randomised response and by noise, in every kind of frame, in rows in any order."""
    table = FRAMES[kind](PEOPLE)
    drawn = mv.protect(table, **DRAWN, **UNIT, shuffle=shuffle).data
    assert values_by_unit(drawn, "REGION").max() == 1
    assert values_by_unit(drawn, "SEX").max() == 2
    noisy = mv.protect(table, **NOISY, **UNIT | {"unit_attributes": "INCOME"}, shuffle=shuffle)
    assert values_by_unit(noisy.data, "INCOME").max() == 1
    assert len(set(np.array(noisy.data["INCOME"]).tolist())) > 50


def test_the_value_of_a_unit_is_that_of_its_first_record():
    """Whatever its others hold; how many units differ is the custodian's to read."""
    table = {**PEOPLE, "REGION": REGION.copy()}
    first = np.unique(OWNERS, return_index=True)[1][OWNERS]
    last = len(OWNERS) - 1 - np.unique(OWNERS[::-1], return_index=True)[1]
    moved = last[SIZES > 1][:10]
    table["REGION"][moved] = np.where(table["REGION"][moved] == "East", "North", "East")
    release = mv.protect(table, **DRAWN | {"epsilon": 40}, **UNIT)
    assert (release.data["REGION"] == REGION[first]).all()
    (note,) = release.manifest.custodian_notes
    assert note.startswith("The records of 10 units differ in REGION")
    assert "10 units" not in str(release.guarantee.to_dict()) + str(release.notes)
    assert mv.protect(PEOPLE, **DRAWN, **UNIT).manifest.custodian_notes == ()


def test_of_the_records_that_stay_the_first_stands_for_the_unit():
    """Of units beyond their number others are left out before its value is taken."""
    numbers = np.arange(len(OWNERS))
    table = {**PEOPLE, "INCOME": numbers}
    asked = {**NOISY, **UNIT, "bounds": {"INCOME": (0, 300)}, "unit_attributes": ["INCOME"],
             "max_rows": 2, "outside": "clamp"}  # fmt: skip
    planned = mv.plan(table, **asked)
    kept = np.array(planned.table.numbers("INCOME").values, dtype=int)
    taken = planned.attributes[0].sums
    for unit in np.unique(OWNERS[kept]):
        of_it = OWNERS[kept] == unit
        assert set(taken[of_it]) == {kept[of_it].min()}


def test_a_unit_whose_first_record_lacks_a_value_has_none():
    """A missing cell is copied like a value, with its reason; hidden ones are drawn."""
    first = np.unique(OWNERS, return_index=True)[1]
    incomes = PEOPLE["INCOME"].copy()
    incomes[first[:40]] = -9
    table = {**PEOPLE, "INCOME": incomes}
    asked = {**NOISY, **UNIT, "unit_attributes": ["INCOME"], "missing": "keep",
             "missing_codes": {"INCOME": [-9]}, "missing_reasons": True}  # fmt: skip
    release = mv.protect(table, **asked)
    assert ((release.data["INCOME"] == -9) == (OWNERS < 40)).all()
    words = [None if owner < 40 else name for owner, name in zip(OWNERS, REGION, strict=True)]
    lacking = pl.DataFrame({**PEOPLE, "REGION": words})
    hidden = mv.protect(lacking, **DRAWN, **UNIT, missing="protect")
    assert values_by_unit(hidden.data, "REGION").max() == 1
    empty = np.full(len(OWNERS), 5)
    empty[first] = -9
    with pytest.raises(mv.DataError, match="first records of all units"):
        mv.protect({**PEOPLE, "INCOME": empty}, **asked)


def test_one_draw_of_a_unit_gets_the_whole_share():
    """In shares, as many times in scales; the guarantee says so, and is read back."""
    found = mv.plan(PEOPLE, **DRAWN, **UNIT)
    region, sex = found.attributes
    assert (region.share, sex.share) == (Fraction(2), Fraction(2, H))
    guarantee = found.guarantee
    assert guarantee.epsilon == sum(terms.share for terms in guarantee.attributes) == 4
    assert [terms.of_unit for terms in guarantee.attributes] == [True, False]
    written = json.loads(json.dumps(guarantee.to_dict()))
    assert written["attributes"]["REGION"]["of_unit"] is True
    assert "of_unit" not in written["attributes"]["SEX"]
    assert mv.Guarantee.from_dict(written) == guarantee
    assert any(n.startswith("Each unit has one draw of REGION") for n in guarantee.notes)
    forged = mv.plan(PEOPLE, **DRAWN).guarantee.to_dict()
    forged["attributes"]["REGION"]["of_unit"] = True
    with pytest.raises(ValueError, match=r"^$"):
        mv.Guarantee.from_dict(forged)


@pytest.mark.parametrize(
    ("change", "place", "rule"),
    [
        ({"unit": None, "max_rows": None}, "unit_attributes", "no unit is named"),
        ({"unit_attributes": ["REGION", "REGION"]}, "column 'REGION'", "names it twice"),
        ({"unit_attributes": ["HOME"]}, "column 'HOME'", "no such column"),
        (
            {"unit_attributes": ["INCOME"]},
            "unit_attributes, column 'INCOME'",
            "it is no protected attribute",
        ),
        ({"unit_attributes": 3}, "unit_attributes", "named by text"),
        ({"method": "dp-synthetic"}, "unit_attributes", "no unit's"),
    ],
)
def test_what_cannot_be_one_value_a_unit_is_refused(change, place, rule):
    """With the place and the rule."""
    with pytest.raises(mv.MicroveilError) as refused:
        mv.plan(PEOPLE, **{**DRAWN, **UNIT, **change})
    assert refused.value.place == place
    assert rule in refused.value.rule


def test_parts_share_what_is_one_value_a_unit():
    """Said once of the table: each part draws its own; a name that no part protects is refused."""
    parts = [
        mv.part(["REGION", "SEX"], method="pram", epsilon=4),
        mv.part("INCOME", method="laplace", epsilon=2),
    ]
    asked = {"parts": parts, "categories": LISTS, "bounds": {"INCOME": (0, 999)}}
    release = mv.protect(PEOPLE, **asked, **UNIT | {"unit_attributes": ["REGION", "INCOME"]})
    assert values_by_unit(release.data, "REGION").max() == 1
    assert values_by_unit(release.data, "INCOME").max() == 1
    assert values_by_unit(release.data, "SEX").max() == 2
    assert release.guarantee.epsilon == 6
    assert [terms.of_unit for terms in release.guarantee.attributes] == [True, False, True]
    assert any("Each unit has one draw of REGION, INCOME" in n for n in release.guarantee.notes)
    again = mv.plan(PEOPLE, **asked, **UNIT | {"unit_attributes": ["REGION", "INCOME"]})
    assert again.parameters["unit_attributes"] == ["REGION", "INCOME"]
    with pytest.raises(mv.RequestError, match="unit_attributes, column 'HOME'"):
        mv.plan(PEOPLE, **asked, **UNIT | {"unit_attributes": ["HOME"]})


@pytest.mark.parametrize("absent", [None, np.nan, np.inf])
def test_a_comparison_draws_and_measures_what_protect_draws(absent):
    """Copies in each unit, held against the cells of the table: a release's very figures."""
    asked = {**NOISY, **UNIT, "unit_attributes": ["INCOME"], "missing": "keep"}
    asked |= {"resolution": {"INCOME": 1}}
    table = pl.DataFrame(PEOPLE).with_columns(pl.col("INCOME").cast(pl.Float64))
    if absent is not None:
        sometimes = pl.int_range(pl.len()) % 5 > 0
        table = table.with_columns(pl.when(sometimes).then("INCOME").otherwise(absent))
    given = {name: value for name, value in asked.items() if name not in ("method", "epsilon")}
    found = compare(table, methods=["laplace"], epsilon=[2], seed=4, runs=2, **given)
    for row in found.table.to_dicts():
        drawn = draw(mv.plan(table, **asked), seed=row["seed"]).data
        present = pl.when(pl.col("INCOME").is_finite()).then("INCOME")
        figures = mv.assess(table.with_columns(present), drawn, ["INCOME"]).to_dict()
        assert row["information_loss"] == figures["information_loss"]


# What is made of it afterwards.


def test_corrected_shares_are_as_sure_as_draws_of_units_are():
    """Their standard errors are the spread of what many releases give, and not of as many rows."""
    planned = mv.plan(PEOPLE, **DRAWN, **UNIT)
    shares, errors = [], []
    for seed in range(250):
        data = draw(planned, seed=seed).data
        found = Release(
            data=data, guarantee=planned.guarantee, notes=(), manifest=Manifest(contents={})
        ).corrected_shares("REGION")
        shares.append(found.shares)
        errors.append(found.standard_errors)
    due = np.array([(name == REGION).mean() for name in LISTS["REGION"]])
    spread, stated = np.std(shares, axis=0), np.sqrt(np.mean(np.square(errors), axis=0))
    assert (np.abs(np.mean(shares, axis=0) - due) < 4 * spread / np.sqrt(250)).all()
    # Of 250 draws a standard deviation is known to 4.5 %; rows by themselves would give 0.58 of it.
    assert np.abs(spread / stated - 1).max() < 0.2
    assert found.n_records == len(OWNERS)


def test_shares_are_not_corrected_where_nothing_says_which_rows_share_a_draw():
    """Without the column of units: how sure they are cannot be said."""
    release = mv.protect(PEOPLE, **DRAWN, **UNIT, shuffle="columns")
    with pytest.raises(mv.RequestError, match="drawn once a unit"):
        release.corrected_shares("REGION")
    assert release.corrected_shares("SEX").n_records == len(OWNERS)


@pytest.mark.parametrize("asked", [DRAWN, NOISY], ids=["pram", "laplace"])
def test_audits_find_one_draw_a_unit(asked):
    """The exact loss and what an attack finds are within the share, and beyond a row's part."""
    name = asked["attributes"][0]
    asked = {**asked, **UNIT, "unit_attributes": [name], "seed": 1}
    exact = mv.audit(PEOPLE, **asked).attributes[name]
    assert exact.share == 2
    assert 1.9 < exact.vector_scope <= 2
    found = mv.empirical_audit(PEOPLE, **asked, attribute=name, runs=20_000)
    assert not found.contradicted
    assert found.scopes["row"].claimed == pytest.approx(2)
    assert 1 < found.scopes["row"].lower_bound <= found.scopes["row"].exact <= 2


# From file to file.


def test_a_recipe_and_the_command_line_ask_for_it(tmp_path):
    """By an entry that inspect proposes in a comment, and by a flag; a release is audited alike."""
    path = tmp_path / "people.csv"
    pl.DataFrame({**PEOPLE, "HOUSEHOLD": np.sort(OWNERS)}).write_csv(path)
    _, proposed = inspect_file(path, None, None, scope="row")
    assert "# unit_attributes = [...]" in proposed.text
    asked = {**DRAWN, **UNIT, "linkage": False}
    protect_file(path, tmp_path / "release", **asked)
    data = pl.read_csv(tmp_path / "release" / "data.csv")
    assert values_by_unit(data, "REGION").max() == 1
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        'method = "pram"\nepsilon = 4\nunit = "HOUSEHOLD"\nmax_rows = 4\n'
        'unit_attributes = ["REGION"]\n[attributes.REGION]\ntype = "text"\n'
        'role = "quasi-identifier"\ncategories = ["North", "South", "East"]\n'
    )
    planned = mv.plan(pl.read_csv(path), recipe=recipe)
    assert planned.attributes[0].share == 4
    assert planned.guarantee.attributes[0].of_unit
