"""The ledger of releases: exact sums, no line lost, nothing of it where it does not belong."""

import json
import os
import pickle
import re
import stat
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import microveil as mv
from microveil.errors import FileError, RequestError
from microveil.files.folders import write_folders
from microveil.ledger import Ledger, Recording, read_ledger
from microveil.ledger import ledger as ledger_keeping

PEOPLE = {"AGE": np.array([23, 35, 31, 62, 58, 47]), "HOME": np.array(list("abcabc"))}
BOUNDS = {"AGE": (0, 120)}
NAME = "household-survey-QX"
NEGATIVE = re.compile(rb'("epsilon(?:_exact)?": "?)1')
# What a ledger is in its folder: itself, and the file of its lock.
BOOK = {"microveil-ledger.jsonl", ".microveil-ledger.jsonl.lock"}

# Adds so many lines to a ledger, each under the lock; started several times at once.
ADDING = """
import os, pickle, sys
from pathlib import Path
from microveil.ledger import Recording
guarantee = pickle.loads(bytes.fromhex(sys.argv[2]))
waiting, go = os.pipe()
children = []
for number in range(3):
    child = os.fork()
    if child:
        children.append(child)
        continue
    os.close(go)
    recording = Recording(place=Path(sys.argv[1]), guarantee=guarantee, population="all",
                          folder=f"folder{number}", sha256=None)
    os.read(waiting, 1)  # until all are there, and the other end is closed
    for _ in range(15):
        recording.announce()
    os._exit(0)
os.close(go)
sys.exit(any(os.waitpid(child, 0)[1] for child in children))
"""
# For N = 1, 2, ...: in a child, write a release and kill the process before the N-th call that
# changes the disk (in a write: after half of it), in a fresh folder; until a child survives.
DYING = """
import os, signal, sys, tempfile
from itertools import count
from pathlib import Path
import numpy as np
import microveil as mv
from microveil.protect import writing
from microveil.files import folders

# So much that nobody weighs what would do better.
made = mv.protect({"AGE": np.arange(9)}, method="laplace", epsilon=100, attributes="AGE",
                  bounds={"AGE": (0, 9)}, population="survey")
writing.write_data = lambda frame, path, **_: path.write_text("AGE") and "digest"

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

    for name in "open write fsync mkdir rename replace chmod fchmod unlink rmdir".split():
        deadly(os, name)
    deadly(folders, "rename_new")

# What writing imports when it is first called is imported here, and not in every child.
with tempfile.TemporaryDirectory() as folder:
    made.write(Path(folder, "out"))

for fatal in count(1):
    place = Path(sys.argv[1], f"run{fatal}")
    place.mkdir()
    child = os.fork()
    if child == 0:
        make_deadly(fatal)
        try:
            made.write(place / "out")
        except BaseException:
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if not os.WIFSIGNALED(status):
        sys.exit(os.waitstatus_to_exitcode(status))
"""


def released(population=NAME, method="laplace", **arguments):
    """A release of the people, by differential privacy at every scope unless asked otherwise."""
    asked = {"epsilon": 1, "attributes": "AGE", "bounds": BOUNDS, "method": method, **arguments}
    return mv.protect(PEOPLE, population=population, **asked)


def recording(guarantee, place=Path("ledger")):
    """A release of the people on its way into a ledger."""
    return Recording(place=place, guarantee=guarantee, population=NAME, folder="x", sha256=None)


def line_of(guarantee):
    return recording(guarantee)._line(Ledger(begun="2026-01-01", key=bytes(32)))


def sums_of(lines):
    return Ledger(begun="2026-01-01", key=bytes(32), lines=tuple(lines)).totals(NAME)["sums"]


def announce(place):
    """Record a release of the people in a ledger."""
    recording(released().guarantee, place).announce()


def lines(place):
    return [json.loads(line) for line in place.read_text().splitlines()]


@pytest.fixture
def book(tmp_path):
    """A ledger with two lines."""
    for folder in ("one", "two"):
        released().write(tmp_path / folder)
    return tmp_path / "microveil-ledger.jsonl"


