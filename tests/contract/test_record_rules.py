"""Rules that every released record keeps: whatever they are, and in whatever way it is drawn."""

import json

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microveil as mv
from command import run
from microveil.errors import RequestError

N = 1200
RULES = (
    "AGE < 16 implies WAGE == 0",
    "TAX <= WAGE",
    "AGE == YEAR - BIRTH",
    "AGE < 18 implies SCHOOL == none",
    "OUT >= IN + 2",
    "REGION != HOME implies WAGE > 10.5",
    "AGE >= 3",
)
REQUEST = {
    "method": "dp-synthetic",
    "epsilon": 6,
    "delta": 1e-6,
    "bounds": {
        "AGE": (0, 110),
        "WAGE": (0, 5000),
        "TAX": (0, 2000),
        "YEAR": (2000, 2020),
        "BIRTH": (1890, 2020),
        "IN": ("2000-01-01", "2010-12-31"),
        "OUT": ("2000-01-01", "2011-12-31"),
    },
    "resolution": {"TAX": 0.5},
    "categories": {
        "SCHOOL": ["none", "school", "degree"],
        "REGION": ["north", "south"],
        "HOME": ["north", "south", "abroad"],
    },
}


def people(seed=1):
    """Invent people; some break rules."""
    random = np.random.default_rng(seed)
    age = random.integers(0, 100, N)
    wage = np.where(age < 16, 0, random.integers(0, 5000, N))
    year = random.integers(2000, 2020, N)
    start = np.datetime64("2000-01-01") + random.integers(0, 3000, N)
    return {
        "AGE": age,
        "WAGE": wage,
        "TAX": np.minimum(wage, random.integers(0, 2000, N)) * 0.5,
        "YEAR": year,
        "BIRTH": year - age,
        "IN": start,
        "OUT": start + random.integers(0, 300, N),
        "SCHOOL": np.where(age < 18, "none", random.choice(["none", "school", "degree"], N)),
        "REGION": random.choice(["north", "south"], N),
        "HOME": random.choice(["north", "south", "abroad"], N),
    }


def request(names=None, **more):
    """Ask for some columns."""
    names = names or [*people()]
    asked = {**REQUEST, "attributes": names, "seed": 1, **more}
    for name in ("bounds", "resolution", "categories"):
        asked[name] = {own: value for own, value in asked[name].items() if own in names}
    return asked


def broken(table, release, rules, **more):
    """Count the released records that break rules."""
    found = mv.assess(table, release, paired=False, linkage=False, rules=rules, **more)
    return sum(one.protected.count for one in found.rules)


@given(
    st.lists(st.sampled_from(RULES), min_size=1, unique=True),
    st.sampled_from(["graph", "tree", "independent"]),
    st.integers(0, 2**31),
)
@settings(max_examples=12, deadline=None)
def test_no_released_record_breaks_a_rule(rules, structure, seed):
    """Of any choice of rules, however tables are chosen."""
    table = people()
    release = mv.protect(table, **request(rules=rules, structure=structure, seed=seed))
    assert broken(table, release, rules) == 0
    assert [*release.data] == [*table]
    (note,) = (one for one in release.notes if one.startswith("Every record keeps the rules"))
    assert "TAX <= WAGE" in note or "TAX <= WAGE" not in rules


def test_missing_values_break_no_rule_and_a_sum_lacks_what_its_parts_lack():
    """A column that is computed lacks a value where one of its parts does, and nowhere else."""
    table = people()
    gaps = polars.DataFrame(table).with_columns(
        polars.when(polars.int_range(N) % 5 != 0).then(polars.col(name)).alias(name)
        for name in ("WAGE", "YEAR")
    )
    never = [name for name in table if name not in ("WAGE", "YEAR", "AGE")]
    asked = request(rules=RULES, missing="protect", never_missing=never)
    release = mv.protect(gaps, **asked)
    assert broken(gaps, release, RULES) == 0
    assert release.data["WAGE"].null_count() > 0
    assert (release.data["AGE"].is_null() == release.data["YEAR"].is_null()).all()
    with pytest.raises(RequestError, match="what it is computed of may lack one"):
        mv.protect(gaps, **request(rules=RULES, missing="protect", never_missing=["AGE"]))


