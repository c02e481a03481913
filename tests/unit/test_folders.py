"""What files.folders promises: a release appears whole or not at all."""

import errno
import os
import stat
import subprocess
import sys
import traceback

import polars as pl
import pytest

import microveil as mv
from microveil.errors import FileError
from microveil.files import disk, folders
from microveil.files.folders import check_absent, write_folders
from microveil.files.text import TextFormat
from microveil.files.writing import write_data

# For N = 1, 2, ...: in a child, kill the process before the N-th call that changes the disk
# (before a write, after half of it), in a fresh copy of the template; until a child survives.
DRIVER = """
import os, shutil, signal, sys
from itertools import count
from pathlib import Path
import polars as pl
# What writing would import is imported here, once and not in every child.
from microveil.files import csv_format, folders, parquet_format
from microveil.files.folders import write_folders
from microveil.files.text import TextFormat
from microveil.files.writing import write_data

def make_deadly(fatal):
    calls = count(1)

    def deadly(module, name):
        original = getattr(module, name)
        def wrapped(*args, **kwargs):
            if next(calls) == fatal:
                if name == "write":
                    original(args[0], bytes(args[1])[: len(args[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*args, **kwargs)
        setattr(module, name, wrapped)

    changing = "open write fsync mkdir rename replace chmod unlink rmdir"
    for name in changing.split():
        deadly(os, name)
    deadly(folders, "rename_new")

def fill(public, custodian):
    frame = pl.DataFrame({"A": range(100)})
    write_data(frame, public / "data.csv", text=TextFormat())
    write_data(frame, public / "data.parquet", text=None)
    for path in (public / "guarantee.json", custodian / "manifest.json"):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
        os.write(descriptor, b"new" * 100)
        os.close(descriptor)

def killed_at(fatal, parent, overwrite):
    place = parent / f"run{fatal}"
    shutil.copytree(parent / "template", place)
    child = os.fork()
    if child == 0:
        make_deadly(fatal)
        try:
            write_folders(place / "r", fill, overwrite=overwrite)
        except BaseException:
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if not os.WIFSIGNALED(status) and os.waitstatus_to_exitcode(status):
        sys.exit(1)
    return os.WIFSIGNALED(status)

for parent, overwrite in ((Path(sys.argv[1]), False), (Path(sys.argv[2]), True)):
    fatal = 1
    while killed_at(fatal, parent, overwrite):
        fatal += 1
"""
RECORDS = "A\n" + "".join(f"{i}\n" for i in range(100))


def fill(public, custodian):
    (public / "guarantee.json").write_text("new")
    (custodian / "manifest.json").write_text("new")


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "release"


@pytest.fixture
def old(folder):
    write_folders(
        folder,
        lambda public, custodian: (
            (public / "guarantee.json").write_text("old"),
            (custodian / "manifest.json").write_text("old"),
        ),
        overwrite=False,
    )
    return folder, folder.with_name("release-custodian")


def state(folder, mark):
    """Tell an absent folder, the old one and the new one; anything else is broken."""
    if not folder.exists():
        return "absent"
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    if files == {mark: b"old"}:
        return "old"
    assert files[mark] == b"new" * 100
    if mark == "guarantee.json":
        assert sorted(files) == ["data.csv", "data.parquet", mark]
        assert files["data.csv"].decode() == RECORDS
        assert files["data.parquet"].endswith(b"PAR1")
    else:
        assert list(files) == [mark]
    return "new"


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """Two folders: writing was killed at each call, up to a run that ends; new, and over old."""
    parent = tmp_path_factory.mktemp("killed")
    for place, is_old in (("new", False), ("old", True)):
        template = parent / place / "template"
        template.mkdir(parents=True)
        for name, mark in (("r", "guarantee.json"), ("r-custodian", "manifest.json")):
            if is_old:
                (template / name).mkdir()
                (template / name / mark).write_text("old")
    command = [sys.executable, "-c", DRIVER, parent / "new", parent / "old"]
    subprocess.run(command, check=True, capture_output=True)
    return parent


def states_in(parent):
    """Give the states of both folders after a kill at each call."""
    states = []
    places = sorted(parent.glob("run*"), key=lambda place: int(place.name[3:]))
    for place in places:
        public, custodian = place / "r", place / "r-custodian"
        states.append((state(public, "guarantee.json"), state(custodian, "manifest.json")))
        hidden = [path for path in place.iterdir() if path.name.startswith(".")]
        assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in hidden)
    assert len(states) > 20
    assert states[-1] == ("new", "new")
    return states


