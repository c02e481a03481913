"""Drafts: recipes in the making, each change of which makes a new version."""

import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from microveil.errors import RequestError
from microveil.files.address import address_of

if TYPE_CHECKING:  # it loads what reads tables
    from microveil.files.declared import Outline

__all__ = ["Draft", "Drafts", "Proposal", "SeenValues", "StaleDraftError"]

# So many drafts are kept; of more the one that was changed longest ago is forgotten.
MOST_DRAFTS = 50
# What no figures bear on: how the recipe and its file are written, and who the people are. All
# else that a recipe says is published with the release, and may be chosen by figures.
BY_NO_FIGURES = ("microveil", "file", "population", "looked_at")


class StaleDraftError(RequestError):
    """The draft was changed elsewhere, in another tab, since the page was shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What `microveil inspect` says of a table: for a person to confirm.

    Attributes
    ----------
    kinds : dict of str
        What each column holds, in words, in the order of the table.
    entries : dict of str
        An entry of a recipe for each column.
    remarks : dict of str
        Sentences about columns.
    request : dict
        What else it proposes to ask for.
    n_records : int
    unit : str or None
        The column whose values repeat like the numbers of households, if there is one.
    """

    kinds: Mapping[str, str]
    entries: Mapping[str, Mapping[str, Any]]
    remarks: Mapping[str, tuple[str, ...]]
    request: Mapping[str, Any]
    n_records: int
    unit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenValues:
    """The different values of a column that a person asked to see.

    Attributes
    ----------
    values : tuple of str
        None of them where there are more than are shown.
    n_values : int
    """

    values: tuple[str, ...]
    n_values: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A table, and the recipe that is being written for it.

    Attributes
    ----------
    id : str
        Its place in addresses.
    version : int
        Counts its changes.
    path : str
        The address of the table.
    recipe : dict
        As it is declared by now, in the form of a recipe's file. What is proposed is not in it.
    outline : Outline or None
        What the table's file declares of its columns; None until that is known, if ever.
    proposal : Proposal or None
        None until the table was read.
    opened : (str, dict) or None
        The recipe that was opened: its text, and what it said.
    seen : frozenset of str
        Which figures were shown of its table, in this draft or another: "data" or "public".
    works : dict of str
        The work in the background of each kind that was started last.
    worked_on : dict of str
        The recipe that each of them was started with.
    saved : dict of str
        The text of each recipe that was saved from it, by its path.
    values : dict of str
        By column what was asked to be seen of its values.
    entered : dict of str or None
        The fields of the columns that were sent with such a request: they declare nothing, and
        are shown again.
    """

    id: str
    version: int = 0
    path: str
    recipe: Mapping[str, Any] = field(default_factory=dict)
    outline: "Outline | None" = None
    proposal: Proposal | None = None
    opened: tuple[str, Mapping[str, Any]] | None = None
    seen: frozenset[str] = frozenset()
    works: Mapping[str, str] = field(default_factory=dict)
    worked_on: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    saved: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, SeenValues] = field(default_factory=dict, repr=False)
    entered: Mapping[str, str] | None = field(default=None, repr=False)

    @property
    def columns(self) -> list[str]:
        """The columns of the table: as it was read, until then as its file declares them."""
        known = self.outline if self.proposal is None else self.proposal
        return [] if known is None else list(known.kinds)

    def declared(self, column: str) -> Mapping[str, Any] | None:
        """Return the recipe's entry of a column; None where nobody has declared it."""
        entries: Mapping[str, Mapping[str, Any]] = self.recipe.get("attributes", {})
        return entries.get(column)

    def asking(self, **entries: Any) -> "Draft":
        """Return the draft with entries of its recipe set; those that are None are taken out."""
        recipe = {**self.recipe, **entries}
        kept = {name: value for name, value in recipe.items() if value is not None}
        return replace(self, recipe=kept)

    def choosing(self, **entries: Any) -> "Draft":
        """Return the draft with entries set that figures may have been looked at for.

        Where figures of the table were shown before, whatever is now another was taken after a
        look at the data, and the recipe says so; where they were public ones, that. It is so of
        attributes and their bounds as of a method, k or budget: figures are shown of each.
        """
        changed = self.asking(**entries)
        if _chosen(changed.recipe) == _chosen(self.recipe):
            return changed
        looked_at = next((kind for kind in ("data", "public") if kind in self.seen), None)
        if looked_at is None or self.recipe.get("looked_at") == "data":
            return changed
        return changed.asking(looked_at=looked_at)


