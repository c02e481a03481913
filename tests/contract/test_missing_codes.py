"""Codes that stand for missing values, wherever a table is taken."""

import datetime

import numpy as np
import polars as pl
import pytest

import microveil as mv
from microveil.errors import RequestError
from microveil.report import custodian_report, publishable_report
from microveil.table import MissingCodes, open_table

CODES = {"INCOME": [-9, 99999998], "REGION": "refused", "SINCE": [datetime.date(9999, 12, 31)]}
BOUNDS = {"INCOME": (0, 1000), "AGE": (0, 120)}
REGIONS = ["north", "south"]
N = 90


def people():
    random = np.random.default_rng(1)
    income = random.integers(0, 1000, N)
    income[[3, 9]], income[7] = -9, 99999998
    region = random.choice(REGIONS, N).astype(object)
    region[[2, 9]] = "refused"
    since = [datetime.date(2000, 1, 1) + datetime.timedelta(days=10 * day) for day in range(N)]
    since[5] = datetime.date(9999, 12, 31)
    return pl.DataFrame(
        {"INCOME": income, "AGE": random.integers(20, 80, N), "REGION": region, "SINCE": since},
        schema_overrides={"REGION": pl.String},
    )


def emptied():
    return people().with_columns(
        INCOME=pl.when(pl.col("INCOME").is_in([-9, 99999998])).then(None).otherwise("INCOME"),
        REGION=pl.when(pl.col("REGION") == "refused").then(None).otherwise("REGION"),
        SINCE=pl.when(pl.col("SINCE").dt.year() == 9999).then(None).otherwise("SINCE"),
    )


def as_nullable(frame):
    return frame.to_pandas().convert_dtypes()


FRAMES = [lambda frame: frame, pl.DataFrame.to_arrow, as_nullable]
REQUESTS = {
    "dp-um": {"k": 5, "attributes": ["INCOME", "AGE"], "missing": "keep"},
    "idp-vector": {"k": 5, "attributes": ["INCOME", "AGE"], "missing": "keep"},
    "mdav": {"k": 5, "epsilon": None, "attributes": ["INCOME", "AGE"], "missing": "keep"},
    "pram": {"attributes": ["REGION"], "missing": "keep"},
    "dp-synthetic": {"epsilon": 40, "attributes": ["INCOME", "REGION"], "missing": "protect"},
}


def asked(method):
    given = {"epsilon": 1, "seed": 5, "bounds": BOUNDS, "categories": {"REGION": REGIONS}}
    return {"method": method, **given, **REQUESTS[method]}


@pytest.mark.parametrize("method", REQUESTS)
@pytest.mark.parametrize("made", FRAMES)
def test_a_code_is_released_as_an_empty_cell_is(method, made):
    """A table with codes is released as it would be with empty cells in their places."""
    coded, empty = (
        mv.protect(made(frame), **asked(method), **codes)
        for frame, codes in ((people(), {"missing_codes": CODES}), (emptied(), {}))
    )
    one, other = (pl.DataFrame(release.data) for release in (coded, empty))
    assert one.equals(other)
    assert one.schema == other.schema
    assert coded.guarantee == empty.guarantee
    assert coded.manifest.to_dict()["attributes"] == empty.manifest.to_dict()["attributes"]


def test_whole_numbers_of_numpy_are_missing_by_code_and_stay_whole_until_released():
    """An array of whole numbers with a code needs no resolution, and is empty as NaN is."""
    arrays = {name: people()[name].to_numpy() for name in ("INCOME", "AGE")}
    request = {**asked("dp-um"), "categories": {}, "missing_codes": {"INCOME": [-9, 99999998]}}
    released = mv.protect(arrays, **request).data["INCOME"]
    assert np.flatnonzero(np.isnan(released)).tolist() == [3, 7, 9]


