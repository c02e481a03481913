"""What a wheelhouse must hold is found by following requirements as the other machine has them."""

import hashlib
from zipfile import ZipFile

import pytest

import wheelhouse
from wheelhouse import Target, WheelhouseError

WINDOWS = Target(("win_amd64",), "3.12")
LINUX = Target(("manylinux_2_28_x86_64", "manylinux2014_x86_64"), "3.14")


def wheel(folder, name, version="1.0", needs=(), extras=()):
    """Write a wheel with nothing in it but what it says of itself."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    said = [f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}"]
    said += [f"Requires-Dist: {need}" for need in needs]
    said += [f"Provides-Extra: {extra}" for extra in extras]
    with ZipFile(path, "w") as archive:
        archive.writestr(f"{name}-{version}.dist-info/METADATA", "\n".join(said) + "\n\n")
    return path


@pytest.fixture
def offered(tmp_path, monkeypatch):
    """Wheels that pip would find; it reads markers as a machine of Linux and Python 3.11 does."""
    folder = tmp_path / "offered"
    folder.mkdir()
    wheel(
        folder,
        "project",
        needs=["click", "page; extra == 'app'", "old; python_version < '3.14' and extra == 'app'"],
        extras=["app", "test"],
    )
    wheel(
        folder, "click", needs=["colours; platform_system == 'Windows'", "posix; os_name != 'nt'"]
    )
    wheel(folder, "page", needs=["templates[fast]>=2"])
    wheel(folder, "templates", "2.1", needs=["speedups; extra == 'fast'"], extras=["fast"])
    for name in ("colours", "posix", "old", "speedups"):
        wheel(folder, name)
    asked = []

    def download(needs, kept, target, place):
        asked.append(target.flags())
        kept_there = {found.name for found in kept}
        for need in needs:
            for path in folder.glob(f"{need.name}-*.whl"):
                assert need.name not in kept_there
                (place / path.name).write_bytes(path.read_bytes())
        (place / "posix-1.0-py3-none-any.whl").write_bytes(  # what pip takes by its own machine
            (folder / "posix-1.0-py3-none-any.whl").read_bytes()
        )

    monkeypatch.setattr(wheelhouse, "_download", download)
    return folder


def gathered(offered, target, extras=("app",)):
    project = next(offered.glob("project-*.whl"))
    folder = offered.parent / "wheelhouse"
    wheels = wheelhouse.gather(project, extras, target, folder)
    assert {found.path for found in wheels} == set(folder.iterdir())
    return {found.name for found in wheels}


def test_all_that_the_other_machine_needs_is_gathered_and_nothing_else(offered):
    """Markers are judged by the machine the wheels are for, however deep they stand."""
    there = gathered(offered, WINDOWS)
    assert there == {"project", "click", "colours", "page", "templates", "speedups", "old"}


def test_a_requirement_that_no_wheel_meets_is_an_error(offered):
    """A wheelhouse is complete or is none."""
    next(offered.glob("templates-*.whl")).unlink()
    wheel(offered, "templates", "1.9", extras=["fast"])
    with pytest.raises(WheelhouseError, match=r"No wheel meets templates\[fast\]>=2"):
        gathered(offered, LINUX)


def test_each_wheel_is_listed_with_its_hash(offered):
    """Once for pip, pinned, the project with its extras; once for programs that check files."""
    folder = offered.parent / "wheelhouse"
    gathered(offered, LINUX)
    wheels = list(wheelhouse.wheels_in(folder).values())
    wheelhouse.write_lists(wheels, "project", ["app"])
    sums = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.whl")
    }
    listed = (folder / "SHA256SUMS").read_text().splitlines()
    assert dict(line.split("  ")[::-1] for line in listed) == sums
    pinned = (folder / "requirements.txt").read_text().splitlines()
    project = sums["project-1.0-py3-none-any.whl"]
    assert f"project[app]==1.0 --hash=sha256:{project}" in pinned
    assert len(pinned) == len(sums)
