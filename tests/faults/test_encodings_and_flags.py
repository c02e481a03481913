"""How a file is written: read off the file, said by a flag, or refused; never ignored."""

import polars as pl
import pyreadstat
import pytest

import microveil as mv
from command import run
from sas_files import write_sas7bdat, write_xpt

AGES = [20.0, 21.0, 30.0, 31.0]
FOREIGN = "Zoë B"


def stored(path, text, encoding):
    """Write people whose column T holds a text, in a file of bytes that are in an encoding."""
    stand_in = "#" * len(text.encode(encoding))
    frame = pl.DataFrame({"AGE": AGES, "T": [stand_in, "x", "y", "z"]})
    labels = {"AGE": stand_in}
    if path.suffix == ".xpt":
        write_xpt(frame, path, labels=labels)
    elif path.suffix == ".dta":
        pyreadstat.write_dta(frame, str(path), version=13, column_labels=labels)
    elif path.suffix == ".sas7bdat":
        write_sas7bdat(frame, path, labels=labels)
    else:
        pyreadstat.write_sav(frame, str(path), column_labels=labels)
    raw = path.read_bytes()
    assert stand_in.encode() in raw
    path.write_bytes(raw.replace(stand_in.encode(), text.encode(encoding)))
    return path


@pytest.mark.parametrize("suffix", ["xpt", "dta", "sav", "sas7bdat"])
@pytest.mark.parametrize("encoding", ["cp1252", "mac-roman", "utf-8"])
def test_an_encoding_that_is_said_is_taken(tmp_path, suffix, encoding):
    """Text and labels of a file of a statistical package are read in the encoding that is said."""
    path = stored(tmp_path / f"people.{suffix}", FOREIGN, encoding)
    read = mv.read(path, encoding=encoding)
    assert read.frame["T"].to_list() == [FOREIGN, "x", "y", "z"]
    assert read.schema["AGE"].labels.column == FOREIGN
    asked = ["--method", "dp-um", "--k", "2", "--epsilon", "1"]
    said = ["--encoding", encoding, "-o", "r.toml"]
    done = run("inspect", path.name, *said, *asked, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    asked = ["--recipe", "r.toml", "--keep", "T"]
    domain = ["--attributes", "AGE", "--bounds", "AGE=0:99", "--resolution", "AGE=1"]
    done = run(
        "protect", path.name, *asked, *domain, "--format", "csv", "-o", "out", folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert FOREIGN in (tmp_path / "out" / "data.csv").read_text("utf-8")


@pytest.mark.parametrize("suffix", ["xpt", "dta", "sav"])
def test_an_encoding_that_nobody_says_is_asked_for(tmp_path, suffix):
    """Text that is not UTF-8 is refused with the flag, in a column and in labels alone."""
    path = stored(tmp_path / f"people.{suffix}", FOREIGN, "cp1252")
    with pytest.raises(mv.FileError, match=r"encoding .* --encoding cp1252") as refused:
        mv.read(path)
    assert "broken" not in str(refused.value)
    assert FOREIGN[:2] not in str(refused.value)


@pytest.mark.parametrize("suffix", ["xpt", "dta"])
def test_utf_8_needs_no_flag(tmp_path, suffix):
    """Text of a file that does not say its encoding is read where it is UTF-8 throughout."""
    path = stored(tmp_path / f"people.{suffix}", FOREIGN, "utf-8")
    assert mv.read(path).frame["T"].to_list() == [FOREIGN, "x", "y", "z"]
    with pytest.raises(mv.FileError, match=r"must be ascii, and some is not; .* --encoding utf-8"):
        mv.read(path, encoding="ascii")
    with pytest.raises(mv.RequestError, match="has ASCII in it"):
        mv.read(path, encoding="utf-16")


def tables(folder):
    """Write one table in every format, with a release of one to hold it against."""
    frame = pl.DataFrame({"AGE": [20 + i % 9 for i in range(40)], "T": ["x", "y"] * 20})
    frame.write_csv(folder / "people.csv")
    found = {"csv": folder / "people.csv"}
    for form in ("parquet", "arrow", "xlsx", "sav", "dta", "sqlite"):
        asked = ["--method", "ranking", "--k", "3", "--attributes", "AGE", "--keep", "T"]
        run("protect", "people.csv", *asked, "--format", form, "-o", form, folder=folder)
        (found[form],) = (folder / form).glob("data.*")
    return found


FLAGS = {"separator": ";", "decimal": ",", "encoding": "latin-1"}
COMMANDS = (
    "inspect {0}",
    "inspect {0} --method dp-um --epsilon 1 --bounds AGE=0:99",
    "protect {0} --method ranking --k 3 --attributes AGE -o out",
    "assess {0} {0}",
    "attack {0} {0} --known T --secret AGE",
    "compare {0} --methods ranking --k 3 --attributes AGE --runs 1 -o out",
    "audit {0} --method dp-um --k 5 --epsilon 1 --attributes AGE",
)


def test_a_flag_without_effect_on_the_format_is_refused(tmp_path):
    """Every command and `mv.read` refuse a flag that the format has no place for, by its name."""
    found = tables(tmp_path)
    for form, path in found.items():
        for name, value in FLAGS.items():
            has_effect = form == "csv" or (form in ("sav", "dta") and name == "encoding")
            if has_effect:
                continue
            with pytest.raises(mv.RequestError, match=f"^{name}: only files of text"):
                mv.read(path, **{name: value})
    for command in COMMANDS:
        for name, value in FLAGS.items():
            asked = command.format("parquet/data.parquet").split()
            done = run(*asked, f"--{name}", value, folder=tmp_path)
            refused = f"{name}: only files of text" in done.stderr
            assert (done.returncode, refused) == (2, True), f"{command}: {done.stderr}"
            assert not (tmp_path / "out").exists()


def test_what_stands_for_missing_values_is_of_text(tmp_path):
    """`mv.read` refuses words for missing values in a format whose cells are empty."""
    found = tables(tmp_path)
    for form in ("csv", "xlsx"):
        assert mv.read(found[form], missing_values=["x"]).frame["T"].null_count() == 20
    for form in ("parquet", "arrow", "sav", "dta", "sqlite"):
        with pytest.raises(mv.RequestError, match="missing_values"):
            mv.read(found[form], missing_values=["x"])