def test_a_kill_at_any_write_leaves_each_folder_whole_or_absent(killed):
    """Killed before any call that changes the disk, nothing half is found; custodian first."""
    states = states_in(killed / "new")
    assert set(states) == {("absent", "absent"), ("absent", "new"), ("new", "new")}


def test_a_kill_while_overwriting_never_pairs_an_old_release_with_a_new_custodian(killed):
    """Killed at any call, each folder is whole or absent and old and new never stand together."""
    states = states_in(killed / "old")
    assert {("old", "old"), ("new", "new")} < set(states)
    assert not {("old", "new"), ("new", "old"), ("new", "absent")} & set(states)


def test_both_folders_appear_and_nothing_else(folder):
    """A release is two folders; no hidden one stays behind."""
    public, custodian = write_folders(folder, fill, overwrite=False)
    assert (public, custodian) == (folder, folder.with_name("release-custodian"))
    assert contents(public) == {"guarantee.json": "new"}
    assert contents(custodian) == {"manifest.json": "new"}
    assert sorted(folder.parent.iterdir()) == [public, custodian]


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o277, 0o777])
def test_only_the_owner_can_open_the_custodians_folder_under_any_umask(folder, umask):
    """The custodian's folder has mode 0700 from the start, the public one follows the umask."""
    modes = []

    def look(public, custodian):
        modes.append([stat.S_IMODE(p.stat().st_mode) for p in (custodian, custodian.parent)])
        fill(public, custodian)

    before = os.umask(umask)
    try:
        public, custodian = write_folders(folder, look, overwrite=False)
    finally:
        os.umask(before)
    assert modes == [[0o700, 0o700]]
    assert stat.S_IMODE(custodian.stat().st_mode) == 0o700
    assert stat.S_IMODE(public.stat().st_mode) == (0o777 & ~umask) | 0o700


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, FileError])
def test_an_exception_leaves_everything_as_it_was(folder, error, overwrite):
    """What fill raises is passed on, and no file appears or changes."""

    def fails(public, custodian):
        fill(public, custodian)
        raise error("a", "b", "c")

    with pytest.raises(error):
        write_folders(folder, fails, overwrite=overwrite)
    assert not list(folder.parent.iterdir())


@pytest.mark.parametrize("which", ["public", "custodian"])
@pytest.mark.parametrize("reason", ["disk full", "encoding", "column"])
def test_errors_of_writing_name_the_place_where_the_file_was_to_appear(
    folder, monkeypatch, which, reason
):
    """The hidden folder, which is gone by then, is named in no message."""
    columns = {"disk full": ["x"], "encoding": [f"{SECRET}€"], "column": [[SECRET]]}
    at = folder if which == "public" else folder.with_name("release-custodian")

    def full(*_args):
        raise OSError(errno.ENOSPC, f"{SECRET}", str(folder))

    def fails(public, custodian):
        home = public if which == "public" else custodian
        frame = pl.DataFrame({"A": columns[reason]})
        with monkeypatch.context() as patch:
            if reason == "disk full":
                patch.setattr(os, "fsync", full)
            write_data(frame, home / "data.csv", text=TextFormat(encoding="latin-1"))

    with pytest.raises(FileError) as caught:
        write_folders(folder, fails, overwrite=False)
    named = "" if reason == "disk full" else ", column 'A'"
    assert caught.value.place == f"{at / 'data.csv'}{named}"
    shown = "".join(traceback.format_exception(caught.value))
    assert ".release." not in shown
    assert SECRET not in shown
    assert not list(folder.parent.iterdir())


@pytest.mark.parametrize("fatal", [1, 2, 3, 4])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_failed_rename_brings_the_old_folders_back(old, monkeypatch, fatal, when):
    """An error at any of the renames of an overwriting run undoes the ones before."""
    calls = 0
    original = folders.rename_new

    def rename(source, target):
        nonlocal calls
        calls += 1
        if calls == fatal and when == "before":
            raise OSError(5, SECRET)
        original(source, target)
        if calls == fatal:
            raise KeyboardInterrupt

    monkeypatch.setattr(folders, "rename_new", rename)
    with pytest.raises(FileError if when == "before" else KeyboardInterrupt):
        write_folders(old[0], fill, overwrite=True)
    assert contents(old[0]) == {"guarantee.json": "old"}
    assert contents(old[1]) == {"manifest.json": "old"}
    assert len(list(old[0].parent.iterdir())) == 2


SECRET = "SECRET77"


