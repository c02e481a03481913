"""A SAS transport file with several data sets: none is read into another."""

import polars as pl
import pyreadstat
import pytest

import microveil as mv
from command import run

MEMBER = {5: b"HEADER RECORD*******MEMBER  ", 8: b"HEADER RECORD*******MEMBV8  "}
SECRET = "Example Ann Invented"


def transport(folder, version, *, again):
    """Write a data set, and behind it another as SAS does."""
    people = pl.DataFrame({"AGE": [20.0, 21.0, 30.0, 31.0], "REGION": ["a", "b", "a", "b"]})
    others = pl.DataFrame({"PATIENT": [SECRET] * 4, "HIV": [1.0, 0.0, 1.0, 0.0]})
    path = folder / "people.xpt"
    for frame, name in ((people, "people.xpt"), (others, "others.xpt")):
        pyreadstat.write_xport(frame, str(folder / name), file_format_version=version)
    if again:
        behind = (folder / "others.xpt").read_bytes()
        with path.open("ab") as file:
            file.write(behind[behind.index(MEMBER[version]) :])
    return path


@pytest.mark.parametrize("version", [5, 8])
def test_a_second_data_set_is_refused(tmp_path, version):
    """A file with two data sets is refused, says how many, and shows nothing of the second."""
    path = transport(tmp_path, version, again=False)
    assert mv.read(path).frame["AGE"].to_list() == [20, 21, 30, 31]
    path = transport(tmp_path, version, again=True)
    with pytest.raises(mv.FileError, match="one data set, and this one has 2") as refused:
        mv.read(path)
    assert SECRET not in str(refused.value)
    asked = ["--method", "laplace", "--epsilon", "1", "--attributes", "AGE", "--bounds", "AGE=0:9"]
    done = run("protect", path, *asked, "--format", "csv", "-o", "out", folder=tmp_path)
    assert (done.returncode, (tmp_path / "out").exists()) == (2, False)
