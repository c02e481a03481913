"""What works with the libraries that pip installs by itself, and no others."""

import subprocess
import sys
import tomllib
from pathlib import Path

import polars as pl
import pytest

import microveil as mv
from sas_files import write_sas7bdat, write_xpt

ROOT = Path(__file__).parents[2]
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
ASKED = {"method": "dp-um", "k": 3, "epsilon": 1, "attributes": ["AGE"], "bounds": {"AGE": (0, 99)}}
PEOPLE = pl.DataFrame({"AGE": range(20, 60), "TOWN": ["a", "b"] * 20})
# As where pandas is not installed: each way to import it fails.
WITHOUT_PANDAS = """
import sys
sys.modules["pandas"] = None
from microveil.cli import main
sys.argv = ["microveil", *sys.argv[1:]]
main()
"""


def without_pandas(*arguments, folder):
    """Run the command line in a process that finds no pandas."""
    command = [sys.executable, "-c", WITHOUT_PANDAS, *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def save(path):
    """Write people as a file of a statistical package, whose names end as the path's does."""
    if path.suffix == ".xpt":
        write_xpt(PEOPLE, path)
    elif path.suffix == ".sas7bdat":
        write_sas7bdat(PEOPLE, path)
    else:
        release = mv.protect(PEOPLE, **ASKED, keep=["TOWN"])
        release.write(path.parent / "made", format=path.suffix[1:])
        (path.parent / "made" / f"data{path.suffix}").rename(path)


@pytest.mark.parametrize("suffix", ["sav", "zsav", "dta", "xpt", "sas7bdat"])
def test_statistical_files_need_no_pandas(tmp_path, suffix):
    """SPSS, Stata and SAS files are looked at, released and written where pandas is missing."""
    path = tmp_path / f"people.{suffix}"
    save(path)
    seen = without_pandas("inspect", path, "-o", "recipe.toml", folder=tmp_path)
    assert seen.returncode == 0, seen.stderr
    form = "sav" if suffix in ("xpt", "sas7bdat") else suffix
    protect = ("protect", path, "--method=dp-um", "--k=3", "--epsilon=1", "--attributes=AGE")
    protect += (
        "--bounds=AGE=0:99",
        "--resolution=AGE=1",
        "--keep=TOWN",
        "--format",
        form,
        "-o",
        "out",
    )
    done = without_pandas(*protect, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    released = mv.read(tmp_path / "out" / f"data.{form}").frame
    assert released["TOWN"].equals(PEOPLE["TOWN"])


def test_what_pandas_frames_and_the_disk_need_is_always_installed():
    """Pyarrow is required, no extra asks for it again, and the extra `disk` is still a name."""
    assert any(one.startswith("pyarrow>=") for one in DECLARED["dependencies"])
    extras = DECLARED["optional-dependencies"]
    assert not [one for listed in extras.values() for one in listed if one.startswith("pyarrow")]
    assert extras["disk"] == extras["report"] == []