def test_what_is_wrong_with_rules_is_refused_at_once_with_all_else():
    """Unknown columns, constants outside, categories that are not listed, what nobody can hold."""
    wrong = [
        "NOBODY > 3",
        "AGE > 200",
        "SCHOOL == university",
        "AGE <= YEAR +",
        "CITY == Rome",
    ]
    table = people() | {"CITY": np.full(N, "Rome")}
    with pytest.raises(RequestError) as caught:
        mv.protect(table, **request([*people()], rules=wrong, n_records=0))
    places = [problem.place for problem in caught.value.problems]
    assert {f"rule '{text.replace('==', '=')}'" for text in wrong} | {"n_records"} == {*places}
    assert "'CITY' is not released" in str(caught.value)


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        (["TAX > WAGE + 5000"], "no record of the declared domains can hold it"),
        (["AGE >= 40", "AGE < 30"], "it contradicts the rule 'AGE < 30'"),
        (["AGE == YEAR - BIRTH", "BIRTH > YEAR"], "it contradicts the rule"),
        (
            ["AGE < 16 implies WAGE == 0", "TAX <= WAGE", "AGE < 10", "TAX > 3"],
            "they contradict each other",
        ),
        (["AGE == YEAR - BIRTH", "AGE == WAGE - TAX"], "'AGE' is computed by two rules"),
        (["AGE == WAGE + 1", "WAGE == AGE - 1"], "would be computed of itself"),
        (["WAGE == TAX + AGE"], "the resolution of 'WAGE' is coarser"),
    ],
)
def test_rules_that_nobody_can_hold_are_refused(rules, why):
    """By themselves, by twos and all together; and what cannot be computed."""
    with pytest.raises(RequestError, match=why):
        mv.plan(people(), **request(rules=rules))


def test_a_target_cannot_be_computed():
    """It would be left out of all tables."""
    with pytest.raises(RequestError, match="is the target, and would be computed"):
        mv.plan(people(), **request(rules=["AGE == YEAR - BIRTH"]) | {"target": "AGE"})


def test_another_method_refuses_rules():
    """Their records are people's."""
    with pytest.raises(RequestError, match="choose dp-synthetic") as caught:
        mv.protect(
            {"AGE": people()["AGE"]}, method="dp-um", k=5, epsilon=1, attributes=["AGE"],
            bounds={"AGE": (0, 110)}, rules=["AGE > 3"],
        )  # fmt: skip
    assert caught.value.place == "rules"


def test_rules_are_said_and_cost_no_budget():
    """The same shares with and without; the guarantee names the rules, and that they are public."""
    names = ["AGE", "WAGE"]
    without = mv.plan(people(), **request(names))
    beside = mv.plan(people(), **request(names, rules=["AGE < 16 implies WAGE == 0"]))
    assert [own.rates for own in without.attributes] == [own.rates for own in beside.attributes]
    assert without.synthetic.tables == beside.synthetic.tables
    said = " ".join(beside.claim.remarks)
    assert "AGE < 16 implies WAGE == 0" in said
    assert "were not read from the data" in said
    assert beside.guarantee.scopes == without.guarantee.scopes
    computed = mv.plan(people(), **request(rules=["AGE == YEAR - BIRTH"]))
    assert computed.synthetic.attributes[0].attribute.name == "WAGE"
    assert [own.attribute.name for own in computed.attributes][-1] == "AGE"
    (terms,) = (own for own in computed.guarantee.attributes if own.name == "AGE")
    assert terms.share is None


def test_measurements_hold_the_rules_and_are_drawn_from_again(tmp_path):
    """By flags and from a recipe; margins of subgroups are of trials that keep the rules too."""
    table = {name: people()[name] for name in ("AGE", "WAGE", "YEAR", "BIRTH")}
    polars.DataFrame(table).write_csv(tmp_path / "people.csv")
    flags = ["--rule", "AGE == YEAR - BIRTH", "--rule", "AGE < 16 implies WAGE == 0"]
    asked = ["--method", "dp-synthetic", "--epsilon", "6", "--delta", "1e-6", "--attributes",
             "AGE,WAGE,YEAR,BIRTH", "--bounds", "AGE=0:110", "--bounds", "WAGE=0:5000", "--bounds",
             "YEAR=2000:2020", "--bounds", "BIRTH=1890:2020", "--with-measurements"]  # fmt: skip
    done = run("protect", "people.csv", *asked, *flags, "-o", "out", folder=tmp_path)
    assert "Every record keeps the rules" in done.stdout + done.stderr
    contents = json.loads((tmp_path / "out" / "measurements.json").read_text())
    assert contents["rules"] == ["AGE = YEAR - BIRTH", "AGE < 16 implies WAGE = 0"]
    assert contents["computed"] == ["AGE"]
    assert [*contents["attributes"]] == ["WAGE", "YEAR", "BIRTH"]
    counted = run("assess", "people.csv", "out", "--by", "YEAR", *flags, "--json", folder=tmp_path)
    found = json.loads(counted.stdout)
    assert [one["protected"]["violations"] for one in found["rules"]] == [0, 0]
    assert found["subgroups"]["margins"] is not None