@pytest.mark.parametrize("single", [np.float32, np.float64])
def test_a_code_is_found_as_its_column_holds_it(single):
    """A float32 column holds 99999998 as another number, which is the code all the same."""
    table = open_table(
        {"INCOME": np.array([1.0, 99999998.0, 2.0], dtype=single)},
        MissingCodes(by_column={"INCOME": ("99999998",)}),
    )
    assert table.numbers("INCOME").missing.tolist() == [False, True, False]


def test_what_is_read_off_the_data_is_not_read_off_a_code():
    """Bounds, decimals and categories of a table with codes are those of one with empty cells."""
    frame = (
        people()
        .with_columns(pl.col("INCOME").cast(pl.Float64) + 0.5)
        .with_columns(INCOME=pl.when(pl.col("INCOME") < 0).then(-9.125).otherwise("INCOME"))
    )
    codes = {"missing_codes": {"INCOME": [-9.125, 99999998.5], "REGION": ["refused"]}}
    assert mv.bounds_from_data(frame, 1, **codes)["INCOME"][0] == 0
    assert mv.bounds_from_data(frame, 1, **codes)["INCOME"][1] < 1000
    assert mv.resolution_from_data(frame, **codes) == {"INCOME": 0.1}
    assert mv.categories_from_data(frame, **codes) == {"REGION": ("north", "south")}


def test_cells_with_a_code_are_refused_as_missing_unless_asked_otherwise():
    """By default a cell with a code is refused like an empty one, by its record and no value."""
    with pytest.raises(mv.MicroveilError, match="3 records, the first record 4: a value is"):
        mv.protect(people(), **{**asked("dp-um"), "missing": "error"}, missing_codes=CODES)


