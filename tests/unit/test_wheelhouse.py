"""What a wheelhouse must hold is found by following requirements as the other machine has them."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

SCRIPT = Path(__file__).parents[2] / "distribution" / "wheelhouse.py"


def wheel(folder, name, version="1.0", needs=(), extras=(), tag="py3-none-any"):
    """Write a wheel with nothing in it but what it says of itself."""
    about = f"{name}-{version}.dist-info"
    said = [f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}"]
    said += [f"Requires-Dist: {need}" for need in needs]
    said += [f"Provides-Extra: {extra}" for extra in extras]
    with ZipFile(folder / f"{name}-{version}-{tag}.whl", "w") as archive:
        archive.writestr(f"{about}/METADATA", "\n".join(said) + "\n\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")


@pytest.fixture
def offered(tmp_path):
    """Wheels that pip finds; what one needs depends on the system, the version and extras."""
    folder = tmp_path / "offered"
    folder.mkdir()
    needs = ["click", "page; extra == 'app'", "old; python_version < '3.14' and extra == 'app'"]
    wheel(folder, "project", needs=needs, extras=["app", "test"])
    of_systems = ["colours; platform_system == 'Windows'", "posix; os_name != 'nt'"]
    wheel(folder, "click", needs=of_systems)
    wheel(folder, "page", needs=["templates[fast]>=2"])
    wheel(folder, "templates", "2.1", needs=["speedups; extra == 'fast'"], extras=["fast"])
    for name in ("posix", "old", "speedups"):
        wheel(folder, name)
    for platform in ("win_amd64", "manylinux_2_28_x86_64", "macosx_14_0_arm64"):
        wheel(folder, "colours", tag=f"py3-none-{platform}")
    return folder


def gathered(offered, *flags, extras="app"):
    """Call the script with an index of the offered wheels alone; return how that ended."""
    kept = {name: said for name, said in os.environ.items() if not name.startswith("PIP_")}
    there = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(offered), "PIP_CONFIG_FILE": os.devnull}
    project, folder = offered / "project-1.0-py3-none-any.whl", offered.parent / "wheelhouse"
    return subprocess.run(
        [sys.executable, SCRIPT, project, folder, f"--extras={extras}", *flags],
        env=kept | there, capture_output=True, text=True, check=False,
    )  # fmt: skip


def held(offered):
    return {path.name.partition("-")[0] for path in (offered.parent / "wheelhouse").glob("*.whl")}


ALWAYS = {"project", "click", "page", "templates", "speedups"}


@pytest.mark.parametrize(
    ("platform", "python", "besides"),
    [
        ("win_amd64", "3.12", {"colours", "old"}),
        ("manylinux_2_28_x86_64,manylinux2014_x86_64", "3.14", {"posix"}),
        ("macosx_14_0_arm64", "3.13", {"posix", "old"}),
    ],
)
def test_all_that_the_other_machine_needs_is_gathered_and_nothing_else(
    offered, platform, python, besides
):
    """Markers are judged by the machine the wheels are for, however deep they stand."""
    done = gathered(offered, f"--platform={platform}", f"--python={python}")
    assert (done.returncode, done.stderr) == (0, "")
    assert held(offered) == ALWAYS | besides
    assert [path.name for path in (offered.parent / "wheelhouse").glob("colours-*")] == [
        f"colours-1.0-py3-none-{platform}.whl" for name in besides if name == "colours"
    ]


def test_a_requirement_that_no_wheel_meets_is_an_error(offered):
    """A wheelhouse is complete or has no list to install from."""
    next(offered.glob("templates-*.whl")).unlink()
    wheel(offered, "templates", "1.9", extras=["fast"])
    done = gathered(offered)
    assert done.returncode == 1
    assert "No matching distribution found for templates" in done.stderr
    assert not (offered.parent / "wheelhouse" / "requirements.txt").exists()


def test_extras_and_platforms_that_there_are_not_are_refused(offered):
    """With those that there are, before pip is called."""
    done = gathered(offered, extras="app,pages")
    assert done.returncode == 2
    assert "no extra is called pages; there are: app, test" in done.stderr
    done = gathered(offered, "--platform=win32", "--python=3.12")
    assert done.returncode == 2
    assert "no platform is called 'win32'" in done.stderr


def test_each_wheel_is_listed_with_its_hash(offered):
    """Once for pip, pinned, the project with its extras; once for programs that check files."""
    assert gathered(offered).stdout.startswith(str(offered.parent / "wheelhouse"))
    folder = offered.parent / "wheelhouse"
    sums = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.glob("*.whl")}
    listed = (folder / "SHA256SUMS").read_text().splitlines()
    assert dict(line.split("  ")[::-1] for line in listed) == sums
    pinned = (folder / "requirements.txt").read_text().splitlines()
    project = sums["project-1.0-py3-none-any.whl"]
    assert f"project[app]==1.0 --hash=sha256:{project}" in pinned
    assert len(pinned) == len(sums)
