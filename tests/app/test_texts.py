"""One catalogue holds every sentence of the page."""

import re
from dataclasses import replace
from importlib.resources import files

import pytest

from microveil.app.places import Folder
from microveil.app.site import Site
from microveil.app.texts import texts
from microveil.app.work import State, Work, Works
from microveil.guarantee import Model, Scope
from microveil.schema import COLUMN_KINDS, Role

TEMPLATES = files("microveil.app") / "templates"


def used():
    """Yield the names of sentences that templates ask for."""
    for template in TEMPLATES.iterdir():
        if template.name.endswith((".html", ".svg")):
            yield from re.findall(r"\bt\('([\w.-]+)'", template.read_text(encoding="utf-8"))


def test_every_sentence_that_is_asked_for_is_there():
    """No page fails for want of a sentence."""
    assert set(used())
    for name in set(used()) - {
        "steps.",
        "roles.",
        "kinds.",
        "promise.",
        "scopes.",
        "result.",
        "missing_cells.",
        "models.",
        "sources.",
    }:
        assert texts()(name)


def test_what_a_recipe_can_say_has_a_sentence():
    """Each role, each kind of column and each scope."""
    assert set(texts().section("roles")) == {role.value for role in Role}
    assert set(texts().section("kinds")) == {kind.value for kind in COLUMN_KINDS}
    assert set(texts().section("models")) == {model.value for model in Model}
    for scope in Scope:
        assert texts()(f"scopes.{scope.value}")
        assert texts()(f"scopes.{scope.value}_hint")


def test_templates_hold_no_sentence_of_their_own():
    """Another language is another file: between tags there is no word but of values."""
    for template in TEMPLATES.iterdir():
        if not template.name.endswith(".html"):
            continue
        text = template.read_text(encoding="utf-8")
        text = re.sub(r"\{[{%#].*?[}%#]\}", "", text, flags=re.DOTALL)
        between = re.sub(r"<[^>]*>|[a-z-]+=\"[^\"]*\"", " ", text, flags=re.DOTALL)
        assert not re.search(r"[A-Za-z]{3}", between), (template.name, between.split())


@pytest.mark.parametrize("state", ["cancelled", "failed"])
def test_a_release_that_stands_is_not_said_to_be_none(tmp_path, state):
    """A cancel that came too late, or an error after the writing: the page says so."""
    environment = Site(folder=Folder(tmp_path), works=Works(tmp_path)).environment
    ended = environment.get_template("fields.html").make_module().ended
    work = Work(id="1", kind="protect", state=State(state), failure="OSError")
    assert texts()("work.released") not in ended(work)
    assert texts()("work.released") in ended(replace(work, released=True))
