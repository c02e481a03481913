"""Files without types: the kinds of their columns are learnt, and what is said is public.

What a column holds is learnt of noisy counts, so that no record decides it: neither whether there
is a release, nor its columns, types, words and files.
"""

import datetime
import itertools
import json
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import microveil as mv
from command import run
from microveil.commands import asking
from microveil.commands.asking import asked_of
from microveil.commands.files import inspect_file, protect_file
from microveil.commands.measuring import assess_files, audit_release, foresee_file
from microveil.files.labelled import labelled
from microveil.guarantee.budget import concentrated_budget
from microveil.measures.opening import guarantee_beside, measurements_beside
from microveil.noise.noise import RandomSource
from microveil.protect.planning import plan_of
from microveil.protect.settling import settle

N = 3000
BUDGET = {"epsilon": 3, "delta": 1e-9}
NAMES = ("AGE", "PAY", "TOWN", "SINCE", "OWNER", "CODE", "NOTE")


def people(**changes):
    """Invented people as a file of text has them, a column of each kind."""
    random = np.random.Generator(np.random.PCG64(7))
    pay = np.where(random.random(N) < 0.5, 0, random.lognormal(7, 0.5, N).round(2))
    days = random.integers(0, 3000, N)
    found = {
        "AGE": [str(age) for age in random.integers(0, 95, N)],
        "PAY": [f"{own:.2f}" for own in pay],
        "TOWN": random.choice(["Ely", "Oxford", "York"], N).tolist(),
        "SINCE": [f"{datetime.date(2015, 1, 1) + datetime.timedelta(int(d))}" for d in days],
        "OWNER": random.choice(["true", "false"], N).tolist(),
        "CODE": random.choice(["007", "1", "42"], N).tolist(),
        "NOTE": [f"note {number}" for number in range(N)],
    }
    return {**found, **changes}


def written(folder, table, name="people.csv"):
    path = folder / name
    pl.DataFrame(table).write_csv(path)
    return path


def with_cells(table, **cells):
    """The table with other cells in one record, or in many: a number of them and a cell."""
    found = dict(table)
    for name, cell in cells.items():
        times, own = cell if isinstance(cell, tuple) else (1, cell)
        found[name] = [own] * times + found[name][times:]
    return found


def planned_of(path, **asked):
    source, said = asked_of(path, **{**BUDGET, **asked}, progress=lambda _step: None)
    return plan_of(settle(labelled(source), said))


TYPES = {"AGE": pl.Int64, "PAY": pl.Float64, "TOWN": pl.String, "SINCE": pl.Date,
         "OWNER": pl.Boolean, "CODE": pl.String}  # fmt: skip


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_kinds_come_out_and_labels_are_the_cells_own_text(tmp_path, form):
    """Nothing is declared and nothing typed: 007 stays 007, and 1 beside it is no 1.0."""
    table = with_cells(people(), CODE=(1, ""), AGE=(30, "NA"), PAY=(3, "12 pounds"))
    table["NOTE"] = [*map(str, range(9)), *[""] * (N - 9)]  # of which nothing is learnt
    path = written(tmp_path, table)
    release = protect_file(path, tmp_path / "out", **BUDGET, max_rows=1, format=form,
                           with_measurements=True)  # fmt: skip
    assert dict(release.data.schema) == TYPES
    assert {*release.data["CODE"].drop_nulls().unique()} <= {"007", "1", "42", "other"}
    assert {"007", "1", "42"} <= {*release.data["CODE"].unique()}
    assert release.guarantee.scopes.row.keeps(3, 1e-9)
    assert not release.guarantee.conditions
    statement = release.guarantee.statement()
    assert "What kind of values a column of the file holds" in statement
    assert "so are the kind and the type" not in statement
    assert any("NOTE" in note and "Left out" in note for note in release.notes)
    told = release.manifest.to_dict()["custodian_notes"]
    assert "3 cells of 'PAY' cannot be read as a decimal: taken as missing." in told
    assert any("30 cells of 'AGE' say in a word" in one for one in told)
    # In words and in measurements they are read back.
    data = next((tmp_path / "out").glob("data.*"))
    again = measurements_beside(data, guarantee_beside(data, release.data.columns))
    assert again.to_dict() == release.measurements.to_dict()
    kinds = {own.attribute.name: own.kinds is not None for own in again.attributes}
    assert kinds == dict.fromkeys(NAMES, True)


