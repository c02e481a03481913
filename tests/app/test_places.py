"""What the page may open and write: files below its folder, whatever a path tries."""

import os
import socket

import polars as pl
import pytest

from microveil.app import places
from microveil.app.places import Folder
from microveil.errors import FileError
from microveil.files import FORMATS

SECRET = "secret.csv"


@pytest.fixture
def around(tmp_path):
    """A folder for the page, and around it what is not for it."""
    root = tmp_path / "data"
    root.mkdir()
    (tmp_path / SECRET).write_text("AGE\n77\n")
    (tmp_path / "data-of-others").mkdir()
    (tmp_path / "data-of-others" / "people.csv").write_text("AGE\n77\n")
    return tmp_path


@pytest.fixture
def folder(around):
    (around / "data" / "people.csv").write_text("AGE\n31\n")
    (around / "data" / "of 2024").mkdir()
    (around / "data" / "of 2024" / "people.csv").write_text("AGE\n31\n")
    return Folder(around / "data")


def test_what_can_be_opened_is_listed(folder):
    """Every format, recipes and folders of Parquet files, sorted; nothing hidden, no other file."""
    names = [f"{n}{suffix}" for n, form in FORMATS.items() for suffix in form.suffixes]
    for name in (*names, "recipe.toml", "Zoo.CSV", ".hidden.csv", "letter.docx", "toml", "csv"):
        (folder.root / name).touch()
    for name in ("parts", "empty", ".git"):
        (folder.root / name).mkdir()
    pl.DataFrame({"AGE": [31]}).write_parquet(folder.root / "parts" / "1.parquet")
    found = folder.listing()
    assert found.folders == ("empty", "of 2024")
    wanted = {*names, "recipe.toml", "Zoo.CSV", "people.csv", "parts"}
    assert found.files == tuple(sorted(wanted, key=lambda name: (name.casefold(), name)))
    assert folder.listing("of 2024").files == ("people.csv",)
    assert folder.listing("empty") == places.Listing((), ())


def test_what_is_listed_can_be_resolved(folder):
    """Links are listed if they stay inside and lead somewhere, and every name listed resolves."""
    root = folder.root
    (root / "inside.csv").symlink_to("of 2024/people.csv")
    (root / "inside").symlink_to(root / "of 2024")
    (root / "out.csv").symlink_to(root.parent / SECRET)
    (root / "out").symlink_to(root.parent / "data-of-others")
    (root / "nowhere.csv").symlink_to(root / "gone.csv")
    (root / "round.csv").symlink_to(root / "round.csv")
    os.mkfifo(root / "pipe.csv")
    found = folder.listing()
    assert found == places.Listing(("inside", "of 2024"), ("inside.csv", "people.csv"))
    for name in (*found.folders, *found.files):
        assert folder.resolve(name).is_relative_to(root)


def test_a_link_is_followed_once(folder):
    """What is returned has no link in it: turned elsewhere afterwards, it leads nowhere else."""
    link = folder.root / "link"
    link.symlink_to(folder.root / "of 2024")
    found = folder.resolve("link/people.csv")
    link.unlink()
    link.symlink_to(folder.root.parent / "data-of-others")
    assert found == folder.root / "of 2024" / "people.csv"
    assert found.read_text() == "AGE\n31\n"
    with pytest.raises(FileError, match="lead out"):
        folder.resolve("link/people.csv")


def test_names_that_are_no_text_are_counted(folder):
    """A file whose name no page can show is left out, and it is said that it is."""
    with open(os.fsencode(folder.root) + b"/\xff.csv", "w"):  # noqa: PTH123 -- bytes
        pass
    found = folder.listing()
    assert (found.files, found.n_unshowable) == (("people.csv",), 1)


