"""Folders that appear whole or not at all.

A release is two folders: FOLDER, which may be published, and FOLDER-custodian, which
may not. Both are filled in a hidden folder beside them that nobody else can open, and
appear by one rename each, the custodian's first. An old release is moved aside before,
FOLDER first. So whenever the process dies, each folder is whole or absent, and an old
FOLDER never stands beside a new FOLDER-custodian.

Only what a release has is ever replaced: a folder with anything else in it is refused,
looked at once more when it was moved aside, and brought back then.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from microveil.errors import FileError, refused_by_system, stands_alone
from microveil.files.disk import check_name, rename_new, synced
from microveil.files.formats import FORMATS
from microveil.files.table_schema import SCHEMA_FILE
from microveil.files.text import quoted

# A folder is one of ours if it holds the file that every release has there, named first, and
# nothing but files that a release may have.
_TABLES = tuple(f"data{entry.suffixes[0]}" for entry in FORMATS.values())
_PUBLIC = (
    *("guarantee.json", "guarantee.md", "report.html", "measurements.json", "margins.json"),
    SCHEMA_FILE,
    *_TABLES,
)
_CUSTODIANS = ("manifest.json", "report.html")
# The table that may be a folder of files, as Spark writes one.
_IN_PARTS = "data.parquet"


@stands_alone
def table_of_release(place: str | Path) -> str | Path:
    """Return the table of a release whose folder is named; any other address as it is."""
    folder = Path(place)
    if not os.path.isdir(place):  # noqa: PTH112 -- a query may be longer than a path can be
        return place
    tables = [
        folder / name for name in _TABLES if (folder / name).is_file() or _in_parts(folder / name)
    ]
    if len(tables) != 1:
        raise FileError(
            f"{folder}",
            "a folder must be that of a release, with its one table in it: data.csv, for example",
            "name the folder that microveil protect wrote, or a file",
        )
    return tables[0]


@stands_alone
def check_absent(folder: str | Path, *, overwrite: bool) -> None:
    """Refuse a place for a release where it could not appear, before long work."""
    targets = _targets(folder)
    parent = targets[0].parent
    if not parent.is_dir():
        rule = "the folder around it must exist"
        raise FileError(str(targets[0]), rule, f"make the folder {parent}")
    if not os.access(parent, os.W_OK | os.X_OK):
        rule = "the folder around it must be writable for you"
        raise FileError(str(targets[0]), rule, "choose another place")
    for target, ours in zip(targets, (_PUBLIC, _CUSTODIANS), strict=True):
        _check_target(target, ours, overwrite=overwrite)


@stands_alone
def write_folders(
    folder: str | Path,
    fill: Callable[[Path, Path], None],
    *,
    overwrite: bool,
    announce: Callable[[], None] = lambda: None,
) -> tuple[Path, Path]:
    """Make the two folders of a release appear whole, or leave everything as it was.

    ``fill`` writes into two empty folders; an error of its own names the file where it was to
    appear. ``announce`` is called when all is on the disk, right before the first folder appears or
    an earlier one goes; if it raises, neither happens.
    """
    check_absent(folder, overwrite=overwrite)
    public, custodian = _targets(folder)
    try:
        staging = Path(tempfile.mkdtemp(prefix=f".{public.name}.", dir=public.parent))
    except OSError as error:
        raise _refused(public, error) from None
    staged = staging / "public", staging / "custodian"
    moves: list[tuple[Path, Path]] = []
    try:
        _make_staged(staging, *staged)
        fill(*staged)
        for path in staged:
            _sync(path)
        # The places may have been taken while the folders were filled.
        check_absent(folder, overwrite=overwrite)
        announce()
        for target, old, ours in (
            (public, "old-public", _PUBLIC),
            (custodian, "old-custodian", _CUSTODIANS),
        ):
            if overwrite and target.exists():
                _move(target, staging / old, moves)
                _check_entries(staging / old, ours, place=target)
        _move(staged[1], custodian, moves)
        _move(staged[0], public, moves)
    except BaseException as error:
        for source, target in reversed(moves):
            if target.exists() and not source.exists():
                rename_new(target, source)
        if isinstance(error, OSError):
            raise _refused(public, error) from None
        if isinstance(error, FileError):  # the hidden place is gone
            place = error.place.replace(str(staged[0]), str(public))
            place = place.replace(str(staged[1]), str(custodian))
            raise FileError(place, error.rule, error.remedy) from None
        raise
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return public, custodian


def _targets(folder: str | Path) -> tuple[Path, Path]:
    path = Path(os.path.abspath(folder))  # noqa: PTH100 - links must not be followed
    if not path.name:
        raise FileError(str(folder), "the folder must have a name", "pass -o FOLDER")
    check_name(path)
    return path, path.with_name(f"{path.name}-custodian")


def _check_target(target: Path, ours: tuple[str, ...], *, overwrite: bool) -> None:
    if not os.path.lexists(target):
        return
    if target.is_symlink() or not target.is_dir():
        rule = "this must be a folder or nothing, and it is a file or a link"
        raise FileError(str(target), rule, "choose another name")
    if not overwrite:
        remedy = "choose another name, or pass --overwrite to replace it"
        raise FileError(str(target), "the folder must not exist yet", remedy)
    _check_entries(target, ours, place=target)


def _check_entries(folder: Path, ours: tuple[str, ...], *, place: Path) -> None:
    """Refuse a folder that is not empty and no release, or holds what no release has."""
    try:
        with os.scandir(folder) as entries:
            files = {
                entry.name: entry.is_file(follow_symlinks=False) or _in_parts(Path(entry.path))
                for entry in entries
            }
    except OSError as error:
        raise _refused(place, error) from None
    if files and ours[0] not in files:
        rule = f"only a release may be overwritten, and the folder holds no {ours[0]}"
        raise FileError(str(place), rule, "choose another name, or empty the folder yourself")
    others = sorted(name for name, is_file in files.items() if name not in ours or not is_file)
    if others:
        rule = (
            "only a release may be overwritten, and the folder holds something that is not one's: "
            f"{quoted(others[0])}"
        )
        raise FileError(str(place), rule, "move it elsewhere, or choose another name")


def _in_parts(place: Path) -> bool:
    """Whether this is the folder of a table in several files: with these alone, and no link."""
    if place.name != _IN_PARTS or place.is_symlink() or not place.is_dir():
        return False
    with os.scandir(place) as entries:
        parts = [
            entry.name.endswith(place.suffix) and entry.is_file(follow_symlinks=False)
            for entry in entries
        ]
    return bool(parts) and all(parts)


def _make_staged(staging: Path, public: Path, custodian: Path) -> None:
    """Make the two folders with the modes they will have, inside one that nobody can open."""
    staging.chmod(0o700)  # a umask may have taken the owner's rights
    public.mkdir()
    public.chmod(public.stat().st_mode | 0o700)
    custodian.mkdir(0o700)
    custodian.chmod(0o700)


def _sync(folder: Path) -> None:
    """Bring a folder and all that is in it to the disk."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            _sync(path)
        else:
            synced(path)
    synced(folder)


def _move(source: Path, target: Path, moves: list[tuple[Path, Path]]) -> None:
    # Booked before it is done: an interrupt may come between the two.
    moves.append((source, target))
    rename_new(source, target)
    for parent in {source.parent, target.parent}:
        synced(parent)


def _refused(place: Path, error: OSError) -> FileError:
    if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
        rule = "the folder must not exist yet, and it appeared meanwhile"
        return FileError(str(place), rule, "choose another name, or pass --overwrite")
    remedy = "check the folder around it, its rights and the space left"
    return refused_by_system(place, "the folder must be writable", error, remedy)