PAIRS = {
    "a word among numbers": {"AGE": "forty"},
    "a code among numbers": {"AGE": "007"},
    "a number too large": {"AGE": "9" * 15},
    "cents among whole numbers": {"AGE": "41.5"},
    "a word for nothing": {"AGE": "NA", "PAY": "?"},
    "no cells": dict.fromkeys(TYPES, ""),
    "a date that is none": {"SINCE": "2020-02-30"},
    "a number among dates and truths": {"SINCE": "12", "OWNER": "1"},
    "many decimals, another mark": {"PAY": "987654.123456", "OWNER": "True"},
    "commas": {"PAY": "1,5"},
    "words among codes": {"CODE": "12A", "TOWN": "1"},
}


def shown(table, folder, name, monkeypatch, **more):
    """All that a release shows but its cells and its measurements, and these."""
    monkeypatch.setattr(RandomSource, "system", lambda: RandomSource.seeded(3))
    path = written(folder, table, f"{name}.csv")
    release = protect_file(path, folder / name, **BUDGET, with_measurements=True, **more)
    files = {file.name: file.read_bytes() for file in (folder / name).iterdir()}
    data = files.pop(f"data.{more.get('format', 'csv')}")
    measured = json.loads(files.pop("measurements.json"))
    files.pop("margins.json")  # of the measurements alone
    attributes = measured["attributes"]
    kinds = {column: own["kinds"]["learnt"] for column, own in attributes.items()}
    form = {column: sorted(own) for column, own in attributes.items()}
    return {"files": files, "schema": dict(release.data.schema), "notes": release.notes,
            "kinds": kinds, "form": form, "header": data.split(b"\n")[0],
            "words": {*release.data["TOWN"].unique()}}, (data, measured)  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS)
def test_neighbours_differ_in_cells_and_measurements_alone(pair, tmp_path, monkeypatch):
    """By equal randomness: kinds, types, columns, labels and their order, notes, every file."""
    table = people()
    one, cells = shown(table, tmp_path, "one", monkeypatch)
    other, others = shown(with_cells(table, **PAIRS[pair]), tmp_path, "other", monkeypatch)
    assert one == other
    assert cells != others


def test_what_many_records_hold_decides(tmp_path, monkeypatch):
    """Else the pairs would show nothing: a third of the cells changes the kind."""
    table, many = people(), N // 3
    one, _ = shown(table, tmp_path, "one", monkeypatch)
    for number, (name, cell, kind) in enumerate(
        [("AGE", "41.5", "decimal"), ("AGE", "007", "nominal"), ("SINCE", "12", "nominal"),
         ("OWNER", "yes", "nominal"), ("PAY", "NA", "decimal")]
    ):  # fmt: skip
        table_of_many = with_cells(table, **{name: (many, cell)})
        other, _ = shown(table_of_many, tmp_path, f"other{number}", monkeypatch)
        assert {**one["kinds"], name: kind} == other["kinds"]


def cells_of(random, n_records):
    """A column of anything: of one kind, of several, or of hardly a cell."""
    days = [
        datetime.date(1900, 1, 1) + datetime.timedelta(int(day)) for day in range(0, 70_000, 999)
    ]
    kinds = (
        [str(own) for own in random.integers(-5, 10**6, 50)],
        [f"{own:.{places}f}" for places, own in enumerate(random.lognormal(5, 3, 50))],
        [f"{day}" for day in days],
        ["true", "FALSE", "True"],
        ["a", "North", "NA", "?", "007", "x y", "1e5", "1,5"],
        [""],
    )
    some = random.choice(len(kinds), random.integers(1, 4))
    pool = [cell for kind in some for cell in kinds[kind]]
    return random.choice(pool, n_records).tolist()


def unrelated(number, n_records, folder):
    random = np.random.Generator(np.random.PCG64(number))
    table = {name: cells_of(random, n_records) for name in ("A", "B", "C")}
    return written(folder, {**table, "ROW": ["r"] * n_records}, "table.csv")