def test_assessments_and_attacks_see_codes_as_missing():
    """Both tables may have codes: figures are those of empty cells."""
    after = people().with_columns(pl.col("AGE") // 10 * 10)
    coded = mv.assess(people(), after, ["INCOME", "AGE", "REGION"], missing_codes=CODES)
    bare = emptied().with_columns(pl.col("AGE") // 10 * 10)
    assert coded.to_dict() == mv.assess(emptied(), bare, ["INCOME", "AGE", "REGION"]).to_dict()
    names = {"known": ["AGE", "REGION"], "secret": "INCOME"}
    attacked = mv.attack(people(), after, control=people(), missing_codes=CODES, **names)
    assert attacked.to_dict() == mv.attack(emptied(), bare, control=emptied(), **names).to_dict()


def test_a_value_of_a_release_is_no_code_of_the_original():
    """Where a guarantee names no codes, a protected number that happens to be one is a value."""
    codes = {"missing_codes": {"AGE": [-9]}}
    frame = people().with_columns(AGE=pl.Series([-9, *range(1, N)]))
    bounds = {"AGE": (-20, 120)}
    request = {**asked("dp-um"), "attributes": "AGE", "bounds": bounds, **codes}
    release = mv.protect(frame, **request)
    drawn = release.data.with_columns(AGE=pl.when(pl.int_range(N) == 5).then(-9).otherwise("AGE"))
    found = mv.assess(frame, drawn, ["AGE"], guarantee=release.guarantee, **codes)
    assert found.to_dict()["n_cells_compared"] == N - 1
    bare = mv.assess(frame, drawn, ["AGE"], **codes)
    assert bare.to_dict()["n_cells_compared"] < N - 1


def test_every_verb_on_a_request_sees_codes_as_missing():
    """Plans, audits, advice and comparisons of a table with codes are those of empty cells."""
    request = {**asked("dp-um"), "seed": None}
    pairs = [(people(), {"missing_codes": CODES}), (emptied(), {})]
    for verb in (mv.audit, mv.advise):
        one, other = (verb(frame, **request, **codes) for frame, codes in pairs)
        assert one.to_dict() == other.to_dict()
    auto = {**request, "method": "auto", "k": None, "scope": "vector"}
    one, other = (mv.plan(frame, **auto, **codes) for frame, codes in pairs)
    assert one.guarantee == other.guarantee
    grid = {"methods": ["dp-um", "mdav"], "k": [5], "epsilon": [1], "runs": 1, "seed": 1}
    rest = {name: request[name] for name in ("attributes", "bounds", "missing")}
    one, other = (mv.compare(frame, **grid, **rest, **codes) for frame, codes in pairs)
    assert one.summary.equals(other.summary)


def test_reports_see_codes_as_missing():
    """The pages of a release with codes, reasons in it or not, are made without taking any."""
    for reasons in (False, True):
        release = mv.protect(
            people(), **asked("dp-um"), missing_codes={"INCOME": [-9, 99999998]},
            missing_reasons=reasons,
        )  # fmt: skip
        found = mv.assess(people(), release)
        assert found.to_dict()["n_cells_compared"] == 2 * N - 3
        # As a parameter, and nowhere else.
        assert custodian_report(release, people(), found).count("99999998") == 1
        assert "99999998" not in publishable_report(release)


def test_text_that_is_missing_everywhere_is_missing_in_every_column_of_text():
    """missing_values reach each column of text, and no number."""
    frame = emptied().with_columns(pl.col("REGION").fill_null("?"), TOWN=pl.lit("?"))
    request = {**asked("pram"), "missing_values": "?,-9"}
    assert pl.DataFrame(mv.protect(frame, **request).data)["REGION"].null_count() == 2
    opened = open_table(frame, MissingCodes.of(None, ["?", "-9"]))
    assert opened.words("TOWN").tolist() == [""] * N
    assert opened.numbers("AGE").missing is None


def test_columns_that_are_kept_stay_as_they_are():
    """A code in a kept column is released as it is, as every cell of it."""
    release = mv.protect(people(), **asked("pram"), keep=["INCOME"], missing_codes=CODES)
    assert pl.DataFrame(release.data)["INCOME"].equals(people()["INCOME"])


WRONG = [
    ({"missing_codes": {"INCOME": ["-9O"]}}, "missing codes of 'INCOME'"),
    ({"missing_codes": {"INCOME": [float("nan")]}}, "missing codes of 'INCOME'"),
    ({"missing_codes": {"INCOME": []}}, "missing codes of 'INCOME'"),
    ({"missing_codes": {"INCOME": [-9, "-9"]}}, "missing codes of 'INCOME'"),
    ({"missing_codes": {"INCOME": [True]}}, "missing codes of 'INCOME'"),
    ({"missing_codes": [-9]}, "missing_codes"),
    ({"missing_codes": {"WEALTH": [-9]}}, "column 'WEALTH'"),
    ({"missing_values": [-9]}, "missing_values"),
    ({"missing_codes": {"REGION": ["north"]}}, "missing codes of 'REGION'"),
    ({"missing_values": ["north"]}, "missing codes of 'REGION'"),
    ({"missing_codes": {"SINCE": ["never 1"]}}, "missing codes of 'SINCE'"),
]


@pytest.mark.parametrize(("given", "place"), WRONG)
def test_codes_that_cannot_be_are_refused(given, place):
    """A code that is none of its column's kind, or a category too, is refused by its column."""
    with pytest.raises(RequestError) as refused:
        mv.protect(people(), **{**asked("pram"), "attributes": ["INCOME", "REGION"]}, **given)
    assert refused.value.place == place


def test_yes_and_no_leave_no_value_to_be_a_code():
    """A column of yes and no is refused a code."""
    with pytest.raises(RequestError, match="no value left to be a code"):
        open_table({"A": np.array([True, False])}, MissingCodes(by_column={"A": (0,)}))


def test_a_pickled_release_still_knows_the_codes_that_stand_in_it():
    """Codes that are released stand in the guarantee, and are read back from it."""
    release = mv.protect(
        people(), **asked("dp-um"), missing_codes={"INCOME": [-9, "99999998"]}, missing_reasons=True
    )
    terms = release.guarantee.to_dict()["attributes"]
    assert terms["INCOME"]["missing_codes"] == [-9, 99999998]
    assert "missing_codes" not in terms["AGE"]
    again = mv.Guarantee.from_dict(release.guarantee.to_dict())
    assert again.missing_codes == {"INCOME": (-9, 99999998)}