def test_a_release_of_named_people_has_a_line_of_all_its_ledger_needs(tmp_path):
    """Time, people, method, model and every scope with its epsilon are in the line; one a line."""
    released(method="dp-um", k=3, epsilon="0.3", keep="HOME").write(tmp_path / "out")
    place = tmp_path / "microveil-ledger.jsonl"
    head, line = lines(place)
    assert head["microveil"] == "ledger of releases"
    assert len(bytes.fromhex(head["key"])) == 32
    budget = {"epsilon": 0.3, "epsilon_exact": "3/10", "delta": 0.0, "delta_exact": "0"}
    assert line.pop("time").endswith("+00:00")
    assert line == {
        "schema": 1, "event": "announced", "population": NAME, "folder": "out",
        "method": "dp-um", "model": "dp", "seeded": False, "budget": budget,
        "scopes": {"cluster": budget, "vector": budget, "row": None}, "kept": 1, "input": None,
    }  # fmt: skip


@pytest.mark.usefixtures("reported")
def test_without_a_population_nothing_is_recorded(tmp_path):
    """No ledger is begun, and the custodian's manifest and page say that repeats do not count."""
    release = mv.protect(PEOPLE, method="laplace", epsilon=1, attributes="AGE", bounds=BOUNDS)
    from microveil.report import custodian_report

    release.write(tmp_path / "out", report=lambda written: custodian_report(written, PEOPLE))
    assert sorted(os.listdir(tmp_path)) == ["out", "out-custodian"]
    manifest = json.loads((tmp_path / "out-custodian" / "manifest.json").read_text())
    assert manifest["ledger"] is None
    page = (tmp_path / "out-custodian" / "report.html").read_text()
    assert "repeats are not counted" in page


@pytest.mark.usefixtures("reported")
def test_the_custodians_folder_counts_this_release_among_the_others(tmp_path):
    """Manifest and page of the third release say three, and what they come to."""
    from microveil.report import custodian_report

    for number in range(3):
        released(epsilon="0.1").write(
            tmp_path / f"out{number}", report=lambda written: custodian_report(written, PEOPLE)
        )
    manifest = json.loads((tmp_path / "out2-custodian" / "manifest.json").read_text())
    assert manifest["ledger"]["n_releases"] == 3
    assert manifest["ledger"]["sums"]["row"]["epsilon_exact"] == "3/10"
    page = (tmp_path / "out2-custodian" / "report.html").read_text()
    assert "row scope: epsilon 0.3 in all, over 3 releases." in page
    assert "repeats are not counted" not in page


def test_nothing_of_the_ledger_is_in_what_may_be_published(tmp_path):
    """Neither the people's name nor a digest, key or count is in any file of the release."""
    from microveil.report import publishable_report

    release = released()
    release.write(tmp_path / "one", public_report=publishable_report(release))
    assert NAME not in repr(release) + release.guarantee.statement()
    head = lines(tmp_path / "microveil-ledger.jsonl")[0]
    for path in (tmp_path / "one").iterdir():
        contents = path.read_text()
        assert not any(word in contents for word in (NAME, head["key"], "microveil-ledger"))
    # The guarantee is the same whatever the people are called.
    assert released("others").guarantee == release.guarantee


def test_sums_are_exact():
    """Thirty times 0.1 and three times 1/3 are 3 and 1, as fractions."""
    tenth, third = (
        [line_of(released(epsilon=epsilon).guarantee)] * times
        for epsilon, times in ((Fraction(1, 10), 30), (Fraction(1, 3), 3))
    )
    assert sums_of([*tenth, *third])["row"]["epsilon_exact"] == "4"
    assert sums_of([*tenth, *third])["row"]["n_releases"] == 33
    assert sums_of(third)["row"]["epsilon_exact"] == "1"


def test_the_exact_epsilon_of_a_guarantee_comes_into_the_ledger():
    """Whatever fraction was asked for, 1/3 as well: no sum of floats, and never less."""
    for epsilon in (Fraction(1, 3), Fraction(1, 10), Fraction(22, 7), Fraction(5)):
        line = line_of(released(epsilon=epsilon).guarantee)
        assert {spent["epsilon_exact"] for spent in line["scopes"].values()} == {str(epsilon)}
        assert line["budget"]["epsilon_exact"] == str(epsilon)
    # Scopes of another epsilon: 2/3 at vector scope (two clusters), 1/6 at cluster scope.
    asked = {"k": 3, "epsilon": Fraction(1, 3), "attributes": ["A", "B"],
             "bounds": dict.fromkeys("AB", (0, 120))}  # fmt: skip
    two = {"A": PEOPLE["AGE"], "B": PEOPLE["AGE"][::-1].copy()}
    for composition, scope, exact in (
        ("parallel", "vector", Fraction(2, 3)),
        ("sequential", "cluster", Fraction(1, 6)),
    ):
        planned = mv.plan(two, method="kanon-dp", composition=composition, **asked)
        assert line_of(planned.guarantee)["scopes"][scope]["epsilon_exact"] == str(exact)


