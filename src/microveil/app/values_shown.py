"""The values of a column, where a person asks to see them: of text, and of one column at a time."""

from collections.abc import Sequence
from dataclasses import replace

from microveil.app.columns_step import with_values
from microveil.app.drafts import Draft, SeenValues
from microveil.app.site import Site
from microveil.app.work_pages import found_of, started, work_of
from microveil.protect.recipe import file_of_recipe

__all__ = ["listed", "looked_at_values"]


def listed(site: Site, draft: Draft, column: str, codes: Sequence[str]) -> Draft:
    """Start to list the values of a column of text, where a person asks for them."""
    task = {
        "task": "list",
        "path": draft.path,
        "file": file_of_recipe(draft.recipe),
        "column": column,
        "missing_codes": {column: list(codes)} if codes else None,
        "missing_values": draft.recipe.get("missing_values"),
    }
    return started(site, draft, task)


def looked_at_values(site: Site, draft: Draft) -> Draft:
    """Take into a draft what was found of the values of a column, once they were listed."""
    found = found_of(work_of(site, draft, "list"))
    if found is None:
        return draft
    seen = SeenValues(values=tuple(found["values"]), n_values=found["n_values"])
    works = {kind: work for kind, work in draft.works.items() if kind != "list"}
    return site.drafts.note(
        draft.id, lambda one: replace(with_values(one, found["column"], seen), works=works)
    )
