"""What a desk with Windows needs and Linux can show: modules, names, line ends, characters."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import microveil as mv
import windows
from microveil.errors import FileError
from microveil.files import disk
from microveil.files.address import address_of
from microveil.files.folders import check_absent
from microveil.ledger import read_ledger

# The tests' own folder, which a new process does not know.
HIDDEN = f"import sys; sys.path.insert(0, {str(Path(windows.__file__).parent)!r}); import windows; "
AS_WINDOWS = HIDDEN + "windows.hide(); from microveil.{} import main; main()"
REQUEST = (
    *("--method", "dp-um", "--k", "5", "--epsilon", "1"),
    *("--attributes", "AGE", "--bounds", "AGE=0:120"),
)  # fmt: skip
RECIPE = {
    "microveil": "0.2", "method": "dp-um", "k": 5, "epsilon": 1.0,
    "attributes": {"AGE": {"role": "confidential", "type": "whole number", "bounds": [0, 120]}},
}  # fmt: skip


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with people.csv."""
    folder = tmp_path_factory.mktemp("desk")
    mv.invented_people(60, seed=1).write_csv(folder / "people.csv")
    return folder


def as_windows(module, *arguments, folder, **options):
    code = [sys.executable, "-c", AS_WINDOWS.format(module), *arguments]
    return subprocess.run(
        code, cwd=folder, capture_output=True, text=True, check=False, timeout=300, **options
    )


def test_the_main_commands_run_without_what_windows_lacks(desk):
    """From a look at the table to two counted releases, their assessment and a comparison."""
    protected = ("protect", "people.csv", *REQUEST, "--population", "people", "-o")
    commands = [
        ("inspect", "people.csv", "-o", "recipe.toml"),
        (*protected, "first"),
        (*protected, "second"),
        (*protected, "second", "--overwrite"),
        ("assess", "people.csv", "second"),
        ("audit", "people.csv", *REQUEST),
        ("compare", "people.csv", "--methods", "dp-um", "--k", "5", "--epsilon", "1", "--runs",
         "2", "--attributes", "AGE", "--bounds", "AGE=0:120", "-o", "compared"),
    ]  # fmt: skip
    for command in commands:
        done = as_windows("cli", *command, folder=desk)
        assert done.returncode == 0, (command, done.stderr)
    book = read_ledger(desk / "microveil-ledger.jsonl")
    assert book.totals("people")["n_releases"] == 3
    assert (desk / "second" / "data.csv").read_bytes().count(b"\n") == 61
    assert (desk / "compared" / "results.parquet").exists()


def test_access_that_follows_the_folder_is_said(desk):
    """Windows has no modes: who releases there hears that the custodian's folder is as open."""
    done = as_windows("cli", "protect", "people.csv", *REQUEST, "-o", "said", folder=desk)
    assert "whoever may open the folder around it may open it too" in done.stdout


