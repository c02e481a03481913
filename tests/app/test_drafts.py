"""What becomes of a recipe in the making: versions, tabs, and what was looked at."""

from dataclasses import replace

import pytest

from drafted import drafted
from microveil.app import drafts as module
from microveil.app.drafts import Draft, Drafts, StaleDraftError


def shown(drafts, draft, kind):
    """Show figures of a kind."""
    return drafts.note(draft.id, lambda one: replace(one, seen=one.seen | {kind}))


@pytest.mark.parametrize("changed", [{"k": 5}, {"method": "dp-um"}, {"epsilon": 2}])
def test_what_is_changed_after_figures_of_the_table_is_said_to_be_chosen_by_them(changed):
    """A method, k or budget taken after a look at the data says so in the recipe, and for good."""
    drafts, draft = drafted(method="idp-cbls", k=10, epsilon=1)
    draft = shown(drafts, draft, "data").choosing(**changed)
    assert draft.recipe["looked_at"] == "data"
    assert draft.choosing(k=50).recipe["looked_at"] == "data"


def test_what_was_chosen_before_figures_were_shown_is_not_said_to_be_chosen_by_them():
    """Neither what was entered before, nor what stays as it was afterwards."""
    drafts, draft = drafted()
    draft = draft.choosing(method="idp-cbls", k=10, epsilon=1)
    assert "looked_at" not in draft.recipe
    seen = replace(draft, seen=frozenset({"data"}))
    assert "looked_at" not in seen.choosing(method="idp-cbls", k=10, epsilon=1).recipe
    assert drafts.get(draft.id).version == 0


def test_choosing_by_public_figures_costs_nothing_until_others_were_seen():
    """Public figures are named as such; data, once shown, outweigh them."""
    drafts, draft = drafted(method="dp-synthetic", epsilon=1)
    public = shown(drafts, draft, "public")
    assert public.choosing(epsilon=2).recipe["looked_at"] == "public"
    both = shown(drafts, draft, "data")
    assert both.choosing(epsilon=2).recipe["looked_at"] == "data"


def test_the_draft_that_was_changed_longest_ago_is_forgotten_first(monkeypatch):
    """No more drafts are kept than a bound, and the others stay whole."""
    monkeypatch.setattr(module, "MOST_DRAFTS", 2)
    drafts = Drafts()
    first, second = drafts.new("a.csv"), drafts.new("b.csv")
    drafts.change(first.id, 0, lambda one: one.asking(k=5))
    third = drafts.new("c.csv")
    assert [draft.id for draft in drafts.all()] == [third.id, first.id]
    assert drafts.get(second.id) is None


def test_a_form_that_is_sent_once_more_is_no_conflict():
    """A reload sends it again: it changes nothing, and nothing is refused."""
    drafts, draft = drafted()
    once = drafts.change(draft.id, draft.version, lambda one: one.asking(k=5))
    again = drafts.change(draft.id, draft.version, lambda one: one.asking(k=5))
    assert again == once


def test_what_is_undone_is_as_it_was_but_for_what_was_looked_at():
    """One change after another; a look at the data is not undone, and neither is what it means."""
    drafts, draft = drafted(epsilon=1)
    for number, changed in enumerate(({"epsilon": 2}, {"k": 5})):
        draft = drafts.change(draft.id, number, lambda one, changed=changed: one.asking(**changed))
    shown(drafts, draft, "data")
    once = drafts.change(draft.id, 2, Draft.undone, undoes=True)
    assert once.recipe == {"epsilon": 2, "looked_at": "data"}
    twice = drafts.change(draft.id, 3, Draft.undone, undoes=True)
    assert twice.recipe == {"epsilon": 1, "looked_at": "data"}
    assert not twice.history
    assert drafts.change(draft.id, 4, Draft.undone, undoes=True).recipe == twice.recipe
    with pytest.raises(StaleDraftError):
        drafts.change(draft.id, 0, Draft.undone, undoes=True)
