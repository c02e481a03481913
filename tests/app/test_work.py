"""Work in the background: what it answers, and that nothing half done or unwatched stays."""

import asyncio
import contextlib
import datetime
import json
import os
import signal
import socket
import subprocess
import sys
import time
import tomllib
from contextlib import aclosing
from pathlib import Path

import numpy as np
import polars
import pytest

import microveil as mv
from command import run
from microveil.app import work
from microveil.app.tasks import TASKS
from microveil.app.work import State, Works
from microveil.app.worker import of_line, to_line

ENTRIES = {
    "AGE": {"role": "confidential", "type": "whole number", "bounds": [0, 120]},
    "TAX": {
        "role": "confidential",
        "type": "decimal",
        "resolution": 0.01,
        "bounds": [0, 200_000],
    },
}
RECIPE = {"microveil": "0.2", "method": "dp-um", "k": 10, "epsilon": 1.0, "attributes": ENTRIES}
# No part of a table of people, so that it is found wherever it turns up.
MARK = "7316429"
WHOLE = {"data.csv", "guarantee.json", "guarantee.md"}


def as_toml(recipe):
    """Write a recipe as a file has it; of what the tests ask for JSON is TOML but for tables."""
    lines = [f"{k} = {json.dumps(v)}" for k, v in recipe.items() if k != "attributes"]
    for name, entry in recipe.get("attributes", {}).items():
        lines.append(f"[attributes.{json.dumps(name)}]")
        lines += [
            f"{key} = [{', '.join(map(str, value))}]"
            if key == "bounds"
            else f"{key} = {json.dumps(value)}"
            for key, value in entry.items()
        ]
    return "\n".join(lines) + "\n"


@pytest.fixture
def people(tmp_path):
    """A table of people in a folder of its own."""
    path = tmp_path / "people" / "people.csv"
    path.parent.mkdir(exist_ok=True)
    mv.invented_people(200).select("AGE", "TAX").write_csv(path)
    return path


@pytest.fixture
def many(tmp_path):
    """A table that takes a while to protect."""
    path = tmp_path / "people" / "many.csv"
    path.parent.mkdir(exist_ok=True)
    random = np.random.default_rng(3)
    n = 400_000
    frame = {"AGE": random.integers(0, 120, n), "TAX": random.uniform(0, 1e5, n).round(2)}
    polars.DataFrame(frame).write_csv(path)
    return path


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """Temporary files of workers in a folder that can be looked at."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    yield folder
    assert not list(folder.iterdir())


def ended(*tasks, folder, **settings):
    """Carry tasks out, one after another, and return what became of them."""

    async def every():
        async with aclosing(Works(folder, **settings)) as works:
            return [await works.wait(works.start(task).id) for task in tasks]

    found = asyncio.run(every())
    return found if len(found) > 1 else found[0]


def protecting(path, folder, recipe=RECIPE, **options):
    options = {"linkage": False, **options}
    return {
        "task": "protect",
        "path": f"{path}",
        "recipe": recipe,
        "folder": f"{folder}",
        "options": options,
    }


def comparing(path, runs=1):
    return {
        "task": "compare",
        "path": f"{path}",
        "recipe": RECIPE,
        "methods": ["dp-um", "idp-cbls"],
        "ks": [5, 10],
        "epsilons": [1],
        "runs": runs,
    }


def started(script="", **settings):
    """Start a worker by itself; a script may change what is in its process before."""
    code = f"{script}\nfrom microveil.app.worker import main\nmain()"
    return subprocess.Popen(
        [sys.executable, "-P", "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        **settings,
    )


def answers(process, task):
    """Give a worker its task and return every line that it says; its input stays open."""
    process.stdin.write(to_line(task))
    process.stdin.flush()
    said = [json.loads(line) for line in process.stdout if line.strip()]
    error = process.stderr.read()
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        pipe.close()
    return said, error


def left_of(folder):
    """Name what stands of a release: the hidden folder that one is filled in too."""
    names = folder.name, f"{folder.name}-custodian"
    found = (path.name for path in folder.parent.iterdir())
    return sorted(name for name in found if name in names or name.startswith(f".{folder.name}."))


def is_whole(folder):
    return (
        set(os.listdir(folder)) >= WHOLE
        and (folder.with_name(f"{folder.name}-custodian") / "manifest.json").is_file()
    )


def until(condition, seconds=120):
    """Wait until something holds; say whether it came to that."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def runs(pid):
    """Whether a process is there, and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def begun(works, name, words=""):
    """Wait until a task is at its first step, or at one of these words."""
    while not (works.get(name).steps and works.get(name).steps[-1].words.startswith(words)):  # noqa: ASYNC110
        await asyncio.sleep(0.01)


def children(pid):
    """Return the processes that a process has started."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            stat = (entry / "stat").read_text("ascii")
            if int(stat.rpartition(")")[2].split()[1]) == pid:
                found.append(int(entry.name))
    return found