def said_before(path):
    """All that is said before the draw."""
    planned = planned_of(path)
    return (
        [part.to_dict() for part in planned.synthetic.attributes],
        planned.synthetic,
        planned.guarantee.to_dict(),
        planned.notes,
        planned.parameters,
        planned.prepared.left_out,
    )


def equal_before(numbers, folder):
    """Each against the first of its size, which it has nothing to do with."""
    first = {}
    for number, n_records in zip(numbers, itertools.cycle((400, 900, 2500)), strict=False):
        said = said_before(unrelated(number, n_records, folder))
        assert said == first.setdefault(n_records, said)
    assert len(first) == 3


def test_unrelated_tables_of_one_size_are_planned_alike(tmp_path):
    """Whatever their cells are: plan, guarantee, notes, columns."""
    equal_before(range(300), tmp_path)


@pytest.mark.slow
def test_a_thousand_unrelated_tables_are_planned_alike(tmp_path):
    """The same of more."""
    equal_before(range(1000, 2000), tmp_path)


def test_so_few_records_are_refused_alike_whatever_they_hold(tmp_path):
    """By public figures, in the same words."""
    found = set()
    for number in range(20):
        with pytest.raises(mv.RequestError) as refusal:
            said_before(unrelated(number, 60, tmp_path))
        found.add(str(refusal.value))
    assert len(found) == 1


