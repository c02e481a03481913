"""What is loaded when: the first page needs little, and nothing is loaded twice over."""

import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
LOADED = """
import asyncio, sys, tempfile
from pathlib import Path
from asgi import asked
from microveil.app import pages
from microveil.app.pages import application
from microveil.app.places import Folder

async def visit(folder):
    (Path(folder) / "of May").mkdir()
    site = application(Folder(Path(folder)))
    pages.BackgroundTask = lambda _: None  # it would go on behind the page
    heavy = {"polars", "numba", "scipy", "numpy"} & set(sys.modules)
    async with site.router.lifespan_context(site):
        assert (await asked(site, "GET", "/")).status == 200
        first = {"polars", "numba", "scipy", "numpy"} & set(sys.modules)
        assert (await asked(site, "GET", "/drafts/none/data")).status == 404
    assert "polars" in sys.modules
    print(sorted(heavy | first))

with tempfile.TemporaryDirectory() as folder:
    asyncio.run(visit(folder))
"""


def test_the_first_page_is_answered_before_the_libraries_of_tables_are_loaded():
    """By the list of what a process has loaded, a folder with folders in it included."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=False, cwd=TESTS
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