def test_each_scope_sums_what_covers_it_and_says_what_does_not(tmp_path):
    """dp-um does not cover row scope: its epsilon is in the others' sums alone."""
    released().write(tmp_path / "one")
    released(method="dp-um", k=3, epsilon=2).write(tmp_path / "two")
    totals = read_ledger(tmp_path / "microveil-ledger.jsonl").totals(NAME)
    found = {name: (one["epsilon"], one["n_releases"]) for name, one in totals["sums"].items()}
    assert found == {"cluster": (3, 2), "vector": (3, 2), "row": (1, 1)}
    told = totals["in_words"]
    assert "vector scope: epsilon 3 in all, over 2 releases." in told
    assert (
        "row scope: epsilon 1 in all, over 1 release; 1 of the 2 does not cover it by differential "
        "privacy, so nothing bounds what all of them reveal together."
    ) in told


def test_only_differential_privacy_is_added_up(tmp_path):
    """iDP, k-anonymity, no model and seeds are counted, each by itself, and are in no sum."""
    ways = [
        {}, {"method": "idp-ls", "k": 3}, {"method": "idp-cbls", "k": 3}, {"seed": 7},
        {"method": "mdav", "k": 3, "epsilon": None},
        {"method": "k-noise", "k": 3, "epsilon": None},
    ]  # fmt: skip
    for number, way in enumerate(ways):
        released(**way).write(tmp_path / f"out{number}")
    totals = read_ledger(tmp_path / "microveil-ledger.jsonl").totals(NAME)
    counts = {
        "n_differential_privacy": 1, "n_individual": 2, "n_seeded": 1, "n_k_anonymity": 1,
        "n_none": 1, "n_releases": 6,
    }  # fmt: skip
    assert {name: totals[name] for name in counts} == counts
    assert all(one["epsilon"] == one["n_releases"] == 1 for one in totals["sums"].values())
    told = "\n".join(totals["in_words"])
    assert "It does not compose" in told
    assert "protects nobody" in told
    assert "5 of the 6 do not cover it" in told


def test_a_seeded_release_is_recorded_as_unprotected(tmp_path):
    """Its line has no model, no budget and no scope: no reader can take it for a promise."""
    released(seed=1).write(tmp_path / "out")
    line = lines(tmp_path / "microveil-ledger.jsonl")[1]
    assert line["seeded"] is True
    assert (line["model"], line["budget"]) == ("none", None)
    assert set(line["scopes"].values()) == {None}


def test_populations_of_one_ledger_are_counted_apart(tmp_path):
    """Each has its own sums, and the first release of a new name hears of the others."""
    for number, population in enumerate(("north", "south", "north")):
        released(population).write(tmp_path / f"out{number}")
    ledger = read_ledger(tmp_path / "microveil-ledger.jsonl")
    assert ledger.totals("north")["n_releases"] == 2
    assert ledger.totals("north")["sums"]["row"]["epsilon"] == 2
    assert ledger.totals("south")["sums"]["row"]["epsilon"] == 1
    assert "counts 1 other population apart" in ledger.totals("south")["in_words"][-1]
    assert ledger.totals("nobody")["n_releases"] == 0


def test_one_name_written_in_two_ways_is_one_population(tmp_path):
    """An accent that is a letter of its own does not hide what was spent."""
    for number, name in enumerate(("Gro\u0308ße", "Größe")):
        released(name).write(tmp_path / f"out{number}")
    ledger = read_ledger(tmp_path / "microveil-ledger.jsonl")
    assert ledger.totals("Größe")["n_releases"] == 2


