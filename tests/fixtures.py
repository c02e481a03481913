"""Fixtures and what tests need that is not everywhere, here and for the papers."""

import gc
import importlib
import os
from pathlib import Path

import pytest
from hypothesis import settings

import compiled
import postgresql_server
import uncompiled

# Of thousands of tests, and of what they import, nothing is garbage: looking for it took a quarter
# of the time that it takes to find them.
gc.set_threshold(200_000, 20, 100)
# The first call of a kernel compiles it: a deadline would fail on that, not on us. Of each property
# a few examples every time, and many before a change is called done (make test-slow).
settings.register_profile("microveil", deadline=None, max_examples=12)
settings.register_profile("thorough", deadline=None, max_examples=400)
settings.load_profile("microveil")
if uncompiled.IS_UNCOMPILED:
    uncompiled.take_over()


def pytest_configure(config):
    """Compile kernels before workers start: each would do so, at once."""
    is_worker = hasattr(config, "workerinput")
    has_workers = config.getoption("dist", "no") != "no"
    if has_workers and not is_worker and not uncompiled.IS_UNCOMPILED:
        compiled.compile_kernels()


def pytest_collection_modifyitems(config, items):
    """Leave tests out where what they need is not there: `pytest_terminal_summary` says so."""
    left_out = [item for item in items if any(map(item.get_closest_marker, _missing()))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


def pytest_collection_finish():
    """Let the collector of garbage pass over them."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):  # noqa: ARG001 -- the hook's own argument
    """Give up what takes too long where kernels are plain Python."""
    if not uncompiled.IS_UNCOMPILED:
        return (yield)
    with uncompiled.limited():
        return (yield)


def pytest_terminal_summary(terminalreporter):
    """Say which tests were left out, and what runs them."""
    for words in _missing().values():
        terminalreporter.write_line(words)


def _missing():
    """By marker, say of tests that cannot run here that they were left out."""
    left_out = {}
    if postgresql_server.PROGRAMS is None:
        left_out["postgresql"] = "tests of PostgreSQL left out: apt-get install postgresql"
    if not os.environ.get("MICROVEIL_DATA"):
        left_out["reference"] = (
            "tests on reference data left out: set MICROVEIL_DATA to their folder"
        )
    return left_out


@pytest.fixture(scope="module", autouse=True)
def unreported(request):
    """Draw no custodian's page of a file's release, but where `reported` or IS_REPORTED asks.

    It takes as long as the release, and hangs on no format, flag or recipe.
    """
    if getattr(request.module, "IS_REPORTED", False):
        yield
        return
    files = importlib.import_module("microveil.commands.files")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "REPORTED_RECORDS", 0)
        yield


@pytest.fixture(scope="module", autouse=True)
def undrawn(request):
    """Have a picture of the same few bytes for each chart, but where IS_DRAWN asks for its own.

    Drawing took an eighth of the time of all tests; what else a page holds hangs on no picture.
    """
    if getattr(request.module, "IS_DRAWN", False):
        yield
        return
    shell = importlib.import_module("microveil.report.shell")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shell, "svg_of", lambda _chart, prefix: f'<svg id="{prefix}"></svg>')
        yield


@pytest.fixture
def reported(monkeypatch):
    """Draw the custodian's page of a file's release, as everybody gets it."""
    files = importlib.import_module("microveil.commands.files")
    notes = importlib.import_module("microveil.protect.notes")
    monkeypatch.setattr(files, "REPORTED_RECORDS", notes.REPORTED_RECORDS)


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """Return the folder of the reference data that MICROVEIL_DATA names."""
    return Path(os.environ["MICROVEIL_DATA"])