@pytest.mark.usefixtures("reported")
def test_advice_and_release_are_those_of_the_command_line(people, tmp_path):
    """The same recipe gives the same guarantee, notes and files by page and command."""
    (tmp_path / "recipe.toml").write_text(as_toml(RECIPE))
    command = run(
        *("protect", people, "--recipe", "recipe.toml", "-o", "other", "--public-report"),
        folder=tmp_path,
    )
    assert command.returncode == 0, command.stderr
    folder = tmp_path / "release"
    advice = TASKS["advise"]({"path": f"{people}", "recipe": RECIPE}, lambda _said: None)
    asked = protecting(people, folder, public_report=True, linkage=True)
    found = ended(asked, folder=tmp_path)
    assert found.state is State.DONE
    assert found.released
    other = tmp_path / "other"
    assert found.result["guarantee"] == json.loads((other / "guarantee.json").read_text())
    assert found.result["files"]["folder"] == sorted(os.listdir(other))
    assert found.result["files"]["custodian"] == sorted(os.listdir(f"{other}-custodian"))
    assert found.result["folder"] == f"{folder}"
    assert found.result["custodian"] == f"{folder}-custodian"
    assert found.result["summary"] in command.stdout
    notes = [f"note: {note}" for note in found.result["notes"]]
    assert notes == command.stderr.splitlines()
    # What is drawn differs, and with it the figures; what they are about does not.
    printed = command.stdout.partition("not for logs:\n")[2].splitlines()
    # In place of the worst columns' sentence the command has a table: its head, and a row each. Why
    # they stand in no order of distance is said where it is so.
    printed = [line for line in printed if not line.startswith("  First the columns")]
    n_rows = 1 + min(5, len(found.result["guarantee"]["attributes"]))
    assert len(found.result["custodian_lines"]) - 1 + n_rows == len(printed)
    assert is_whole(folder)
    assert advice["advice"] == json.loads(
        json.dumps(mv.advise(polars.read_csv(people), recipe=RECIPE).to_dict())
    )
    assert advice["refused"] is None
    assert advice["is_public"] is False


def test_a_comparison_says_its_progress_as_it_is_made_and_gives_all_of_it(people, tmp_path):
    """Steps come in the order of the work, with times that do not go back, while it runs.

    What `microveil compare` writes comes back, and its folder is gone (see `temporary`).
    """

    async def watched():
        async with aclosing(Works(tmp_path)) as works:
            name = works.start(comparing(people, runs=60)).id
            seen = [works.get(name)]
            while not works.get(name).state.is_end:
                await asyncio.sleep(0.01)
                if works.get(name) != seen[-1]:
                    seen.append(works.get(name))
            return seen

    seen = asyncio.run(watched())
    assert [now.state for now in seen][:1] == [State.WAITING]
    running = [now for now in seen if now.state is State.RUNNING]
    counts = [now.steps[-1].done for now in running if now.steps and now.steps[-1].total]
    assert counts == sorted(counts)
    assert len(set(counts)) > 2
    last = seen[-1]
    assert last.state is State.DONE
    assert [step.words for step in last.steps] == ["reading the table", "comparing"]
    assert last.steps[-1].done == last.steps[-1].total
    times = [step.seconds for step in last.steps]
    assert times == sorted(times)
    found = last.result
    summary = found["comparison"]["summary"]
    assert {row["method"] for row in summary} == {"dp-um", "idp-cbls"}
    assert found["picture"].rstrip().endswith("</svg>")
    assert found["report"].lstrip().lower().startswith("<!doctype html>")
    assert found["answer"]