def test_the_page_releases_without_what_windows_lacks(desk):
    """A draft's task is carried out by a process of its own, which nobody forks."""
    task = {
        "task": "protect",
        "path": f"{desk / 'people.csv'}",
        "recipe": RECIPE,
        "folder": f"{desk / 'of-a-draft'}",
        "options": {"linkage": False},
    }
    with subprocess.Popen(
        [sys.executable, "-c", AS_WINDOWS.format("app.worker")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as worker:
        worker.stdin.write(f"{json.dumps(task)}\n")
        worker.stdin.flush()
        said = [json.loads(line) for line in worker.stdout]
        worker.stdin.close()
    assert "result" in said[-1], said[-1]
    assert (desk / "of-a-draft" / "guarantee.json").exists()


def test_a_task_ends_when_nobody_waits_for_it_as_windows_has_it(desk):
    """Its input closes: it interrupts itself, and no process is killed for it."""
    task = {
        "task": "protect",
        "path": f"{desk / 'people.csv'}",
        "recipe": RECIPE,
        "folder": f"{desk / 'nobody-waits'}",
        "options": {},
    }
    worker = as_windows("app.worker", folder=desk, input=f"{json.dumps(task)}\n")
    assert json.loads(worker.stdout.splitlines()[-1]) == {"cancelled": True}
    assert worker.returncode == 130
    assert not (desk / "nobody-waits").exists()


def test_what_is_hidden_is_hidden_from_microveil_alone():
    """The tests above can fail: a module that asks for what is missing is refused."""
    code = (
        f"{HIDDEN}windows.hide(); import fcntl\n"
        "ours = {'__name__': 'microveil.trial'}\n"
        "for line in ('import fcntl', 'import os; os.fork', 'from signal import SIGKILL'):\n"
        "    try: exec(line, ours)\n"
        "    except (ImportError, AttributeError): print('refused')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["refused"] * 3


@pytest.mark.parametrize(
    "name",
    ["CON", "nul", "Prn.txt", "com1", "LPT9.csv", "a:b", "a<b", "a|b", "what?", "a*", "a.", "a "],
)
def test_a_name_that_windows_has_no_file_for_is_refused_there(name, tmp_path, monkeypatch):
    """With what to do about it, and before any work; elsewhere it is a name like others."""
    check_absent(tmp_path / name, overwrite=False)
    monkeypatch.setattr(disk, "os", windows.Seen(os, [], name="nt"))
    with pytest.raises(FileError, match="choose another name"):
        check_absent(tmp_path / name, overwrite=False)
    check_absent(tmp_path / "console", overwrite=False)


@pytest.mark.parametrize("path", [r"C:\data\people.csv", "C:/data/people.csv", "c://people.csv"])
def test_a_drive_is_no_scheme(path):
    """A path with the letter of a drive is a file's."""
    address = address_of(path)
    assert (address.scheme, address.location) == ("file", path)


def test_a_table_on_a_drive_is_named_as_elsewhere():
    """What stands behind the ? is the table."""
    address = address_of(r"C:\data\people.db?table=people")
    assert (address.location, address.table) == (r"C:\data\people.db", "people")


def test_no_file_of_a_release_is_named_by_a_column(tmp_path):
    """Columns may be called what no file may, and differ in case alone."""
    names = ["Age", "age", "CON", "a:b", "x.", "<|>"]
    table = {name: np.arange(9) for name in names}
    release = mv.protect(
        table, method="laplace", epsilon=9, attributes=names, bounds=dict.fromkeys(names, (0, 9))
    )
    release.write(tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} <= {
        "data.csv", "guarantee.json", "guarantee.md", "columns.json"
    }  # fmt: skip


def test_every_text_is_written_with_the_same_line_ends():
    """Whoever opens a file for text says which: Windows has others by itself."""
    texts = []
    for path in Path(mv.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and _writes_text(node):
                texts.append(path.name)
                assert "newline" in {key.arg for key in node.keywords}, (path, node.lineno)
    assert len(texts) >= 4


def _writes_text(call):
    """Whether a call writes a text, or opens a file for one."""
    name = getattr(call.func, "attr", getattr(call.func, "id", None))
    modes = [
        arg.value
        for arg in call.args
        if isinstance(arg, ast.Constant) and arg.value in ("w", "x", "a", "w+", "a+")
    ]
    return name == "write_text" or (name in ("open", "fdopen") and bool(modes))


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_characters_that_a_console_lacks_are_escaped(encoding, tmp_path):
    """No command ends because a column's name cannot be shown, and JSON stays JSON."""
    name = "Größe→é"
    (tmp_path / "people.csv").write_text(
        f"{name}\n" + "\n".join(map(str, range(20, 60))), "utf-8", newline="\n"
    )
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    asked = ("protect", "people.csv", "--method", "laplace", "--epsilon", "9")
    asked = (*asked, "--attributes", name, "--bounds", f"{name}=0:120")
    for number, flags in enumerate(((), ("--json",))):
        done = subprocess.run(
            [sys.executable, "-m", "microveil", *asked, "-o", f"out{number}", *flags],
            cwd=tmp_path, capture_output=True, check=False, env=environment,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.decode(encoding))
    assert [*said["guarantee"]["attributes"]] == [name]