def test_rules_stand_in_a_recipe():
    """And arguments go before them."""
    names = ("AGE", "WAGE")
    table = {name: people()[name] for name in names}
    entries = {
        name: {"role": "confidential", "type": "whole number", "bounds": [0, 5000]}
        for name in names
    }
    recipe = {
        "microveil": "0.2", "method": "dp-synthetic", "epsilon": 9, "seed": 1,
        "rules": ["AGE < 50 implies WAGE == 0"], "attributes": entries,
    }  # fmt: skip
    release = mv.protect(table, recipe=recipe)
    assert broken(table, release, recipe["rules"]) == 0
    other = mv.protect(table, recipe=recipe, rules=["WAGE >= 10"])
    assert other.data["WAGE"].min() >= 10
    assert broken(table, other, recipe["rules"]) > 0


def test_dates_of_a_text_file_are_compared_as_dates_and_numbers_as_numbers(tmp_path):
    """Nothing has to be declared for that; a column that mixes them is refused."""
    random = np.random.default_rng(4)
    start = np.datetime64("2020-01-01") + random.integers(0, 900, 2000)
    low = random.integers(0, 500, 2000)
    table = polars.DataFrame(
        {"START": start, "END": start + random.integers(0, 30, 2000), "LOW": low, "HIGH": low + 9}
    )
    table.write_csv(tmp_path / "stays.csv")
    rules = ["--rule", "END >= START", "--rule", "HIGH >= LOW + 5"]
    asked = ("protect", "stays.csv", "--epsilon", "3", "--delta", "1e-9", *rules)
    assert run(*asked, "-o", "out", folder=tmp_path).returncode == 0
    found = polars.read_csv(tmp_path / "out" / "data.csv", try_parse_dates=True)
    assert found["END"].dtype == polars.Date
    assert (found["END"] >= found["START"]).all()
    assert (found["HIGH"] >= found["LOW"] + 5).all()
    told = run("inspect", *asked[1:], folder=tmp_path)
    assert "would be refused" not in told.stdout + told.stderr
    mixed = (tmp_path / "stays.csv").read_text().replace("2020-01-02", "17")
    (tmp_path / "stays.csv").write_text(mixed)
    done = run(*asked, "-o", "mixed", folder=tmp_path)
    assert done.returncode != 0
    assert not (tmp_path / "mixed").exists()


def test_a_code_with_zeros_in_front_is_no_number(tmp_path):
    """A rule that named one made numbers of the whole column, without its zeros."""
    rows = "".join(f"{number % 90},0106{number % 8}\n" for number in range(2000))
    (tmp_path / "codes.csv").write_text(f"AGE,CODE\n{rows}")
    asked = ("protect", "codes.csv", "--epsilon", "3", "--delta", "1e-9", "--rule",
             "AGE < 16 implies CODE == 01067", "-o", "out")  # fmt: skip
    done = run(*asked, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = polars.read_csv(tmp_path / "out" / "data.csv", schema_overrides={"CODE": polars.String})
    assert {*found["CODE"]} == {f"0106{number}" for number in range(8)}
    assert {*found.filter(polars.col("AGE") < 16)["CODE"]} == {"01067"}


@pytest.mark.parametrize("of_unit", [(), ("--unit", "WHO", "--max-rows", "3")])
def test_no_unit_decides_whether_a_compared_column_holds_dates(tmp_path, of_unit):
    """Neighbouring files, in which one unit alone has values: of one of them a release is made."""
    n_rows = 3 if of_unit else 1
    own = [(f"u{number // n_rows}", number % 80) for number in range(600)]
    asked = ("--epsilon", "3", "--delta", "1e-9", "--rule", "END >= START", *of_unit)
    done = []
    for name, (start, end) in {"dates": ("2020-01-01", "2020-02-01"), "numbers": (5, 9)}.items():
        rows = [
            f"{who},{age},{start},{end}" if place < n_rows else f"{who},{age},,"
            for place, (who, age) in enumerate(own)
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(["WHO,AGE,START,END", *rows]) + "\n")
        done.append(run("protect", f"{name}.csv", *asked, "-o", name, folder=tmp_path))
    assert [own.returncode == 0 for own in done].count(True) <= 1
    assert "does not say whether it holds numbers or dates" in done[0].stderr