def test_an_existing_release_is_replaced_only_when_said(old):
    """Without overwrite an existing folder is refused before long work; with it, replaced."""
    for call in (
        lambda: check_absent(old[0], overwrite=False),
        lambda: write_folders(old[0], fill, overwrite=False),
    ):
        with pytest.raises(FileError, match="--overwrite"):
            call()
    write_folders(old[0], fill, overwrite=True)
    assert contents(old[0]) == {"guarantee.json": "new"}
    assert contents(old[1]) == {"manifest.json": "new"}


@pytest.mark.parametrize("taken", ["release", "release-custodian"])
def test_a_folder_that_is_no_release_is_never_replaced(folder, taken):
    """Somebody's folder stays, whatever is said; an empty one may go."""
    home = folder.with_name(taken)
    home.mkdir()
    check_absent(folder, overwrite=True)
    (home / "thesis.txt").write_text("years of work")
    for overwrite in (False, True):
        with pytest.raises(FileError):
            write_folders(folder, fill, overwrite=overwrite)
    assert contents(home) == {"thesis.txt": "years of work"}


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("kind", ["file", "folder", "link", "a release's name"])
def test_a_release_that_somebody_put_something_into_is_not_replaced(old, which, kind):
    """Every entry must be one that a release has; the error names the first that is none."""
    make = {
        "file": lambda path: path.write_text("years of work"),
        "folder": lambda path: path.mkdir(),
        "link": lambda path: path.symlink_to("elsewhere"),
        "a release's name": lambda path: path.with_name("report.html").mkdir(),
    }[kind]
    make(old[which] / "thesis.txt")
    named = "report.html" if kind == "a release's name" else "thesis.txt"
    before = [sorted(path.name for path in home.iterdir()) for home in old]
    for call in (
        lambda: check_absent(old[0], overwrite=True),
        lambda: write_folders(old[0], fill, overwrite=True),
    ):
        with pytest.raises(FileError, match=f"not one's: '{named}'; move it") as caught:
            call()
        assert caught.value.place == str(old[which])
    assert [sorted(path.name for path in home.iterdir()) for home in old] == before
    assert (old[0] / "guarantee.json").read_text() == "old"


@pytest.fixture
def in_parts(old):
    """A release whose table is a folder of two files."""
    (old[0] / "data.parquet").mkdir()
    for nth in range(2):
        pl.DataFrame({"A": [nth]}).write_parquet(old[0] / "data.parquet" / f"part-{nth}.parquet")
    return old


def test_a_release_whose_table_is_a_folder_of_files_is_replaced(in_parts):
    """With all of its files; without a word from its owner it stays."""
    with pytest.raises(FileError, match="--overwrite"):
        write_folders(in_parts[0], fill, overwrite=False)
    assert len([*(in_parts[0] / "data.parquet").iterdir()]) == 2
    write_folders(in_parts[0], fill, overwrite=True)
    assert contents(in_parts[0]) == {"guarantee.json": "new"}
    assert len(list(in_parts[0].parent.iterdir())) == 2


@pytest.mark.parametrize("kind", ["another file", "a folder", "a link", "nothing", "a linked part"])
def test_a_folder_of_more_than_the_files_of_a_table_is_not_replaced(in_parts, kind):
    """Somebody's file among them stays, and so does what a link leads to."""
    table = in_parts[0] / "data.parquet"
    part = table / "part-0.parquet"
    if kind in ("a link", "nothing"):
        elsewhere = table.rename(in_parts[0].parent / "elsewhere")
    {
        "another file": lambda: (table / "thesis.txt").write_text("years of work"),
        "a folder": (table / "more.parquet").mkdir,
        "a link": lambda: table.symlink_to(elsewhere),
        "nothing": table.mkdir,
        "a linked part": lambda: (table / "more.parquet").symlink_to(part),
    }[kind]()
    with pytest.raises(FileError, match=r"not one's: 'data\.parquet'"):
        write_folders(in_parts[0], fill, overwrite=True)
    assert (in_parts[0] / "guarantee.json").read_text() == "old"
    assert table.exists()


def test_a_release_of_many_files_is_read_by_its_folder(in_parts):
    """As one of a single file is."""
    assert folders.table_of_release(in_parts[0]) == in_parts[0] / "data.parquet"
    assert mv.read(folders.table_of_release(in_parts[0])).frame["A"].to_list() == [0, 1]
    (in_parts[0] / "data.parquet" / "thesis.txt").write_text("years of work")
    with pytest.raises(FileError, match="its one table"):
        folders.table_of_release(in_parts[0])


