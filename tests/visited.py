"""Visits to the pages of the app, in this process: from a table to what a step answers."""

import asyncio
import re

from asgi import asked
from microveil.app.pages import application
from microveil.app.places import Folder
from microveil.app.tasks import TASKS
from microveil.app.work import State, Work

PEOPLE = "ID,AGE,SEX\n" + "".join(f"{n},{20 + n % 50},{'fm'[n % 2]}\n" for n in range(200))
# Of the three columns one is protected: what its form says, and what is set of the others.
AGE = {"column": "1", "role": "confidential", "type": "whole number", "lower": "0", "upper": "120"}
LEFT_OUT = {"pick-0": "yes", "pick-2": "yes", "role": "identifier", "set": "picked"}
PROMISED = {"who": "record", "scope": "vector", "epsilon": "1"}


class Instantly:
    """Work that is carried out at once and in this process: what a worker would answer."""

    def __init__(self, _folder):
        self._works = {}

    def start(self, task):
        result = TASKS[task["task"]](task, lambda _said: None)
        work = Work(id=str(len(self._works)), kind=task["task"], state=State.DONE, result=result)
        self._works[work.id] = work
        return work

    def get(self, name):
        return self._works.get(name)

    async def aclose(self):
        """End nothing: all is done."""


def on(folder, visit):
    """Let a visit to the pages on a folder take place, and end all work after it."""

    async def visited():
        site = application(Folder(folder))
        async with site.router.lifespan_context(site):
            return await visit(lambda *request: asked(site, *request))

    return asyncio.run(visited())


def version(answer):
    """Return the version that a page's form is for."""
    return re.search(r'name="version" value="(\d+)"', answer.text)[1]


async def opened(ask, **form):
    """Choose a table; return the address of its draft once it was looked at."""
    answer = await ask("POST", "/", {"table": "people.csv", **form})
    assert answer.status == 303, answer.text
    draft = answer.location.rpartition("/")[0]
    await ended(ask, draft, "inspect")
    return draft


async def ended(ask, draft, kind):
    """Wait until work of a draft has ended."""
    for _ in range(1200):
        answer = await ask("GET", f"{draft}/progress/{kind}")
        if answer.headers.get("hx-refresh"):
            return
        await asyncio.sleep(0.05)
    raise AssertionError(kind)


async def saved(ask, draft, step, form):
    """Save a step."""
    shown = await ask("GET", f"{draft}/{step}")
    return await ask("POST", f"{draft}/{step}", {"version": version(shown), **form})


async def declared(ask, draft, **age):
    """Declare the columns, and go on."""
    await posted(ask, draft, "data", LEFT_OUT)
    answer = await posted(ask, draft, "column", {**AGE, **age})
    return answer if answer.status != 303 else await posted(ask, draft, "data", {})


async def posted(ask, draft, address, form):
    """Send a form of the data as it is shown now."""
    shown = await ask("GET", f"{draft}/data")
    return await ask("POST", f"{draft}/{address}", {"version": version(shown), **form})