def test_units_need_no_types(tmp_path):
    """All cells of a household count as much as the budget of its records says."""
    household = [str(number // 3) for number in range(N)]
    table = {name: people()[name] for name in ("AGE", "TOWN")} | {"HH": household}
    asked = {"unit": "HH", "max_rows": 3, "epsilon": 20}
    path = written(tmp_path, with_cells(table, AGE="old"))
    release = protect_file(path, tmp_path / "out", **{**BUDGET, **asked})
    assert dict(release.data.schema) == {"AGE": pl.Int64, "TOWN": pl.String}
    assert [condition.id for condition in release.guarantee.conditions] == ["unit-sizes"]
    by_record = {"epsilon": 20, "attributes": ["AGE", "TOWN"]}
    alone, of_unit = (
        planned_of(path, **more).synthetic.attributes[0] for more in (by_record, asked)
    )
    assert of_unit.kinds.variance == pytest.approx(9 * alone.kinds.variance, rel=0.01)


def test_bounds_say_that_a_column_holds_numbers(tmp_path):
    """Whether whole or not is learnt, and words are missing, however many there are."""
    path = written(tmp_path, with_cells(people(), AGE=(1000, "many"), PAY=(5, "none left")))
    bounds = {"AGE": (0, 100), "PAY": (0, 50_000)}
    release = protect_file(
        path, tmp_path / "out", **BUDGET, attributes=["AGE", "PAY", "TOWN"], bounds=bounds,
        with_measurements=True,
    )  # fmt: skip
    assert dict(release.data.schema) == {name: TYPES[name] for name in ("AGE", "PAY", "TOWN")}
    assert 0.25 < release.data["AGE"].is_null().mean() < 0.42
    assert release.data["AGE"].max() <= 100
    data = tmp_path / "out" / "data.csv"
    again = measurements_beside(data, guarantee_beside(data, release.data.columns))
    assert again.to_dict() == release.measurements.to_dict()


def test_declared_columns_are_read_as_before(tmp_path):
    """By a type, a list, a step: they cost no share, and what does not fit is refused."""
    path = written(tmp_path, people())
    towns = ["Ely", "Oxford", "York"]
    declared = {
        "types": {"AGE": "whole number"},
        "categories": {"TOWN": towns},
        "resolution": {"PAY": 0.01},
        "attributes": ["AGE", "TOWN", "PAY", "SINCE"],
    }
    parts = planned_of(path, **declared).synthetic.attributes
    assert [part.kinds is None for part in parts] == [True, True, True, False]
    odd = written(tmp_path, with_cells(people(), AGE=(2, "forty")), "odd.csv")
    with pytest.raises(mv.FileError, match="column 1"):
        planned_of(odd, **declared)
    assert all(part.kinds is None for part in planned_of(
        path, domains="declared", attributes=["AGE"], bounds={"AGE": (0, 99)}
    ).synthetic.attributes)  # fmt: skip


@pytest.mark.parametrize("more", [{"missing": "error"}, {"never_missing": ["AGE"]}], ids=str)
def test_a_column_that_may_not_lack_a_value_needs_a_type(tmp_path, more):
    """A cell of another kind would be missing: what then is for the steward to say."""
    with pytest.raises(mv.RequestError, match="state its type in a recipe"):
        planned_of(written(tmp_path, people()), **more)


def test_rules_say_what_their_columns_hold(tmp_path):
    """What is compared with a number is one; nothing of that is learnt."""
    path = written(tmp_path, people())
    rules = ["AGE < 16 implies PAY == 0", "SINCE >= 2010-01-01"]
    planned = planned_of(path, rules=rules)
    known = {part.attribute.name: part.kinds is None for part in planned.synthetic.attributes}
    assert [name for name in NAMES if known[name]] == ["AGE", "PAY", "SINCE"]
    assert planned.prepared.request.types["PAY"] == "decimal"


def test_codes_for_missing_values_are_missing_in_any_spelling(tmp_path):
    """Of numbers as numbers, of text as text."""
    table = with_cells(people(), AGE=(1000, "-9.0"), TOWN=(900, "-9"), PAY=(1200, "refused to say"))
    asked = {"missing_codes": {"AGE": [-9], "TOWN": ["-9"]}, "missing_values": ["refused to say"]}
    release = protect_file(written(tmp_path, table), tmp_path / "out", **BUDGET, **asked)
    schema = {name: release.data.schema[name] for name in ("AGE", "TOWN", "PAY")}
    assert schema == {"AGE": pl.Int64, "TOWN": pl.String, "PAY": pl.Float64}
    for name, due in (("AGE", 1000), ("TOWN", 900), ("PAY", 1200)):
        assert abs(release.data[name].is_null().sum() - due) < 0.1 * N
    assert release.data["AGE"].min() > -9


def test_cells_of_a_workbook_are_read_one_by_one(tmp_path):
    """One moment at noon leaves the dates of all others dates, and one word numbers numbers."""
    table = people()
    days = [datetime.datetime.fromisoformat(own) for own in table["SINCE"]]
    frame = pl.DataFrame(
        {"AGE": list(map(int, table["AGE"])), "SINCE": days, "TOWN": table["TOWN"]}
    )  # fmt: skip
    odd = frame.with_columns(SINCE=pl.Series([days[0].replace(hour=12), *days[1:]]))
    kinds = []
    for number, one in enumerate((frame, odd)):
        path = tmp_path / f"{number}.xlsx"
        one.write_excel(path)
        source, _ = asked_of(path, **BUDGET, progress=lambda _step: None)
        assert [*source.untyped] == ["AGE", "SINCE", "TOWN"]
        cells = source.frame["SINCE"].to_list()
        assert cells[1:] == table["SINCE"][1:]
        release = protect_file(path, tmp_path / f"out{number}", **BUDGET)
        kinds.append(dict(release.data.schema))
    assert kinds[0] == kinds[1] == {"AGE": pl.Int64, "SINCE": pl.Date, "TOWN": pl.String}


def test_a_method_that_advice_chooses_learns_kinds_too(tmp_path):
    """The table is read by its values for advice, and by its cells for what is released."""
    table = {name: people()[name] for name in ("AGE", "TOWN")}
    path = written(tmp_path, table)
    release = protect_file(
        path, tmp_path / "out", **BUDGET, method="auto", scope="row", attributes=["AGE", "TOWN"],
        bounds={"AGE": (0, 120)}, categories={"TOWN": ["Ely", "Oxford", "York"]},
    )  # fmt: skip
    assert release.guarantee.method == "dp-synthetic"
    assert [own.kinds is None for own in release.measurements.attributes] == [False, True]
    assert dict(release.data.schema) == {"AGE": pl.Int64, "TOWN": pl.String}


def test_a_labelled_table_says_which_columns_are_untyped(tmp_path):
    """None of one that is read typed; where kinds are learnt, all but those stated."""
    path = written(tmp_path, people())
    assert mv.read(path).untyped == {}
    asked = {**BUDGET, "types": {"AGE": "whole number"}}
    source, _ = asked_of(path, **asked, progress=lambda _step: None)
    table = labelled(source)
    assert [*table.untyped] == [name for name in NAMES if name != "AGE"]
    assert table.frame.schema["AGE"] == pl.Int64
    assert table.frame.schema["SINCE"] == pl.String


def test_european_files_are_read_as_flags_say(tmp_path):
    """Commas, thousands and days first; without flags they are text, and that is said."""
    table = people()
    table["PAY"] = [
        f"{float(own):,.2f}".translate(str.maketrans(",.", ".,")) for own in table["PAY"]
    ]
    table["SINCE"] = [".".join(reversed(own.split("-"))) for own in table["SINCE"]]
    path = tmp_path / "people.csv"
    pl.DataFrame(table).write_csv(path, separator=";")
    text = mv.files.text.text_format(decimal=",", thousands=".", dates="DMY", separator=";")
    release = protect_file(path, tmp_path / "out", **BUDGET, text=text)
    assert dict(release.data.schema) == TYPES
    plain = protect_file(
        path, tmp_path / "plain", **BUDGET, text=mv.files.text.text_format(separator=";")
    )
    told = "\n".join(plain.manifest.to_dict()["custodian_notes"])
    assert plain.data.schema.get("PAY", pl.String) == pl.String
    assert "--decimal , reads a CSV file with decimal commas" in told


def test_a_table_that_waits_on_the_disk_is_released_as_one_in_memory(tmp_path, monkeypatch):
    """By equal randomness, cell by cell."""
    monkeypatch.setattr(RandomSource, "system", lambda: RandomSource.seeded(3))
    path = written(tmp_path, with_cells(people(), AGE="NA", CODE=" "))
    held = protect_file(path, tmp_path / "held", **BUDGET)
    monkeypatch.setattr(asking, "_is_large", lambda *_: True)
    waiting = protect_file(path, tmp_path / "waiting", **BUDGET)
    assert isinstance(waiting.data, pl.LazyFrame)
    assert waiting.data.collect().equals(held.data)
    files = [(tmp_path / name / "data.csv").read_bytes() for name in ("held", "waiting")]
    assert files[0] == files[1]


def test_inspect_leaves_nothing_to_type_and_its_recipe_learns_kinds(tmp_path):
    """Kinds are shown as they are likely to be learnt, and stand in the recipe as comments."""
    table = with_cells(people(), AGE=(60, "NA"), PAY=(20, "lots"))
    path = written(tmp_path, table)
    _, proposed = inspect_file(path, None, **BUDGET)
    kinds = {name: own.kind.value for name, own in proposed.columns.items()}
    assert kinds == {"AGE": "whole number", "PAY": "decimal", "TOWN": "text", "SINCE": "date",
                     "OWNER": "yes/no", "CODE": "text", "NOTE": "text"}  # fmt: skip
    assert all(own.is_untyped and not own.left for own in proposed.columns.values())
    assert not proposed.left
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(proposed.text)
    source, said = asked_of(path, recipe=recipe, progress=lambda _step: None)
    planned = plan_of(settle(labelled(source), said))
    assert all(part.kinds is not None for part in planned.synthetic.attributes)
    done = run("inspect", "people.csv", "--epsilon", "3", "--delta", "1e-9", folder=tmp_path)
    assert "whole number (learnt)" in done.stderr
    assert "No entry is left to type. Confirm roles." in done.stderr


def test_a_release_is_audited_foreseen_and_assessed_as_it_was_made(tmp_path):
    """The plan is made again, advice weighs it, and the original is read as its release is."""
    few = {name: people()[name] for name in ("AGE", "PAY", "CODE")}
    path = written(tmp_path, with_cells(few, AGE=(60, "NA"), PAY=(5, "lots")))
    release = protect_file(path, tmp_path / "out", **BUDGET)
    found, attacked = audit_release(tmp_path / "out", original=path, runs=50)
    accounted = found.accounted
    due = concentrated_budget(Fraction(3), accounted.delta - accounted.learnt)
    assert due * Fraction(999_999, 1_000_000) < accounted.total <= due
    assert attacked.scopes["row"].lower_bound <= attacked.scopes["row"].exact
    assessed = assess_files(path, tmp_path / "out", text=None)
    assert (assessed.attributes, assessed.text_attributes) == (("AGE", "PAY"), ("CODE",))
    _, planned = foresee_file(path, **BUDGET)
    assert planned.guarantee.to_dict() == release.guarantee.to_dict()