def test_what_is_put_into_a_release_meanwhile_is_not_removed(old, monkeypatch):
    """What came between the last check and the rename brings the old folders back."""
    original = folders.rename_new

    def rename(source, target):
        if source == old[1]:
            (source / "thesis.txt").write_text("years of work")
        original(source, target)

    monkeypatch.setattr(folders, "rename_new", rename)
    with pytest.raises(FileError, match=r"thesis\.txt") as caught:
        write_folders(old[0], fill, overwrite=True)
    assert caught.value.place == str(old[1])
    assert contents(old[0]) == {"guarantee.json": "old"}
    assert contents(old[1]) == {"manifest.json": "old", "thesis.txt": "years of work"}
    assert sorted(old[0].parent.iterdir()) == sorted(old)


def test_every_file_of_a_release_may_be_replaced(tmp_path):
    """Of whichever format, with and without reports: what was written can be overwritten."""
    release = mv.protect(pl.DataFrame({"A": [1, 2, 3] * 3}), method="ranking", k=3)
    for format in ("csv", "parquet", "csv"):  # noqa: A001
        home = tmp_path / "release"
        release.write(home, format=format, report="r", public_report="p", overwrite=True)
    assert sorted(os.listdir(home)) == ["data.csv", "guarantee.json", "guarantee.md", "report.html"]


def test_files_and_links_in_the_way_are_refused(folder, tmp_path):
    """A file or a link with the folder's name is never replaced."""
    other = tmp_path / "other"
    other.mkdir()
    for make in (folder.touch, lambda: folder.symlink_to(other), lambda: folder.symlink_to("no")):
        make()
        for overwrite in (False, True):
            with pytest.raises(FileError, match="release"):
                write_folders(folder, fill, overwrite=overwrite)
        folder.unlink()
    assert list(tmp_path.iterdir()) == [other]


@pytest.mark.parametrize("taken", ["release", "release-custodian"])
def test_a_folder_that_appears_meanwhile_is_not_replaced(folder, monkeypatch, taken):
    """An empty folder made between the last check and the rename stays, and no release appears."""
    monkeypatch.setattr(
        folders, "_sync", lambda _path: folder.with_name(taken).mkdir(exist_ok=True)
    )
    monkeypatch.setattr(folders, "check_absent", lambda *_args, **_kwargs: None)
    with pytest.raises(FileError, match="meanwhile"):
        write_folders(folder, fill, overwrite=False)
    assert list(folder.parent.iterdir()) == [folder.with_name(taken)]
    assert not contents(folder.with_name(taken))


def test_without_the_systems_call_existing_names_are_refused_too(tmp_path, monkeypatch):
    """Where the system cannot rename without replacing, the name is looked at first."""

    class Bare:
        def __init__(self, *_args, **_kwargs):
            pass

    monkeypatch.setattr(disk.ctypes, "CDLL", Bare)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with pytest.raises(FileExistsError):
        disk.rename_new(tmp_path / "a", tmp_path / "b")
    disk.rename_new(tmp_path / "a", tmp_path / "c")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "c"]


def test_the_folder_around_must_exist_and_be_writable(tmp_path):
    """A missing, a closed and a nameless place are refused early."""
    with pytest.raises(FileError, match="must exist"):
        check_absent(tmp_path / "no" / "release", overwrite=False)
    with pytest.raises(FileError, match="name"):
        check_absent("/", overwrite=True)
    closed = tmp_path / "closed"
    closed.mkdir(0o500)
    if not os.access(closed, os.W_OK):
        with pytest.raises(FileError, match="writable"):
            check_absent(closed / "release", overwrite=False)


@pytest.mark.parametrize("overwrite", [False, True])
def test_what_is_announced_comes_before_any_change(folder, request, overwrite):
    """The announcement finds everything as it was; if it fails, so it stays."""
    if overwrite:
        request.getfixturevalue("old")
    before = sorted(path.name for path in folder.parent.iterdir())
    seen = []

    def look():
        names = sorted(path.name for path in folder.parent.iterdir())
        staged = [name for name in names if name.startswith(".release.")]
        seen.extend([staged, sorted(set(names) - set(staged))])
        raise FileError("ledger", "it is closed", "open it")

    with pytest.raises(FileError, match="closed"):
        write_folders(folder, fill, overwrite=overwrite, announce=look)
    assert [len(part) for part in seen] == [1, len(before)]
    assert seen[1] == before == sorted(path.name for path in folder.parent.iterdir())
    if overwrite:
        assert contents(folder) == {"guarantee.json": "old"}