@pytest.mark.parametrize(
    "path",
    [
        "../secret.csv", "..", "of 2024/../../secret.csv", "of 2024/..", "./../secret.csv", "/",
        "/etc/passwd", "//etc/passwd", "{around}/secret.csv", "{around}/data/people.csv",
        "../data/people.csv", "../data-of-others/people.csv", "people.csv\0", "\0", "\udcff.csv",
        "\ud800", "people.csv/", "people.csv/x", "gone.csv", "of 2024/gone.csv", "~/x.csv",
        "x" * 300, "x/" * 3000, "pipe.csv", "socket.csv", ".hidden.csv", ".git/x.csv", "out.csv",
        "out", "out/people.csv", "to hidden.csv", "device.csv", "round.csv", "..\\secret.csv", None,
    ],
)  # fmt: skip
def test_a_path_leads_downwards(folder, path, monkeypatch):
    """Nothing outside, hidden, absent or no file is resolved, and the error says what to do."""
    root = folder.root
    monkeypatch.chdir(root)
    os.mkfifo(root / "pipe.csv")
    with socket.socket(socket.AF_UNIX) as at:
        at.bind("socket.csv")
    (root / ".git").mkdir()
    for name in (".hidden.csv", ".git/x.csv"):
        (root / name).touch()
    for link, target in {
        "out.csv": root.parent / SECRET,
        "out": root.parent / "data-of-others",
        "to hidden.csv": root / ".hidden.csv",
        "device.csv": "/dev/zero",
        "round.csv": root / "round.csv",
    }.items():
        (root / link).symlink_to(target)
    if path == "people.csv/":  # what a file's name ends with makes no other file of it
        assert folder.resolve(path) == root / "people.csv"
        return
    asked = path.replace("{around}", f"{root.parent}") if path else path
    for look in (folder.resolve, folder.listing):
        with pytest.raises(FileError) as told:
            look(asked)
        assert all((told.value.place, told.value.rule, told.value.remedy))
        assert "77" not in str(told.value)
        str(told.value).encode()
        if ".." in (asked or "").split("/"):
            assert "lead downwards" in told.value.rule


def test_a_listing_is_of_a_folder(folder):
    """A file is not listed."""
    with pytest.raises(FileError, match="must be a folder"):
        folder.listing("people.csv")


def test_what_was_named_at_the_start_may_be_opened(around):
    """A file elsewhere opens by its whole path if it was named, and no other beside it."""
    secret = around / SECRET
    (around / "link.csv").symlink_to(secret)
    folder = Folder(around / "data", (around / "link.csv",))
    assert folder.given == (secret,)
    assert folder.resolve(f"{secret}") == folder.resolve(f"{around / 'link.csv'}") == secret
    for other in (around / "data-of-others" / "people.csv", around):
        with pytest.raises(FileError):
            folder.resolve(f"{other}")
    secret.unlink()
    secret.symlink_to(around / "data-of-others" / "people.csv")
    with pytest.raises(FileError):
        folder.resolve(f"{secret}")


def test_the_page_starts_for_a_folder_that_is_there(around):
    """A missing folder, a file in its place and a missing file are refused with a remedy."""
    (around / "data" / "people.csv").touch()
    for root, given in (("gone", ()), ("data/people.csv", ()), ("data", ("gone.csv",))):
        with pytest.raises(FileError) as told:
            Folder(around / root, tuple(around / name for name in given))
        assert told.value.remedy


def test_what_is_written_has_a_place_of_its_own(folder):
    """A new name below the folder is given as it will be; nothing is made, nothing is replaced."""
    root = folder.root
    assert folder.place_for("release") == root / "release"
    assert folder.place_for("of 2024/recipe.toml") == root / "of 2024" / "recipe.toml"
    (root / "link").symlink_to(root / "of 2024")
    assert folder.place_for("link/release") == root / "of 2024" / "release"
    assert not (root / "release").exists()
    (root / "taken-custodian").mkdir()
    (root / "broken").symlink_to(root / "gone")
    for name in ("people.csv", "of 2024", "taken", "broken", "link", "of 2024/people.csv"):
        with pytest.raises(FileError, match="nothing is overwritten"):
            folder.place_for(name)


@pytest.mark.parametrize(
    "name",
    [
        "", ".", "/", "..", "../release", "/srv/release", "of 2024/../../release", ".hidden",
        ".git/x", "gone/release", "people.csv/release", "out/release", "re\0lease", "\udcff", None,
    ],
)  # fmt: skip
def test_nothing_is_written_outside(folder, name):
    """No name leads out of the folder, through a link, into what is hidden or to nowhere."""
    (folder.root / "out").symlink_to(folder.root.parent / "data-of-others")
    with pytest.raises(FileError) as told:
        folder.place_for(name)
    assert told.value.remedy


@pytest.mark.parametrize(
    "name",
    ["nul", "CON.csv", "of 2024/Com1.tar.gz", "lpt9 .csv", "people.csv:stream", "..\\x.csv", "C:x"],
)
def test_windows_has_names_of_devices(folder, name, monkeypatch):
    """There, a device, a second stream of a file and a way out by backslashes are refused."""
    monkeypatch.setattr(places, "_IS_WINDOWS", True)
    with pytest.raises(FileError):
        folder.resolve(name)
    with pytest.raises(FileError):
        folder.place_for(name)
    assert folder.resolve("of 2024\\people.csv") == folder.root / "of 2024" / "people.csv"
