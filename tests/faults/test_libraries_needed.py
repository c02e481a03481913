"""What works with the libraries that pip installs by itself, and no others."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import polars as pl

import microveil as mv
from sas_files import write_sas7bdat, write_xpt

ROOT = Path(__file__).parents[2]
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
ASKED = {"method": "dp-um", "k": 3, "epsilon": 1, "attributes": ["AGE"], "bounds": {"AGE": (0, 99)}}
FLAGS = (
    "--method=dp-um --k=3 --epsilon=1 --attributes=AGE --bounds=AGE=0:99 --resolution=AGE=1 "
    "--keep=TOWN"
)
PEOPLE = pl.DataFrame({"AGE": range(20, 60), "TOWN": ["a", "b"] * 20})
# As where pandas is not installed: each way to import it fails. For all formats in one process.
WITHOUT_PANDAS = """
import sys
sys.modules["pandas"] = None
from microveil.cli import main
for command in map(str.split, sys.stdin):
    sys.argv = ["microveil", *command]
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, command
"""


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


def test_statistical_files_need_no_pandas(tmp_path):
    """SPSS, Stata and SAS files are looked at, released and written where pandas is missing."""
    forms = {"sav": "sav", "dta": "dta", "xpt": "sav", "sas7bdat": "sav"}
    commands = []
    for suffix, form in forms.items():
        (tmp_path / suffix).mkdir()
        save(tmp_path / suffix / f"people.{suffix}")
        commands.append(f"protect {suffix}/people.{suffix} --format {form} -o {suffix}/out {FLAGS}")
    commands.append("inspect sav/people.sav -o recipe.toml")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PANDAS], cwd=tmp_path, input="\n".join(commands),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for suffix, form in forms.items():
        released = mv.read(tmp_path / suffix / "out" / f"data.{form}").frame
        assert released["TOWN"].equals(PEOPLE["TOWN"])


def test_what_pandas_frames_and_the_disk_need_is_always_installed():
    """Pyarrow is required, and no extra asks for it again."""
    assert any(one.startswith("pyarrow>=") for one in DECLARED["dependencies"])
    extras = DECLARED["optional-dependencies"]
    assert not [one for listed in extras.values() for one in listed if one.startswith("pyarrow")]


def test_messages_and_docs_name_the_extras_that_there_are():
    """Errors, templates, docs and the read-me say `microveil[NAME]` of no name of before."""
    said = re.compile(r"(?:microveil[^\s']*|whl\)\")\[([a-z,]+)]|extra=\"(\w+)\"|extra `+(\w+)`")
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.*")]
    texts = [path.read_text("utf-8") for path in pages if path.suffix in {".py", ".md", ".html"}]
    named = [name for text in texts for found in said.findall(text) for name in found if name]
    told = {one for names in named for one in names.split(",")}
    assert told == {"files", "report", "app", "spark"} < {*DECLARED["optional-dependencies"]}
