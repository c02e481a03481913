"""A process that has as many files open as it may is told so, and not that its table is broken."""

import errno
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from microveil.files.checking import broken

PATH = Path("people.parquet")
HELD = """
import resource
import polars
from microveil.files.parquet_format import outlined
from microveil.errors import FileError
from pathlib import Path

files = []
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
try:
    while True:
        files.append(open("/dev/null"))
except OSError:
    pass
try:
    outlined(Path({path!r}), None)
except FileError as error:
    print(error.rule, error.remedy)
"""


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EMFILE, "Too many open files"),
        pl.exceptions.ComputeError(f"IO error: Too many open files (os error {errno.EMFILE})"),
        pl.exceptions.PanicException("Os { code: 24, kind: TooManyOpenFiles }"),
    ],
)
def test_a_limit_of_open_files_is_told_as_one(error):
    """Whatever a library makes of what the system says."""
    found = broken(PATH, "Parquet", error)
    assert "one more open file" in found.rule
    assert "ulimit -n" in found.remedy


def test_a_whole_file_is_not_called_broken_where_none_can_be_opened(tmp_path):
    """By what the library really says in such a process."""
    path = tmp_path / "people.parquet"
    pl.DataFrame({"AGE": [31, 45]}).write_parquet(path)
    code = HELD.format(path=str(path))
    told = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert "one more open file" in told.stdout, told.stderr
