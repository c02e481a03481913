"""What a new table learns of columns of which nothing is declared, and what it never shows."""

import datetime

import numpy as np
import polars as pl
import pytest

import microveil as mv
from command import run
from microveil.measures.opening import guarantee_beside, measurements_beside

BUDGET = {"epsilon": 3, "delta": 1e-9}
N = 6000


def people(**changes):
    """Invented people, with a column of each kind; ``changes`` are columns."""
    random = np.random.default_rng(4)
    day = datetime.date(2020, 1, 1)
    wage = np.where(random.random(N) < 0.6, 0, random.lognormal(7, 0.5, N).round(2))
    return pl.DataFrame(
        {
            "PERSON_ID": np.arange(N) + 10_000,
            "AGE": random.integers(0, 95, N),
            "WAGE": wage,
            "TOWN": random.choice(["Ely", "Oxford", "York"], N, p=[0.5, 0.3, 0.2]),
            "SINCE": [day + datetime.timedelta(days=int(d)) for d in random.integers(0, 900, N)],
            "REMARK": [f"note {number}" for number in range(N)],
            "OWNER": random.random(N) < 0.4,
        }
    ).with_columns(**changes)


def rare(table, word):
    """Give one record a word that nobody else has."""
    return table.with_columns(TOWN=pl.Series(["Xanadu" + word, *table["TOWN"][1:]]))


