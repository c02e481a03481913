"""A folder of wheels from which microveil installs on a machine without a network.

``make wheelhouse`` calls it. ``pip download`` gathers the wheels; ``requirements.txt`` with their
hashes and ``SHA256SUMS`` are written beside them.

Whatever ``--platform`` says, pip judges conditions such as ``sys_platform == "win32"`` by the
machine it runs on. It has no setting for that: what its markers take for this machine is replaced.
"""

import argparse
import hashlib
import sys
from collections.abc import Sequence
from importlib.metadata import distributions
from pathlib import Path

from packaging.markers import default_environment
from packaging.utils import parse_wheel_filename

# By the first word of a platform's tag: what Python says there of its system.
SYSTEMS = {
    "win": {"os_name": "nt", "sys_platform": "win32", "platform_system": "Windows"},
    "macosx": {"os_name": "posix", "sys_platform": "darwin", "platform_system": "Darwin"},
    "manylinux": {"os_name": "posix", "sys_platform": "linux", "platform_system": "Linux"},
}
# By the end of a platform's tag.
MACHINES = {"amd64": "AMD64", "arm64": "arm64", "x86_64": "x86_64", "aarch64": "aarch64"}


def environment(platform: str, python: str) -> dict[str, str]:
    """Return what markers are judged by on a machine; without a platform or Python, on this one.

    Examples
    --------
    >>> there = environment("win_amd64", "3.12")
    >>> there["sys_platform"], there["python_full_version"]
    ('win32', '3.12.0')
    """
    found = {name: str(value) for name, value in default_environment().items()}
    if python:
        full = python if python.count(".") > 1 else f"{python}.0"
        found |= {"python_version": ".".join(full.split(".")[:2]), "python_full_version": full}
    if platform:
        found |= next(said for word, said in SYSTEMS.items() if platform.startswith(word))
        machine = next(said for word, said in MACHINES.items() if platform.endswith(word))
        found |= {"platform_machine": machine}
    return found


def download(wanted: str, folder: Path, platforms: Sequence[str], python: str) -> int:
    """Have pip fill a folder with wheels for a machine; return the code that it ends with."""
    from pip._internal.cli.main import main as pip
    from pip._vendor.packaging import markers

    there = environment(platforms[0] if platforms else "", python)
    markers.default_environment = lambda: there
    flags = ["--only-binary=:all:", *(f"--platform={platform}" for platform in platforms)]
    flags += [f"--python-version={python}"] if python else []
    return pip(["download", "--quiet", f"--dest={folder}", *flags, wanted])


def write_lists(project: Path, extras: str) -> None:
    """Write the hashes of all wheels beside one: for pip, and for programs that check files.

    pip reads ``requirements.txt`` with ``--require-hashes`` and then installs these files only.
    """
    lines, sums = [], []
    for path in sorted(project.parent.glob("*.whl")):
        package, version, *_ = parse_wheel_filename(path.name)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        asked = f"[{extras}]" if path == project and extras else ""
        lines.append(f"{package}{asked}=={version} --hash=sha256:{digest}\n")
        sums.append(f"{digest}  {path.name}\n")
    for name, listed in (("requirements.txt", lines), ("SHA256SUMS", sums)):
        (project.parent / name).write_text("".join(listed), encoding="utf-8", newline="\n")


def main() -> int:
    """Gather a wheelhouse as the command line asks, and say what is in it."""
    parser = argparse.ArgumentParser(description="Gather wheels for a machine without a network.")
    parser.add_argument("wheel", type=Path, help="the project's wheel")
    parser.add_argument("folder", type=Path, help="where to; it must not exist")
    parser.add_argument("--extras", default="", help="extras to include, between commas")
    parser.add_argument("--platform", default="", help="tags of the other machine, as win_amd64")
    parser.add_argument("--python", default="", help="version of Python there, as 3.12")
    asked = parser.parse_args()
    platforms = asked.platform.replace(",", " ").split()
    for platform in platforms:
        if not (platform.startswith((*SYSTEMS,)) and platform.endswith((*MACHINES,))):
            parser.error(f"no platform is called {platform!r}: see docs/install.md")
    metadata = next(iter(distributions(path=[str(asked.wheel)]))).metadata
    offered = metadata.get_all("Provides-Extra", [])
    if unknown := {*filter(None, asked.extras.split(","))} - {*offered}:
        parser.error(f"no extra is called {', '.join(unknown)}; there are: {', '.join(offered)}")
    asked.folder.mkdir(parents=True)
    wanted = f"{asked.wheel}[{asked.extras}]" if asked.extras else str(asked.wheel)
    if failed := download(wanted, asked.folder, platforms, asked.python):
        return failed
    write_lists(asked.folder / asked.wheel.name, asked.extras)
    sizes = [path.stat().st_size for path in asked.folder.glob("*.whl")]
    sys.stdout.write(f"{asked.folder}: {len(sizes)} wheels, {sum(sizes) / 1e6:.0f} MB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
