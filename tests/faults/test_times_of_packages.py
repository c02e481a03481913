"""What SPSS, Stata and SAS files can hold and a table of ours cannot as it stands."""

import datetime

import polars as pl
import pyreadstat
import pytest

import microveil as mv
from sas_files import write_sas7bdat, write_xpt

MISSES = {"lo": 90.5, "hi": 99.0}


def test_a_range_of_missing_codes_holds_decimals_too(tmp_path):
    """Every value between two missing codes of SPSS is missing, not the whole ones alone."""
    frame = pl.DataFrame({"SHARE": [1.25, 95.5, 95.0, 90.5, 99.25], "N": [1.0, 2, 3, 4, 5]})
    path = tmp_path / "t.sav"
    ranges = {"SHARE": [MISSES], "N": [{"lo": 4.0, "hi": 1e300}]}
    pyreadstat.write_sav(frame, str(path), missing_ranges=ranges)
    read = mv.read(path)
    assert read.frame["SHARE"].to_list() == [1.25, None, 95.0, None, 99.25]
    assert read.frame["N"].to_list() == [1, 2, 3, None, None]
    assert read.schema["SHARE"].labels.missing_codes == tuple(range(91, 100))
    assert mv.protect(
        read, method="laplace", epsilon=1, attributes="SHARE", bounds={"SHARE": (0, 100)},
        resolution={"SHARE": 0.25}, missing="keep", missing_codes={"SHARE": [*range(91, 100)]},
    ).data["SHARE"].null_count() == 3  # fmt: skip


@pytest.mark.parametrize("form", ["TIME8", "DTIME12.2", "MTIME8"])
def test_times_of_spss_are_no_numbers(tmp_path, form):
    """A time or a duration is read as one; it is left out or kept, never a count of seconds."""
    path = tmp_path / "t.sav"
    frame = pl.DataFrame({"T": [3_600.5, None, 90_000.0] * 4, "AGE": [20.0, 30.0, 40.0] * 4})
    pyreadstat.write_sav(frame, str(path), variable_format={"T": form})
    check_spans(path, [3_600.5, None, 90_000.0])


@pytest.mark.parametrize("write", [write_xpt, write_sas7bdat])
@pytest.mark.parametrize("form", ["TIME8.", "HHMM5.", "E8601TM8."])
def test_times_of_sas_are_no_numbers(tmp_path, write, form):
    """The same of SAS files of both forms."""
    path = tmp_path / ("t.xpt" if write is write_xpt else "t.sas7bdat")
    frame = pl.DataFrame({"T": [3_600.5, 60.0, 90_000.0] * 4, "AGE": [20.0, 30.0, 40.0] * 4})
    write(frame, path, formats={"T": form})
    check_spans(path, [3_600.5, 60.0, 90_000.0])


def check_spans(path, seconds):
    """Hold a column of durations against seconds; it is refused as an attribute, and kept whole."""
    read = mv.read(path)
    spans = [None if one is None else datetime.timedelta(seconds=one) for one in seconds]
    assert read.frame["T"].to_list()[:3] == spans
    asked = {"method": "dp-um", "k": 3, "epsilon": 1, "bounds": {"AGE": (0, 99)}}
    for bounds in ({}, {"bounds": {"AGE": (0, 99), "T": (0, 99)}}):
        with pytest.raises(mv.MicroveilError, match="'T'"):
            mv.protect(read, **(asked | bounds), attributes=["AGE", "T"])
    kept = mv.protect(
        read, **asked, attributes="AGE", keep="T", resolution={"AGE": 1}, missing="keep"
    )
    assert kept.data["T"].dtype == pl.Duration


@pytest.mark.parametrize("form", ["DTDATE9.", "DATETIME20."])
def test_moments_of_sas_that_show_a_date_are_dates(tmp_path, form):
    """A moment is read as one whatever part of it the file shows."""
    seconds = [86_400.0 * 3_653, 86_400.0 * 3_654]
    write_xpt(pl.DataFrame({"T": seconds}), tmp_path / "t.xpt", formats={"T": form})
    read = mv.read(tmp_path / "t.xpt").frame["T"]
    assert read.dtype == pl.Datetime("us")
    assert read.dt.date().to_list() == [datetime.date(1970, 1, 1), datetime.date(1970, 1, 2)]


def test_periods_of_stata_are_read_as_stata_shows_them(tmp_path):
    """Weeks, months, quarters and half years counted from 1960 are text, not counts."""
    frame = pl.DataFrame({name: [241.0, None, -1.0] for name in "WMQH"} | {"Y": [1980.0, 1, 2]})
    formats = {name: f"%t{name.lower()}" for name in "WMQHY"}
    pyreadstat.write_dta(frame, str(tmp_path / "t.dta"), variable_format=formats)
    assert mv.read(tmp_path / "t.dta").frame.to_dict(as_series=False) == {
        "W": ["1964w34", None, "1959w52"],
        "M": ["1980m2", None, "1959m12"],
        "Q": ["2020q2", None, "1959q4"],
        "H": ["2080h2", None, "1959h2"],
        "Y": [1980, 1, 2],
    }


@pytest.mark.parametrize("form", ["%tC", "%tbnyse"])
def test_clocks_of_stata_that_no_table_has_are_refused(tmp_path, form):
    """Leap seconds and business calendars are refused with the column and a remedy."""
    frame = pl.DataFrame({"AGE": [20.0, 30.0], "T": [1e12, 2e12]})
    pyreadstat.write_dta(frame, str(tmp_path / "t.dta"), variable_format={"T": form})
    with pytest.raises(mv.FileError, match=r"column 2: .* of Stata"):
        mv.read(tmp_path / "t.dta")


@pytest.mark.parametrize(
    ("name", "form", "value"),
    [("t.sav", "DATE11", 1e15), ("t.sav", "DATETIME20", -1e12), ("t.dta", "%td", 1e9)],
)
def test_dates_out_of_range_are_refused_with_their_place(tmp_path, name, form, value):
    """A date that no calendar has is refused with column and record."""
    write = pyreadstat.write_sav if name.endswith("sav") else pyreadstat.write_dta
    frame = pl.DataFrame({"AGE": [20.0, 30.0, 40.0], "BORN": [1e4, None, value]})
    frame = frame.with_columns(BORN=pl.Series([1.4e10 if "sav" in name else 1e4, None, value]))
    write(frame, str(tmp_path / name), variable_format={"BORN": form})
    with pytest.raises(mv.FileError, match="record 3, column 2: dates must lie"):
        mv.read(tmp_path / name)
