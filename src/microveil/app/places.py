"""What the page may open: files below the folder that it was started for, and files named then."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from microveil.errors import FileError
from microveil.files.disk import OF_WINDOWS, written_new
from microveil.files.formats import files_of_folder, format_of
from microveil.text import readable

_IS_WINDOWS = os.name == "nt"


@dataclass(frozen=True, slots=True)
class Listing:
    """What is in a folder and can be opened, sorted by name."""

    folders: tuple[str, ...]
    files: tuple[str, ...]
    n_unshowable: int = 0


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder that the page was started for; it opens and writes nothing outside of it."""

    root: Path
    given: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        root = _resolved(self.root, f"{self.root}")
        if not root.is_dir():
            rule = "microveil app must be started for a folder, and this is a file"
            raise FileError(_shown(f"{self.root}"), rule, "name the folder around it")
        object.__setattr__(self, "root", root)
        object.__setattr__(self, "given", tuple(_resolved(p, f"{p}") for p in self.given))

    def listing(self, relative: str = "") -> Listing:
        """List what can be opened in a folder, without hidden files and links that lead out."""
        place = self.resolve(relative)
        if not place.is_dir():
            raise FileError(_shown(relative), "this must be a folder", "go back to its folder")
        folders, files, n_unshowable = [], [], 0
        for name in _names(place, relative):
            if not _is_text(name):
                n_unshowable += 1
                continue
            try:
                found = self.resolve(f"{relative}/{name}" if relative else name)
            except FileError:
                continue
            if not found.is_dir():
                files += [name] if _can_be_opened(found, name) else []
            elif _is_table(found):
                files.append(name)
            else:
                folders.append(name)
        return Listing(tuple(folders), tuple(files), n_unshowable)

    def resolve(self, relative: str) -> Path:
        """Return the file or folder of a path, without any link in it.

        What is opened must be the path returned: the links that were looked at are not followed
        again. What remains is that somebody who may write below `root` puts a link in the place
        of one of its folders between this call and the opening.
        """
        if _is_text(relative) and "\0" not in relative and Path(relative).is_absolute():
            named = Path(os.path.realpath(relative))
            if named in self.given:
                return _resolved(named, relative)
        return _resolved(self._below(relative, _steps(relative)), relative)

    def place_for(self, name: str) -> Path:
        """Return where a new folder of a release, or a new recipe, is to be written."""
        steps = _steps(name)
        if not steps:
            raise FileError("name", "what is written must have a name", "enter one")
        around = _resolved(self._below(name, steps[:-1]), name)
        if not around.is_dir():
            raise FileError(_shown(name), "the folder around it must be a folder", "choose another")
        place = around / steps[-1]
        for taken in (place, place.with_name(f"{place.name}-custodian")):
            if os.path.lexists(taken):
                raise _taken(name, taken.name)
        return place

    def write_new(self, name: str, text: str) -> Path:
        """Write a new file, whole or not at all; nothing is overwritten, and no link followed."""
        place = self.place_for(name)
        written_new(place, text)
        return place

    def _below(self, place: str, steps: list[str]) -> Path:
        """Follow the links of a path, and see that it stays below the root."""
        found = Path(os.path.realpath(self.root.joinpath(*steps)))
        if not found.is_relative_to(self.root):
            rule = "a link must not lead out of the folder that microveil app was started for"
            raise FileError(_shown(place), rule, "start it for the folder that holds the file")
        _check_steps(place, found.relative_to(self.root).parts)
        return found


def _steps(path: str) -> list[str]:
    """Return the names of which a path is made, if it leads downwards."""
    if not _is_text(path) or "\0" in path:
        raise FileError("path", "a path must be text without NUL", "choose a file from the list")
    steps = path.replace("\\", "/").split("/") if _IS_WINDOWS else path.split("/")
    if path == "":
        return []
    if path[0] == "/" or Path(path).is_absolute() or ".." in steps:
        rule = "a path must lead downwards, from the folder that microveil app was started for"
        raise FileError(_shown(path), rule, "start it for the folder that holds the file")
    steps = [step for step in steps if step not in {"", "."}]
    _check_steps(path, steps)
    return steps


def _check_steps(path: str, steps: list[str] | tuple[str, ...]) -> None:
    for step in steps:
        if step.startswith("."):
            rule = "names that begin with a point are hidden, and not opened here"
            raise FileError(_shown(path), rule, "give it another name")
        if _IS_WINDOWS and OF_WINDOWS.fullmatch(step):
            rule = "the name must be one that Windows has for files, and none of its devices"
            raise FileError(_shown(path), rule, "give the file another name")


def _resolved(path: Path, place: str) -> Path:
    """Return a file or folder that is there, links followed; no pipe, socket or device."""
    try:
        found = Path(os.path.realpath(path, strict=True))
        mode = found.stat().st_mode
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno or 0) if isinstance(error, OSError) else "no path"
        rule = f"it must be there for you to read, and the system says: {reason}"
        raise FileError(_shown(place), rule, "check its name and its rights") from None
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        rule = "this must be a file or a folder, and it is a pipe or a device"
        raise FileError(_shown(place), rule, "choose a file")
    return found


def _names(place: Path, relative: str) -> Iterator[str]:
    try:
        names = [name for name in os.listdir(place) if not name.startswith(".")]  # noqa: PTH208
    except OSError as error:
        rule = f"the folder must be readable for you, and the system says: {error.strerror}"
        raise FileError(_shown(relative), rule, "check its rights") from None
    yield from sorted(names, key=lambda name: (name.casefold(), name))


def _can_be_opened(path: Path, name: str) -> bool:
    """Whether a file is a table or a recipe, by the name that it is opened by."""
    if path.suffix.lower() == ".toml" and name.lower().endswith(".toml"):
        return True
    try:
        format_of(path)
    except FileError:
        return False
    return True


def _is_table(folder: Path) -> bool:
    """Whether a folder holds one table, in files of Parquet."""
    try:
        return bool(files_of_folder(folder))
    except OSError:
        return False


def _is_text(name: object) -> bool:
    """Whether it can be written in UTF-8, as pages are: a file's name may be any bytes."""
    try:
        return isinstance(name, str) and bool(name.encode() or True)
    except UnicodeEncodeError:
        return False


def _taken(name: str, taken: str) -> FileError:
    rule = f"nothing is overwritten, and {_shown(taken)} is there already"
    return FileError(_shown(name), rule, "choose another name")


def _shown(path: str) -> str:
    return readable(path.encode("utf-8", "replace").decode()) or "."
