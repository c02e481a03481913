"""A folder of wheels from which microveil installs on a machine without a network.

``make wheelhouse`` calls it. The folder holds the project's wheel, those of everything that it
needs on the machine it is meant for, ``requirements.txt`` with their hashes and ``SHA256SUMS``.

pip chooses versions, but it judges conditions such as ``sys_platform == "win32"`` by the machine
it runs on. What the other machine needs beside is therefore looked for here, and what it does not
need is left out.
"""

import argparse
import hashlib
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from email.message import Message
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

# By the first word of a platform's tag: what its Python says of itself.
SYSTEMS: Mapping[str, Mapping[str, str]] = {
    "win": {"os_name": "nt", "sys_platform": "win32", "platform_system": "Windows"},
    "macosx": {"os_name": "posix", "sys_platform": "darwin", "platform_system": "Darwin"},
    "manylinux": {"os_name": "posix", "sys_platform": "linux", "platform_system": "Linux"},
}
# By the end of a platform's tag.
MACHINES = {"amd64": "AMD64", "arm64": "arm64", "x86_64": "x86_64", "aarch64": "aarch64"}


class WheelhouseError(Exception):
    """What was asked for cannot be gathered."""


@dataclass(frozen=True)
class Target:
    """The machine that the wheels are for.

    Parameters
    ----------
    platforms
        Tags of wheels, such as ``win_amd64``; of one system and one kind of processor. None: this
        machine.
    python
        Version of Python, such as ``3.12``. None: the one that runs this.

    Examples
    --------
    >>> Target(("win_amd64",), "3.12").environment()["sys_platform"]
    'win32'
    """

    platforms: tuple[str, ...] = ()
    python: str | None = None

    def environment(self) -> dict[str, str]:
        """Return what markers of requirements are judged by there.

        Raises
        ------
        WheelhouseError
            A platform whose system or processor is not known here.
        """
        found = {name: str(value) for name, value in default_environment().items()}
        if self.python:
            full = self.python if self.python.count(".") > 1 else f"{self.python}.0"
            found |= {"python_version": ".".join(full.split(".")[:2]), "python_full_version": full}
        if not self.platforms:
            return found
        tag = self.platforms[0]
        system = next((said for word, said in SYSTEMS.items() if tag.startswith(word)), None)
        machine = next((said for word, said in MACHINES.items() if tag.endswith(word)), None)
        if system is None or machine is None:
            raise WheelhouseError(
                f"A platform is the tag of a wheel that begins with {', '.join(SYSTEMS)} and ends "
                f"with {', '.join(MACHINES)}, not {tag!r}: see docs/install.md."
            )
        return found | dict(system) | {"platform_machine": machine}

    def flags(self) -> list[str]:
        """Return the flags of ``pip download`` that ask for wheels of that machine."""
        flags = ["--only-binary=:all:"]
        for platform in self.platforms:
            flags += ["--platform", platform]
        return [*flags, "--python-version", self.python] if self.python else flags


@dataclass(frozen=True)
class Wheel:
    """A wheel as a file, with what it says of itself."""

    path: Path
    metadata: Message

    @classmethod
    def read(cls, path: Path) -> "Wheel":
        """Read a wheel's metadata."""
        with ZipFile(path) as archive:
            name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
            return cls(path, Parser().parsestr(archive.read(name).decode()))

    @property
    def name(self) -> NormalizedName:
        """Name of the package, in the form that names are compared in."""
        return canonicalize_name(self.metadata["Name"])

    @property
    def version(self) -> str:
        """Version of the package."""
        return str(self.metadata["Version"])

    @property
    def extras(self) -> set[str]:
        """Names of the extras that it declares."""
        return set(self.metadata.get_all("Provides-Extra", []))

    @property
    def sha256(self) -> str:
        """Hash of the file, in hexadecimal."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()

    def requirements(self, extras: Iterable[str], there: Mapping[str, str]) -> list[Requirement]:
        """Return what it needs with these extras where markers are judged by `there`."""
        declared = map(Requirement, self.metadata.get_all("Requires-Dist", []))
        return [
            need
            for need in declared
            if need.marker is None
            or any(need.marker.evaluate({**there, "extra": extra}) for extra in ["", *extras])
        ]


def wheels_in(folder: Path) -> dict[NormalizedName, Wheel]:
    """Return the wheels of a folder by their packages' names."""
    return {wheel.name: wheel for wheel in map(Wheel.read, sorted(folder.glob("*.whl")))}