def test_the_same_file_is_known_again_and_only_with_the_key(tmp_path):
    """Digests are keyed: equal within a ledger, another in every ledger, never the file's own."""
    (tmp_path / "people.csv").write_text("AGE\n" + "\n".join(map(str, range(20, 60))))
    from microveil.commands.files import counted_releases, protect_file

    def protect(folder, population=NAME):
        release = protect_file(
            tmp_path / "people.csv", tmp_path / folder, method="laplace", epsilon=1,
            attributes=["AGE"], bounds={"AGE": (0, 120)}, population=population,
        )  # fmt: skip
        return counted_releases(release, tmp_path / folder)

    assert not any("same file" in sentence for sentence in protect("one")["in_words"])
    again = protect("two")
    assert again["n_same_file"] == 2
    assert "The same file was released 2 times" in again["in_words"][-1]
    other = protect("three", "others")
    assert (other["n_same_file"], other["n_same_file_elsewhere"]) == (1, 2)
    assert any("name of another population (2 releases)" in told for told in other["in_words"])
    _, one, two, three = lines(tmp_path / "microveil-ledger.jsonl")
    assert one["input"] == two["input"] == three["input"]
    manifest = json.loads((tmp_path / "one-custodian" / "manifest.json").read_text())
    digest = manifest["input"]["sha256"]
    assert digest not in (tmp_path / "microveil-ledger.jsonl").read_text()
    assert read_ledger(tmp_path / "microveil-ledger.jsonl").digest(digest) == one["input"]
    assert Ledger(begun="2026-01-01", key=bytes(32)).digest(digest) != one["input"]


def test_a_ledger_is_its_owners_alone_from_the_start(tmp_path):
    """Mode 0600 under any umask; one that others can read is refused, and nothing is released."""
    for mask in (0o000, 0o777):
        place = tmp_path / f"ledger-{mask:o}"
        before = os.umask(mask)
        try:
            announce(place)
        finally:
            os.umask(before)
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
        assert read_ledger(place).totals(NAME)["n_releases"] == 1
    place.chmod(0o640)
    with pytest.raises(FileError, match="nobody but its owner"):
        released().write(tmp_path / "out", ledger=place)
    assert not (tmp_path / "out").exists()
    assert {path.name for path in tmp_path.iterdir() if path.name.startswith(".")} == {
        ".ledger-0.lock", ".ledger-777.lock",
    }  # fmt: skip


def test_the_mode_is_never_wider_while_the_ledger_is_begun(tmp_path, monkeypatch):
    """At the moment it appears under its name, nobody else can read it, and it has its key."""
    seen, replace = [], Path.replace

    def watched(source, target):
        seen.append((stat.S_IMODE(source.stat().st_mode), source.read_bytes()))
        return replace(source, target)

    monkeypatch.setattr(Path, "replace", watched)
    announce(tmp_path / "ledger")
    ((mode, contents),) = seen
    assert mode == 0o600
    assert (tmp_path / "ledger").read_bytes() == contents
    assert len(read_ledger(tmp_path / "ledger").lines) == 1


def test_processes_at_once_lose_no_line(tmp_path):
    """Three that begin one ledger together and add to it: every line is there, whole."""
    place = tmp_path / "ledger"
    release = mv.protect(
        {"AGE": np.arange(9)}, method="laplace", epsilon="0.1", attributes="AGE",
        bounds={"AGE": (0, 9)},
    )  # fmt: skip
    guarantee = pickle.dumps(release.guarantee).hex()
    subprocess.run([sys.executable, "-c", ADDING, place, guarantee], check=True)
    ledger = read_ledger(place)
    assert [
        sum(line["folder"] == f"folder{number}" for line in ledger.lines) for number in range(3)
    ] == [15] * 3
    assert ledger.totals("all")["sums"]["row"]["epsilon"] == 4.5


