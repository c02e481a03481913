"""What a table's file declares of its columns, shown while the table itself is being read."""

import asyncio
from dataclasses import replace

from starlette.concurrency import run_in_threadpool

from microveil.app.drafts import Draft
from microveil.app.loading import loaded
from microveil.app.site import Site
from microveil.app.tasks import text_of
from microveil.errors import MicroveilError

__all__ = ["outlined"]

# Seconds that a page waits for it; a database that takes longer is shown when it was read.
LONGEST = 3.0


async def outlined(site: Site, draft: Draft) -> None:
    """Put into a draft what its table's file declares, as soon as that is known.

    What cannot be outlined is no error here: the table is read next, and refused then with the
    sentence of the command line if it has to be.
    """
    looking = asyncio.get_running_loop().create_task(_look(site, draft))
    site.looking.add(looking)  # a loop keeps no hold of its tasks
    looking.add_done_callback(site.looking.discard)
    await asyncio.wait({looking}, timeout=LONGEST)


async def _look(site: Site, draft: Draft) -> None:
    await loaded()
    from microveil.files.outline import outline_of

    written = draft.recipe.get("file", {}) if draft.opened is None else draft.opened[1].get("file")
    try:
        found = await run_in_threadpool(outline_of, draft.path, text=text_of(written))
    except MicroveilError:
        return
    if found is not None and site.drafts.get(draft.id) is not None:
        site.drafts.note(draft.id, lambda one: replace(one, outline=found))