def test_one_command_needs_no_declaration(tmp_path):
    """From a file of text: the columns, kinds, decimals and common values come out; rows are new.

    What only one has is nowhere: not its own word, and no column of remarks.
    """
    table = rare(people(), "q")
    table.write_csv(tmp_path / "people.csv")
    done = run("protect", "people.csv", "--epsilon", "3", "--delta", "1e-9", "-o", "out",
               folder=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Not released: PERSON_ID" in done.stderr
    assert "Left out, as no value has enough records to be shown: REMARK" in done.stderr
    released = pl.read_csv(tmp_path / "out" / "data.csv", try_parse_dates=True)
    assert released.columns == ["AGE", "WAGE", "TOWN", "SINCE", "OWNER"]
    assert {*released["TOWN"].unique()} - {"other"} == {"Ely", "Oxford", "York"}
    assert released.schema["AGE"] == pl.Int64
    assert released.schema["SINCE"] == pl.Date
    assert abs((released["WAGE"] == 0).mean() - 0.6) < 0.02
    written = released["WAGE"].drop_nulls().to_numpy()
    assert np.allclose(written * 100, np.rint(written * 100))
    for name in ("AGE", "SINCE"):
        own, new = (side[name].drop_nulls().to_physical().to_numpy() for side in (table, released))
        quarters = [0.25, 0.5, 0.75]
        spread = own.max() - own.min()
        off = np.abs(np.quantile(own, quarters) - np.quantile(new, quarters)) / spread
        assert off.max() < 0.05
    guarantee = mv.Guarantee.read(tmp_path / "out" / "guarantee.json")
    assert guarantee.scopes.row.keeps(3, 1e-9)
    assert [condition.id for condition in guarantee.conditions] == ["repeated-people"]
    assert "was learnt from the table where nobody declared it" in guarantee.statement()
    files = [path.read_text("utf-8", errors="ignore") for path in (tmp_path / "out").iterdir()]
    assert not any("Xanadu" in text for text in files)


def test_what_is_learnt_is_in_the_measurements_and_nowhere_before_the_draw(tmp_path):
    """Written with the release they are read back, as the release was drawn of them."""
    table = people()
    planned = mv.plan(table, **BUDGET)
    said = str([part.to_dict() for part in planned.synthetic.attributes])
    assert not any(word in said for word in ("Ely", "Oxford", "note"))
    release = mv.protect(table, **BUDGET, seed=None)
    release.write(tmp_path / "out", with_measurements=True)
    path = next((tmp_path / "out").glob("data.*"))
    guarantee = guarantee_beside(path, release.data.columns)
    again = measurements_beside(path, guarantee)
    assert again.to_dict() == release.measurements.to_dict()


def test_declared_is_taken_as_it_is_and_costs_nothing():
    """A list keeps its rare category, and a refusal names what is not declared."""
    table = rare(people(), "")
    towns = ["Ely", "Oxford", "York", "Xanadu"]
    planned = mv.plan(table, **BUDGET, attributes=["TOWN", "AGE"], categories={"TOWN": towns})
    (age, town) = planned.synthetic.attributes
    assert town.learning is None
    assert age.learning.delta == planned.prepared.request.delta / 10
    with pytest.raises(mv.RequestError, match="AGE"):
        mv.plan(table, **BUDGET, attributes=["TOWN", "AGE"], categories={"TOWN": towns},
                domains="declared")  # fmt: skip


def test_nothing_is_said_before_the_draw_that_hangs_on_a_value():
    """Plans of unrelated tables of equal size and kinds are equal, thresholds included."""
    one = people()
    other = one.with_columns(
        PERSON_ID=pl.lit(7),
        AGE=pl.lit(-5, dtype=pl.Int64),
        WAGE=pl.lit(1e9),
        TOWN=pl.lit("Ulm"),
        SINCE=pl.lit(datetime.date(1900, 1, 1)),
        REMARK=pl.lit("x"),
        OWNER=pl.lit(value=True),
    )
    plans = [mv.plan(table, **BUDGET) for table in (one, other)]
    assert plans[0].synthetic == plans[1].synthetic
    assert plans[0].guarantee == plans[1].guarantee
    assert plans[0].notes == plans[1].notes


@pytest.mark.parametrize(
    "change",
    [
        {"TOWN": "Zuerich"},
        {"WAGE": 10.123456},
        {"WAGE": 1e15},
        {"AGE": 2**62},
        {"TOWN": None},
        {"AGE": None},
        {"SINCE": datetime.date(9, 9, 9)},
    ],
    ids=str,
)
def test_a_neighbour_is_released_in_the_same_form(change):
    """Columns, types and categories are those of the table without the odd record.

    By equal randomness: they could differ by what was released alone, and here that is equal.
    """
    table = people().drop("REMARK")
    ((name, value),) = change.items()
    first = pl.Series(name, [value], dtype=table.schema[name], strict=False)
    odd = table.with_columns(pl.concat([first, table[name][1:]]).alias(name))
    releases = [mv.protect(one, **BUDGET, seed=5) for one in (table, odd)]
    assert releases[0].data.schema == releases[1].data.schema
    for own in ("TOWN", "OWNER"):
        assert {*releases[0].data[own].unique()} == {*releases[1].data[own].unique()}
    kinds = [[one.attribute.resolution for one in own.measurements.attributes] for own in releases]
    assert kinds[0] == kinds[1]


def test_a_file_without_types_gives_the_same_form_for_one_record_with_decimals(tmp_path):
    """41 does not become 41.0 in everybody's row because one person has cents."""
    table = people().select("AGE", "TOWN")
    odd = table.with_columns(AGE=pl.Series([0.5, *table["AGE"][1:]], dtype=pl.Float64))
    odd = odd.with_columns(AGE=pl.col("AGE").map_elements(lambda a: f"{a:g}", pl.String))
    written = []
    for place, one in enumerate((table, odd)):
        one.write_csv(tmp_path / f"{place}.csv")
        done = run("protect", f"{place}.csv", "--epsilon", "3", "--delta", "1e-9", "--seed", "3",
                   "-o", f"out{place}", folder=tmp_path)  # fmt: skip
        assert done.returncode == 0, done.stderr
        written.append(pl.read_csv(tmp_path / f"out{place}" / "data.csv").schema)
    assert written[0] == written[1] == {"AGE": pl.Int64, "TOWN": pl.String}


def test_too_small_a_table_is_refused_with_what_would_do():
    """By public figures: the records, the budget, the columns."""
    with pytest.raises(mv.RequestError, match=r"declare its bounds, or pass epsilon=.* or more"):
        mv.protect(people().head(150), **BUDGET)


def test_publishers_are_told_of_learnt_words_that_a_spreadsheet_runs_and_of_a_large_delta():
    """As of declared ones; and that a delta a hundredth of 1/n is large where labels are learnt."""
    table = people().with_columns(TOWN=pl.col("TOWN").replace("Ely", "=1+1"))
    release = mv.protect(table.select("TOWN", "AGE"), epsilon=3, delta=1e-5)
    notes = "\n".join(release.notes)
    assert "A spreadsheet may run as a formula" in notes
    assert "TOWN" in notes
    assert "delta is more than 1/(100 n)" in notes


def test_a_table_of_which_nothing_is_learnt_is_refused():
    """Free text alone: there is nothing to release."""
    with pytest.raises(mv.DataError, match="nothing was learnt of any column"):
        mv.protect(people().select("REMARK"), **BUDGET)


@pytest.mark.parametrize("cell", ["5", "2020-01-01", "true", "abc", None])
def test_one_value_does_not_decide_what_a_column_holds(tmp_path, cell):
    """A column that all others leave empty is left out, with that value and without.

    In one draw of a hundred noise makes it a kind of numbers, of which none has a value.
    """
    table = people().select("AGE").with_columns(ODD=pl.Series([cell, *[None] * (N - 1)]))
    table.write_csv(tmp_path / "people.csv")
    said = []
    for place in ("out", "other", "third"):
        done = run("protect", "people.csv", "--epsilon", "3", "--delta", "1e-9", "-o", place,
                   folder=tmp_path)  # fmt: skip
        assert done.returncode == 0, done.stderr
        said.append("no value has enough records to be shown: ODD" in done.stderr)
        if not said[-1]:
            released = pl.read_csv(tmp_path / place / "data.csv")
            assert released["ODD"].null_count() > 0.99 * N
    assert sum(said) >= 2


@pytest.mark.parametrize("gap", [False, True])
def test_no_type_shows_that_nobody_lacks_a_value(gap):
    """A column of whole numbers of pandas is one that may lack a value, whether one does or not."""
    import pandas as pd

    age = people()["AGE"].to_numpy().astype(float)
    age[0] = np.nan if gap else 3
    table = pd.DataFrame({"AGE": age if gap else age.astype(int)})
    release = mv.protect(table, **BUDGET, bounds={"AGE": (0, 100)}, resolution={"AGE": 1}, seed=1)
    assert release.data["AGE"].dtype == pd.Int64Dtype()


def test_values_beyond_what_is_learnt_are_moved_to_its_end_each_by_itself():
    """Steps of thirty days, and numbers beyond all grids: nothing fails for one record."""
    table = people().select("SINCE").with_columns(BIG=pl.Series([2**62, *range(N - 1)]))
    table = table.with_columns(
        SINCE=pl.Series([datetime.date(9900, 1, 1)] * 2000 + table["SINCE"].to_list()[2000:])
    )
    release = mv.protect(table, **BUDGET, resolution={"SINCE": 30, "BIG": 10}, seed=2)
    assert release.data["SINCE"].max() <= datetime.date(2300, 12, 31)
    assert release.data["BIG"].drop_nulls().median() < 2 * N


@pytest.mark.parametrize("seed", [0, 7, 34, 43])
def test_no_number_runs_away_where_all_values_have_counts_of_their_own(seed):
    """What is left over is the noise of these counts: cut, it would lie anywhere up to 2^53.

    These seeds drew so much noise once.
    """
    ages = np.random.default_rng(0).integers(0, 200, 20_000)
    released = mv.protect({"AGE": ages}, epsilon=100, delta=1e-9, seed=seed).data["AGE"]
    assert (released.min(), released.max()) == (0, 199)