def needed(
    project: Wheel,
    extras: Iterable[str],
    wheels: Mapping[NormalizedName, Wheel],
    there: Mapping[str, str],
) -> tuple[set[NormalizedName], list[Requirement]]:
    """Follow requirements from the project's wheel on.

    Returns
    -------
    tuple
        The names of all that is needed, and the requirements that no wheel of them meets.
    """
    reached: dict[NormalizedName, set[str]] = {project.name: set(extras)}
    missing: dict[str, Requirement] = {}
    waiting = [project.name]
    while waiting:
        name = waiting.pop()
        for need in wheels[name].requirements(reached[name], there):
            other = canonicalize_name(need.name)
            wheel = wheels.get(other)
            if wheel is None or Version(wheel.version) not in need.specifier:
                missing[str(need)] = need
            elif other not in reached or not need.extras <= reached[other]:
                reached[other] = reached.get(other, set()) | need.extras
                waiting.append(other)
    return set(reached), list(missing.values())


def gather(wheel: Path, extras: Sequence[str], target: Target, folder: Path) -> list[Wheel]:
    """Fill a folder with the wheels that are needed, and no others.

    Costs what pip downloads.

    Raises
    ------
    WheelhouseError
        An extra that is not declared, a folder that holds something, or a requirement of which
        there is no wheel for the target.
    """
    there, project = target.environment(), Wheel.read(wheel)
    unknown = sorted(set(extras) - project.extras)
    if unknown:
        raise WheelhouseError(
            f"No extra is called {', '.join(unknown)}. "
            f"There are: {', '.join(sorted(project.extras))}."
        )
    if folder.exists() and any(folder.iterdir()):
        raise WheelhouseError(f"The folder must be empty or new: {folder}.")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / wheel.name).write_bytes(wheel.read_bytes())
    before: set[str] = set()
    while True:
        wheels = wheels_in(folder)
        names, missing = needed(project, extras, wheels, there)
        if not missing:
            break
        if before == {*map(str, missing)}:
            raise WheelhouseError(f"No wheel meets {', '.join(sorted(before))}.")
        before = {*map(str, missing)}
        _download(missing, [wheels[n] for n in names if n != project.name], target, folder)
    for name, found in wheels.items():
        if name not in names:
            found.path.unlink()
    return [wheels[name] for name in sorted(names)]


def _download(
    needs: Iterable[Requirement], kept: Iterable[Wheel], target: Target, folder: Path
) -> None:
    """Have pip download what meets requirements, beside wheels that stay as they are."""
    pinned = [f"{wheel.name}=={wheel.version}" for wheel in kept]
    asked = [_without_marker(need) for need in needs]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(folder)]
    done = subprocess.run([*command, *target.flags(), *pinned, *asked], check=False)
    if done.returncode:
        raise WheelhouseError("pip found no wheel of what is needed: see its message above.")


def _without_marker(need: Requirement) -> str:
    extras = f"[{','.join(sorted(need.extras))}]" if need.extras else ""
    return f"{need.name}{extras}{need.specifier}"


def write_lists(wheels: Iterable[Wheel], project: NormalizedName, extras: Sequence[str]) -> None:
    """Write the hashes beside the wheels: for pip, and for programs that check files.

    pip reads ``requirements.txt`` with ``--require-hashes`` and then installs these files only.
    """
    lines, sums = [], []
    for wheel in wheels:
        asked = f"[{','.join(extras)}]" if wheel.name == project and extras else ""
        lines.append(f"{wheel.name}{asked}=={wheel.version} --hash=sha256:{wheel.sha256}\n")
        sums.append(f"{wheel.sha256}  {wheel.path.name}\n")
        folder = wheel.path.parent
    (folder / "requirements.txt").write_text("".join(lines), encoding="utf-8", newline="\n")
    (folder / "SHA256SUMS").write_text("".join(sums), encoding="utf-8", newline="\n")


def _words(text: str) -> list[str]:
    return text.replace(",", " ").split()


def main(arguments: Sequence[str] | None = None) -> int:
    """Gather a wheelhouse as the command line asks, and say what is in it."""
    parser = argparse.ArgumentParser(description="Gather wheels for a machine without a network.")
    parser.add_argument("wheel", type=Path, help="the project's wheel")
    parser.add_argument("folder", type=Path, help="where to; empty or new")
    parser.add_argument("--extras", default="", help="extras to include, between commas")
    parser.add_argument("--platform", default="", help="tags of the other machine, as win_amd64")
    parser.add_argument("--python", default="", help="version of Python there, as 3.12")
    asked = parser.parse_args(arguments)
    extras = sorted(_words(asked.extras))
    target = Target(tuple(_words(asked.platform)), asked.python or None)
    try:
        wheels = gather(asked.wheel, extras, target, asked.folder)
    except WheelhouseError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    write_lists(wheels, Wheel.read(asked.wheel).name, extras)
    size = sum(wheel.path.stat().st_size for wheel in wheels) / 1e6
    sys.stdout.write(f"{asked.folder}: {len(wheels)} wheels, {size:.0f} MB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