def test_a_look_at_a_file_shows_names_and_kinds_and_no_value(tmp_path):
    """What `microveil inspect` proposes, as entries; no cell of the table is in it."""
    path = tmp_path / "people.csv"
    marked = [f"{MARK}{row}" for row in range(60)]
    table = {
        "NAME # 1": [f"x{mark}" for mark in marked],
        "INCOME": [f"{mark}.25" for mark in marked],
        "HOUSEHOLD": [row // 3 for row in range(60)],
        "CODE": [-9 if row % 7 == 0 else 20 + row % 30 for row in range(60)],
    }
    polars.DataFrame(table).write_csv(path)
    found = TASKS["inspect"]({"path": f"{path}"}, lambda _said: None)
    assert MARK not in json.dumps(found)
    assert found["n_records"] == 60
    assert {name: column["entry"]["type"] for name, column in found["columns"].items()} == {
        "NAME # 1": "text",
        "INCOME": "decimal",
        "HOUSEHOLD": "whole number",
        "CODE": "whole number",
    }
    assert found["columns"]["NAME # 1"]["entry"]["role"] == "identifier"
    assert (
        "By its name it holds names, addresses or free text, which say who somebody is."
        in found["columns"]["NAME # 1"]["notes"]
    )
    assert found["unit"] == "HOUSEHOLD"
    assert any(
        "like a code" in note or "like codes" in note for note in found["columns"]["CODE"]["notes"]
    )
    assert found["file"] == {"separator": ",", "decimal": ".", "encoding": "utf-8"}
    printed = tomllib.loads(run("inspect", path, "--scope", "row", folder=tmp_path).stdout)
    for name, entry in printed["attributes"].items():
        own = found["columns"][name]["entry"]
        assert own == {"type": own["type"], **entry}


@pytest.mark.slow
def test_dates_and_other_values_of_a_recipe_arrive_as_they_are(tmp_path):
    """Bounds of dates, which JSON has no word for, are those of the recipe."""
    path = tmp_path / "births.csv"
    days = [datetime.date(1950, 1, 1) + datetime.timedelta(days=97 * row) for row in range(60)]
    polars.DataFrame({"BORN": days}).write_csv(path)
    bounds = [datetime.date(1900, 1, 1), datetime.date(2030, 12, 31)]
    entry = {"role": "confidential", "type": "date", "bounds": bounds}
    recipe = {**RECIPE, "attributes": {"BORN": entry}}
    assert of_line(to_line(recipe)) == recipe
    moment = datetime.datetime(2020, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
    assert of_line(to_line({"at": [moment, moment.time()]})) == {"at": [moment, moment.time()]}
    found = ended(protecting(path, tmp_path / "release", recipe), folder=tmp_path)
    assert found.state is State.DONE, found
    stated = found.result["guarantee"]["attributes"]["BORN"]
    assert (
        stated
        == mv.plan(polars.DataFrame({"BORN": days}), recipe=recipe).guarantee.to_dict()[
            "attributes"
        ]["BORN"]
    )


# What is interrupted: a step, as soon as it is announced, or a call, before or after it is made.
MOMENTS = {
    "the draw": ("step", "randomising TAX"),
    "writing": ("step", "writing the table"),
    "syncing": ("before", "_sync"),
    "before the first rename": ("before", "_move"),
    "after the first rename": ("after", "_move"),
    "within the first rename": ("after", "rename_new"),
}
INTERRUPTED = """
import os, signal
from microveil.app import worker
from microveil.files import folders
when, where = {moment!r}
def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
remove = folders.shutil.rmtree
def interrupted_again(*given, **named):
    interrupt()
    remove(*given, **named)
folders.shutil.rmtree = interrupted_again  # a second one, while the first is cleared up after
if when == "step":
    original = worker._reserved_output
    def reserved():
        say = original()
        def heard(contents):
            say(contents)
            if str(contents.get("progress", "")).startswith(where):
                interrupt()
        return heard
    worker._reserved_output = reserved
else:
    call = getattr(folders, where)
    def wrapped(*given):
        if when == "before":
            interrupt()
        found = call(*given)
        if when == "after":
            interrupt()
        return found
    setattr(folders, where, wrapped)
"""


# Over an earlier release there is more to undo, from the first rename on.
OVER = ("the draw", "before the first rename", "after the first rename")


@pytest.mark.parametrize(
    ("moment", "overwrite"),
    [
        pytest.param(MOMENTS["after the first rename"], True, id="after a rename, over another"),
        # The other moments, each with a process: by make test-slow.
        *(
            pytest.param(moment, False, id=name, marks=pytest.mark.slow)
            for name, moment in MOMENTS.items()
        ),
        *(
            pytest.param(MOMENTS[name], True, id=f"over {name}", marks=pytest.mark.slow)
            for name in OVER
        ),
    ],
)
def test_an_interrupt_at_any_moment_leaves_nothing_half_written(
    people, tmp_path, moment, overwrite
):
    """No folder appears, nor a hidden one; a release that was there before is as it was.

    Another interrupt while that is cleared up changes nothing.
    """
    folder = tmp_path / "releases" / "release"
    folder.parent.mkdir()
    before = {}
    if overwrite:
        earlier = mv.protect(polars.read_csv(people), recipe={**RECIPE, "epsilon": 2.0})
        earlier.write(folder)
        before = {path: path.read_bytes() for path in folder.parent.rglob("*") if path.is_file()}
    worker = started(INTERRUPTED.format(moment=moment), cwd=tmp_path)
    said, error = answers(worker, protecting(people, folder, overwrite=overwrite))
    assert said[-1] == {"cancelled": True}, said
    assert not error
    assert worker.returncode == 130
    after = {path: path.read_bytes() for path in folder.parent.rglob("*") if path.is_file()}
    assert after == before
    assert left_of(folder) == (["release", "release-custodian"] if overwrite else [])


@pytest.mark.parametrize(
    "step", [pytest.param("randomising", marks=pytest.mark.slow), "writing the table"]
)
def test_a_cancel_ends_a_task_and_leaves_nothing(many, tmp_path, step):
    """From within the draw and the writing of a large table: cancelled, with no folder."""
    folder = tmp_path / "releases" / "release"
    folder.parent.mkdir()

    async def cancelled():
        async with aclosing(Works(tmp_path)) as works:
            name = works.start(protecting(many, folder)).id
            while not works.get(name).state.is_end:
                steps = works.get(name).steps
                if steps and steps[-1].words.startswith(step):
                    assert works.cancel(name).is_stopping
                    break
                await asyncio.sleep(0.001)
            return await works.wait(name)

    found = asyncio.run(cancelled())
    assert found.state is State.CANCELLED
    assert (found.result, found.error, found.failure) == (None, None, None)
    assert not found.released
    assert not list(folder.parent.iterdir())


OF_A_LIBRARY = """
import os, signal
from microveil.app import worker
def protect(task, say):
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        raise BaseException("as polars panics where Python code that it calls is interrupted")
worker.TASKS["protect"] = protect
"""


def test_a_task_is_cancelled_also_where_a_library_makes_another_error_of_the_interrupt(
    people, tmp_path
):
    """It is no failure that somebody should look into."""
    worker = started(OF_A_LIBRARY, cwd=tmp_path)
    said, _ = answers(worker, protecting(people, tmp_path / "release"))
    assert said == [{"cancelled": True}]
    assert worker.returncode == 130


@pytest.mark.slow
def test_what_was_done_when_a_cancel_came_is_done(people, tmp_path):
    """A release that stands is not called cancelled; one that stands all the same is named."""

    async def late():
        async with aclosing(Works(tmp_path)) as works:
            name = works.start(protecting(people, tmp_path / "release")).id
            await works.wait(name)
            return works.cancel(name)

    found = asyncio.run(late())
    assert found.state is State.DONE
    assert not found.is_stopping
    # Here the interrupt comes between the release and the word of it.
    hook = tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(
        "import os, signal, time, microveil.commands.files as files\n"
        "original = files.protect_file\n"
        "def late(*given, **named):\n"
        "    found = original(*given, **named)\n"
        "    named['progress']('done')\n"
        "    time.sleep(60)\n"
        "    return found\n"
        "files.protect_file = late\n"
    )

    async def between():
        async with aclosing(
            Works(tmp_path, environment={**os.environ, "PYTHONPATH": f"{hook}"})
        ) as works:
            name = works.start(protecting(people, tmp_path / "second")).id
            await begun(works, name, "done")
            works.cancel(name)
            return await works.wait(name)

    found = asyncio.run(between())
    assert found.state is State.CANCELLED
    assert found.released
    assert is_whole(tmp_path / "second")


@pytest.mark.slow
def test_a_worker_that_takes_no_interrupt_is_killed(many, tmp_path):
    """After its patience a task is killed with what it started, and its temporary files go."""
    hook = tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(
        "import signal\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "signal.signal = lambda *given: None\n"
        "import subprocess, sys, os\n"
        "if 'microveil.app.worker' in sys.orig_argv:\n"
        "    subprocess.Popen(['sleep', '600'])\n"
    )

    async def stubborn():
        environment = {**os.environ, "PYTHONPATH": f"{hook}"}
        async with aclosing(Works(tmp_path, patience=0.5, environment=environment)) as works:
            name = works.start(comparing(many, runs=500)).id
            await begun(works, name)
            (pid,) = children(os.getpid())
            (grandchild,) = children(pid)
            assert runs(grandchild)
            works.cancel(name)
            return await works.wait(name), pid, grandchild

    found, pid, grandchild = asyncio.run(stubborn())
    assert found.state is State.CANCELLED
    assert until(lambda: not runs(pid) and not runs(grandchild))


@pytest.mark.slow
def test_an_interrupt_that_was_ignored_before_is_heard(many, temporary):
    """As of a server that a shell started in the background, which has its interrupts ignored."""
    ignoring = lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)  # noqa: E731
    worker = started(preexec_fn=ignoring)
    own = temporary / "own"
    own.mkdir()
    worker.stdin.write(to_line({**comparing(many, runs=500), "temporary": f"{own}"}))
    worker.stdin.flush()
    assert b"progress" in worker.stdout.readline()
    worker.send_signal(signal.SIGINT)
    try:
        assert worker.wait(timeout=120) == 130
    finally:
        worker.kill()
    assert json.loads(worker.stdout.read().splitlines()[-1]) == {"cancelled": True}
    for pipe in (worker.stdin, worker.stdout, worker.stderr):
        pipe.close()


SERVER = """
import asyncio, sys
from microveil.app.work import Works
from microveil.app.worker import of_line

async def serve():
    works = Works({folder!r})
    work = works.start(of_line(sys.stdin.readline()))
    while not works.get(work.id).steps:
        await asyncio.sleep(0.01)
    print("under way", flush=True)
    await works.wait(work.id)

asyncio.run(serve())
"""


@pytest.mark.parametrize("kind", [pytest.param("compare", marks=pytest.mark.slow), "protect"])
def test_a_worker_whose_server_is_killed_ends_by_itself(many, tmp_path, kind):
    """Nothing goes on that nobody watches; a release is whole, if it was done, or absent."""
    folder = tmp_path / "releases" / "release"
    folder.parent.mkdir()
    task = comparing(many, runs=500) if kind == "compare" else protecting(many, folder)
    with subprocess.Popen(
        [sys.executable, "-c", SERVER.format(folder=f"{tmp_path}")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as server:
        server.stdin.write(to_line(task))
        server.stdin.flush()
        assert server.stdout.readline() == b"under way\n"
        (worker,) = children(server.pid)
        server.kill()
    assert until(lambda: not runs(worker), seconds=120)
    left = {path.name for path in folder.parent.iterdir()}
    assert left in (set(), {"release", "release-custodian"})


HELD = """
import time
import tomllib
from microveil.app import worker
original = worker._reserved_output
def reserved():
    say = original()
    def heard(contents):
        say(contents)
        if contents.get("progress") == "writing the table":
            time.sleep(600)
    return heard
worker._reserved_output = reserved
"""


@pytest.mark.slow
def test_a_worker_that_nobody_waits_for_clears_up(people, tmp_path):
    """It interrupts itself: what it was about to write goes, the hidden folder with it."""
    folder = tmp_path / "releases" / "release"
    folder.parent.mkdir()
    worker = started(HELD)
    worker.stdin.write(to_line(protecting(people, folder)))
    worker.stdin.flush()
    while b"writing the table" not in worker.stdout.readline():
        pass
    assert list(folder.parent.iterdir())
    worker.stdin.close()
    try:
        assert worker.wait(timeout=120) == 130
    finally:
        worker.kill()
    assert not list(folder.parent.iterdir())
    for pipe in (worker.stdout, worker.stderr):
        pipe.close()


@pytest.mark.slow
def test_a_worker_that_cannot_be_interrupted_ends_all_the_same():
    """Nobody waits for it any more: it ends itself, whatever holds the interrupt up."""
    script = (
        "import time\nfrom microveil.app import tasks, worker\nworker.PATIENCE = 0.5\n"
        "def deaf(task, say):\n"
        "    while True:\n"
        "        try:\n"
        "            say({'progress': 'deaf'})\n"
        "            time.sleep(60)\n"
        "        except KeyboardInterrupt:\n"
        "            pass\n"
        "worker.TASKS = {'deaf': deaf}\n"
    )
    worker = started(script)
    worker.stdin.write(to_line({"task": "deaf"}))
    worker.stdin.flush()
    assert b"deaf" in worker.stdout.readline()
    worker.stdin.close()
    assert worker.wait(timeout=120) == -signal.SIGKILL
    for pipe in (worker.stdout, worker.stderr):
        pipe.close()


def test_of_an_error_of_another_kind_only_its_type_is_said():
    """Its message may hold a value of the table; what else is printed goes nowhere either."""
    script = (
        "from microveil.app import worker\n"
        "def fails(task, say):\n"
        f"    print('{MARK}', flush=True)\n"
        "    import os, sys\n"
        f"    os.write(1, b'{MARK}'); os.write(2, b'{MARK}'); sys.stderr.write('{MARK}')\n"
        f"    raise ZeroDivisionError('{MARK}')\n"
        "worker.TASKS = {'fails': fails}\n"
    )
    said, error = answers(started(script), {"task": "fails"})
    assert said == [{"failure": "ZeroDivisionError"}]
    assert not error


@pytest.mark.slow
def test_a_worker_that_dies_is_a_failure(many, tmp_path):
    """The signal that ended it is named, and the next task runs."""

    async def killed():
        async with aclosing(Works(tmp_path)) as works:
            name = works.start(comparing(many, runs=500)).id
            await begun(works, name)
            (pid,) = children(os.getpid())
            os.kill(pid, signal.SIGKILL)
            first = await works.wait(name)
            return first, await works.wait(works.start({"task": "none"}).id)

    first, second = asyncio.run(killed())
    assert (first.state, first.failure) == (State.FAILED, "SIGKILL")
    assert second.state is State.REFUSED


def test_a_worker_has_nothing_of_the_server_and_ends_with_it(many, tmp_path, monkeypatch):
    """No socket, no variable that came later, no argument that says anything; its own group.

    After `close` no child is left, nothing is known any more, and nothing starts.
    """
    listening = socket.create_server(("127.0.0.1", 0))
    inode = os.fstat(listening.fileno()).st_ino

    async def closed():
        works = Works(tmp_path)
        monkeypatch.setenv("SECRET_OF_THE_SERVER", MARK)
        names = [works.start(comparing(many, runs=500)).id]
        await begun(works, names[0])
        (pid,) = children(os.getpid())
        place = Path(f"/proc/{pid}")
        descriptors = [str(entry.readlink()) for entry in (place / "fd").iterdir()]
        assert MARK.encode() not in (place / "environ").read_bytes()
        assert f"socket:[{inode}]" not in descriptors
        arguments = (place / "cmdline").read_bytes().split(b"\0")[1:-1]
        assert arguments == [b"-P", b"-m", b"microveil.app.worker"]
        assert os.getpgid(pid) == pid == os.getsid(pid)
        assert str((place / "cwd").readlink()) == f"{tmp_path}"
        assert len(list((tmp_path / "temporary").iterdir())) == 1
        names += [works.start(comparing(many, runs=500)).id for _ in range(2)]
        pids = children(os.getpid())
        await works.aclose()
        with pytest.raises(mv.MicroveilError, match="ending"):
            works.start({"task": "inspect"})
        return pids, [name in works._works for name in names]

    pids, known = asyncio.run(closed())
    listening.close()
    assert pids
    assert not any(map(runs, pids))
    assert not any(known)


@pytest.mark.slow
def test_temporary_files_are_for_their_owner_alone(many, tmp_path, temporary):
    """The folder of a comparison under way can be opened by nobody else."""

    async def modes():
        async with aclosing(Works(tmp_path)) as works:
            name = works.start(comparing(many, runs=500)).id
            await begun(works, name)
            (folder,) = temporary.iterdir()
            return folder.stat().st_mode & 0o777

    assert asyncio.run(modes()) == 0o700


@pytest.mark.slow
def test_nothing_is_loaded_from_the_users_folder(people):
    """A file that is called as a library stays what it is: a file."""
    for name in ("json", "polars", "numpy", "sitecustomize"):
        (people.parent / f"{name}.py").write_text("open('loaded', 'w').close()\nraise OSError\n")
    task = {"task": "inspect", "path": f"{people}"}
    assert ended(task, folder=people.parent).state is State.DONE
    assert not (people.parent / "loaded").exists()


@pytest.mark.slow
def test_two_tasks_run_at_a_time_and_others_wait_their_turn(people, many, tmp_path):
    """A third runs when one has ended; one that waits can be cancelled before it has begun."""

    async def several():
        async with aclosing(Works(tmp_path)) as works:
            first, second = (works.start(comparing(many, runs=500)).id for _ in range(2))
            third = works.start({"task": "inspect", "path": f"{people}"}).id
            fourth = works.start(protecting(people, tmp_path / "release")).id
            await begun(works, first)
            await begun(works, second)
            assert len(children(os.getpid())) == 2
            waiting = [works.get(name).state for name in (third, fourth)]
            works.cancel(fourth)
            gone = await works.wait(fourth)
            works.cancel(first)
            return waiting, gone, await works.wait(third), works.get(second).state

    waiting, gone, third, second = asyncio.run(several())
    assert waiting == [State.WAITING, State.WAITING]
    assert gone.state is State.CANCELLED
    assert not gone.steps
    assert third.state is State.DONE
    assert second is State.RUNNING
    assert not (tmp_path / "release").exists()


@pytest.mark.slow
def test_results_are_kept_up_to_a_number(tmp_path, monkeypatch):
    """The oldest that has ended is forgotten; where all are under way, no more are taken."""
    monkeypatch.setattr(work, "REMEMBERED", 2)

    async def several():
        async with aclosing(Works(tmp_path)) as works:
            first = await works.wait(works.start({"task": "none"}).id)
            second = works.start({"task": "none"})
            third = works.start({"task": "none"})
            with pytest.raises(mv.MicroveilError, match="too much"):
                works.start({"task": "none"})
            return [one.id in works._works for one in (first, second, third)]

    assert asyncio.run(several()) == [False, True, True]


@pytest.mark.slow
def test_results_are_in_no_text_of_the_work(people, tmp_path):
    """What stands in a log by accident holds no figure of the table."""
    found = ended({"task": "inspect", "path": f"{people}"}, folder=tmp_path)
    assert found.result
    assert "result" not in repr(found)