def test_whenever_a_process_is_killed_what_appeared_is_counted(tmp_path):
    """A crash overcounts, never undercounts: where a folder is, its line is, whole."""
    done = subprocess.run(
        [sys.executable, "-c", DYING, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    states = {killed(place) for place in tmp_path.iterdir()}
    assert states == {(False, "no ledger"), (False, "counted"), (True, "counted")}


def killed(place):
    """Whether a folder appeared, and what of its line is there."""
    appeared = (place / "out").exists() or (place / "out-custodian").exists()
    book = place / "microveil-ledger.jsonl"
    if not book.exists():
        return appeared, "no ledger"
    try:
        totals = read_ledger(book).totals("survey")
    except FileError as error:
        return appeared, error.place.removeprefix(f"{book}, ")
    return appeared, "counted" if totals["n_releases"] else "begun"


def test_a_release_that_fails_after_its_line_says_that_it_counts(tmp_path, monkeypatch):
    """The system refuses the rename: nothing appears, the line stays, the message says so."""
    from microveil.files import folders

    def refuse(*_paths):
        raise PermissionError(1, "no")

    monkeypatch.setattr(folders, "rename_new", refuse)
    with pytest.raises(FileError, match="counts it all the same"):
        released().write(tmp_path / "out")
    assert {*os.listdir(tmp_path)} == BOOK
    assert read_ledger(tmp_path / "microveil-ledger.jsonl").totals(NAME)["n_releases"] == 1


def test_where_the_line_cannot_be_written_nothing_appears(tmp_path, monkeypatch):
    """A full disk: an error, the ledger as it was, and no release."""
    released().write(tmp_path / "one")
    place = tmp_path / "microveil-ledger.jsonl"
    before = place.read_bytes()
    write = Path.write_bytes

    def half(path, contents):
        if b'"announced"' not in contents:
            return write(path, contents)
        write(path, contents[: len(contents) // 2])
        raise OSError(28, "full")

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(FileError, match="No space left"):
        released().write(tmp_path / "two")
    assert place.read_bytes() == before
    assert {*os.listdir(tmp_path)} == BOOK | {"one", "one-custodian"}


def test_the_line_is_there_before_an_old_release_goes(book, tmp_path):
    """With overwrite the announcement comes before anything is moved, and both releases count."""
    seen = []
    write_folders(
        tmp_path / "one",
        lambda public, custodian: (
            (public / "guarantee.json").write_text("new"),
            (custodian / "manifest.json").write_text("new"),
        ),
        overwrite=True,
        announce=lambda: seen.append((tmp_path / "one" / "guarantee.md").exists()),
    )
    assert seen == [True]
    released().write(tmp_path / "two", overwrite=True)
    assert read_ledger(book).totals(NAME)["n_releases"] == 3


@pytest.mark.parametrize("inside", ["out", "out/deeper", "out-custodian", "link", "link-custodian"])
def test_a_ledger_within_the_release_is_refused(tmp_path, inside):
    """In either folder, named through a link or not: it would be published, or be replaced."""
    released(None).write(tmp_path / "out")
    (tmp_path / "out" / "deeper").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "out")
    (tmp_path / "link-custodian").symlink_to(tmp_path / "out-custodian")
    before = (tmp_path / "out" / "data.csv").read_bytes()
    with pytest.raises(FileError, match="must not lie within the folders of a release"):
        released().write(tmp_path / "out", overwrite=True, ledger=tmp_path / inside / "ledger")
    assert (tmp_path / "out" / "data.csv").read_bytes() == before
    # Another release's folder is as wrong a place.
    with pytest.raises(FileError, match="must not lie within the folders of a release"):
        released().write(tmp_path / "next", ledger=tmp_path / inside / "ledger")
    assert not (tmp_path / "next").exists()


def test_a_link_a_folder_and_a_pipe_are_no_ledger(book, tmp_path):
    """Only a file itself is written to; a link could lead into a release."""
    (tmp_path / "link").symlink_to(book)
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe", 0o600)
    for name, rule in (
        ("link", "this is a link"), ("dangling", "this is a link"),
        ("folder", "this is something else"), ("pipe", "this is something else"),
    ):  # fmt: skip
        with pytest.raises(FileError, match=rule):
            released().write(tmp_path / "out", ledger=tmp_path / name)
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize(
    "contents", [b"", b"\n", b"AGE,TAX\n1,2\n", b"{}\n", b"\xff\xfe", b'"microveil"', b"[" * 5000]
)
def test_another_file_is_never_taken_for_a_ledger(tmp_path, contents):
    """An empty one least of all: it may be a ledger that lost its lines. It stays as it was."""
    place = tmp_path / "other"
    place.write_bytes(contents)
    place.chmod(0o600)
    with pytest.raises(FileError, match="it must be a ledger of releases"):
        released().write(tmp_path / "out", ledger=place)
    assert place.read_bytes() == contents
    assert os.listdir(tmp_path) == ["other"]


@pytest.mark.parametrize(
    ("change", "number"),
    [
        (lambda lines: [*lines[:1], b"{}", *lines[2:]], 2),
        (lambda lines: [*lines[:2], b"", lines[2]], 3),
        (lambda lines: [*lines[:2], lines[2].replace(b'"dp"', b'"magic"')], 3),
        (lambda lines: [*lines[:2], lines[2].replace(b'exact": "1"', b'exact": "-1"')], 3),
        (lambda lines: [*lines[:2], lines[2].replace(b'exact": "1"', b'exact": "1/0"')], 3),
        (lambda lines: [*lines[:2], NEGATIVE.sub(rb"\1-1", lines[2])], 3),
        (lambda lines: [*lines[:2], lines[2].replace(b'exact": "1"', b'exact": "1/9"')], 3),
        (lambda lines: [*lines[:2], lines[2].replace(b'"schema": 1', b'"schema": 9')], 3),
        (lambda lines: [*lines[:2], lines[2].replace(b"announced", b"withdrawn")], 3),
        (lambda lines: [*lines[:2], lines[2].replace(b'"kept": 0', b'"kept": "x"')], 3),
        (lambda lines: [lines[0], b"\xff", lines[2]], 2),
        (lambda lines: [*lines[:2], re.sub(rb'"budget": {.*?}', b'"budget": {}', lines[2])], 3),
        (lambda lines: [*lines[:2], lines[2][:-1] + b', "unit": {"column": 7, "max_rows": 2}}'], 3),
        (lambda lines: [lines[0].replace(b'key": "', b'key": "x'), *lines[1:]], 1),
    ],
)
def test_a_line_that_cannot_be_read_stops_everything(book, tmp_path, change, number):
    """No line is skipped, as it is a release; the message names the line and no more of it."""
    contents = b"\n".join(change(book.read_bytes().splitlines())) + b"\n"
    assert contents != book.read_bytes()
    book.write_bytes(contents)
    with pytest.raises(FileError) as caught:
        released().write(tmp_path / "three")
    assert caught.value.place == f"{book}, line {number}"
    assert NAME not in str(caught.value)
    assert book.read_bytes() == contents
    assert not (tmp_path / "three").exists()


def test_a_last_line_cut_anywhere_never_loses_a_release(book, tmp_path):
    """Cut within, it is refused by number; with only its end of line gone, it counts."""
    whole = book.read_bytes()
    start = whole[:-1].rindex(b"\n") + 1
    for end in range(start + 1, len(whole) - 1, 40):
        book.write_bytes(whole[:end])
        with pytest.raises(FileError, match="cut short") as caught:
            read_ledger(book)
        assert caught.value.place.endswith("line 3")
    book.write_bytes(whole[:-1])
    released().write(tmp_path / "three")
    assert read_ledger(book).totals(NAME)["n_releases"] == 3
    assert book.read_bytes().startswith(whole)


def test_a_head_of_a_newer_version_is_refused(book):
    """What it would mean is not known here."""
    book.write_bytes(book.read_bytes().replace(b'"schema": 1', b'"schema": 2', 1))
    with pytest.raises(FileError, match="does not know"):
        read_ledger(book)


def test_a_ledger_that_another_program_changes_meanwhile_keeps_what_that_wrote(book, monkeypatch):
    """Whoever holds no lock of ours, an older version for one: none of its lines is lost."""
    read = ledger_keeping._contents
    before = book.read_bytes()

    def changed(place):
        contents = read(place)
        place.write_bytes(before + before.splitlines(keepends=True)[-1])
        return contents

    with monkeypatch.context() as patch:
        patch.setattr(ledger_keeping, "_contents", changed)
        with pytest.raises(FileError, match="replaced meanwhile"):
            announce(book)
    assert len(read_ledger(book).lines) == 3


def test_a_ledger_with_the_line_ends_of_windows_counts(book):
    """As an editor there leaves it."""
    book.write_bytes(book.read_bytes().replace(b"\n", b"\r\n"))
    announce(book)
    assert read_ledger(book).totals(NAME)["n_releases"] == 3


@pytest.mark.parametrize("name", ["", " ", " x", "x ", "a\nb", "a\u202eb", "x" * 201, 7, b"x"])
def test_a_population_is_a_name(name):
    """Text of 1 to 200 printable characters that two people write alike."""
    with pytest.raises(RequestError, match="population"):
        released(name)
    assert released("x" * 200).population == "x" * 200


def test_the_key_is_not_shown(book):
    """A ledger in a notebook or a traceback does not give its digests away."""
    ledger = read_ledger(book)
    assert ledger.key.hex() not in repr(ledger)
    assert repr(ledger.key) not in repr(ledger)