def _chosen(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a recipe says that figures may bear on."""
    return {name: said for name, said in recipe.items() if said and name not in BY_NO_FIGURES}


def _is_same_table(path: str, other: str) -> bool:
    """Whether two addresses may be of one table: what a query gives may be of any in its place.

    >>> _is_same_table("a.db?table=people", "a.db?query=SELECT 1")
    True
    >>> _is_same_table("a.db?table=people", "a.db?table=houses")
    False
    """
    one, two = address_of(path), address_of(other)
    named = {address.table for address in (one, two)} - {None}
    return one.location == two.location and len(named) < 2


class Drafts:
    """The drafts of one server, in its memory alone: they end with it.

    Examples
    --------
    >>> drafts = Drafts()
    >>> draft = drafts.new("people.csv")
    >>> changed = drafts.change(draft.id, draft.version, lambda one: one.asking(k=5))
    >>> changed.version, drafts.get(draft.id).recipe
    (1, {'k': 5})
    """

    def __init__(self) -> None:
        self._drafts: dict[str, Draft] = {}
        self._seen: dict[str, frozenset[str]] = {}
        self._drawn: list[tuple[str, str, Mapping[str, Any]]] = []
        self._lock = threading.Lock()

    def new(self, path: str, opened: tuple[str, Mapping[str, Any]] | None = None) -> Draft:
        """Begin a draft, empty or with a recipe that was opened.

        What was shown of its table in another draft was shown to whoever writes this one.
        """
        draft = Draft(
            id=secrets.token_hex(4),
            path=path,
            recipe={} if opened is None else opened[1],
            opened=opened,
        )
        with self._lock:
            seen = (kinds for other, kinds in self._seen.items() if _is_same_table(path, other))
            draft = replace(draft, seen=frozenset[str]().union(*seen))
            self._drafts[draft.id] = draft
            while len(self._drafts) > MOST_DRAFTS:
                del self._drafts[next(iter(self._drafts))]
        return draft

    def get(self, name: str) -> Draft | None:
        """Return a draft; None where there is none of this id."""
        return self._drafts.get(name)

    def all(self) -> list[Draft]:
        """Return them, the one that was changed last first."""
        return list(reversed(self._drafts.values()))

    def change(self, name: str, version: int, change: Callable[[Draft], Draft]) -> Draft:
        """Put a new version in place of the one that was shown.

        Raises
        ------
        StaleDraftError
            If it is no longer that version and the recipe would be another: nothing is changed.
        """
        with self._lock:
            draft = self._drafts.pop(name)
            self._drafts[name] = draft  # the last of all now
            made = change(draft)
            if version != draft.version and made.recipe == draft.recipe:
                return draft  # a form that is sent once more, by a reload, says nothing new
            _refuse_stale(draft, version)
            changed = replace(made, id=name, version=draft.version + 1)
            self._drafts[name] = changed
            return changed

    def check(self, name: str, version: int) -> None:
        """Refuse to go on from a page that was shown for another version, as `change` does."""
        _refuse_stale(self._drafts[name], version)

    def note(self, name: str, change: Callable[[Draft], Draft]) -> Draft:
        """Put down what a person does not enter, work that goes on for example: no new version."""
        with self._lock:
            draft = self._drafts[name]
            noted = replace(change(draft), id=name, version=draft.version)
            self._drafts[name] = noted
            return noted

    def show(self, name: str, *kinds: str) -> Draft:
        """Put down that figures are shown: in all drafts of the table, and in those to come.

        Parameters
        ----------
        name : str
        *kinds : {"data", "public"}
        """
        with self._lock:
            path = self._drafts[name].path
            self._seen[path] = self._seen.get(path, frozenset()) | frozenset(kinds)
            for other in self._drafts.values():
                if _is_same_table(path, other.path):
                    self._drafts[other.id] = replace(other, seen=other.seen | frozenset(kinds))
            return self._drafts[name]

    def draw(self, name: str, work: str, recipe: Mapping[str, Any]) -> None:
        """Put down that a release of a draft's table is being drawn, by which work and recipe."""
        with self._lock:
            self._drawn.append((self._drafts[name].path, work, recipe))

    def drawn(self, name: str) -> list[tuple[str, Mapping[str, Any]]]:
        """Return the work and the recipe of each draw of a draft's table, in any draft."""
        path = self._drafts[name].path
        return [
            (work, recipe) for other, work, recipe in self._drawn if _is_same_table(path, other)
        ]


def _refuse_stale(draft: Draft, version: int) -> None:
    if version != draft.version:
        raise StaleDraftError(
            "page",
            "the recipe was changed since this page was shown, in another tab perhaps",
            "look at what it says now, and enter your change once more",
        )
