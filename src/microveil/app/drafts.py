"""Drafts: recipes in the making, each change of which makes a new version."""

import secrets
import threading
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from microveil.errors import RequestError
from microveil.files.address import address_of

if TYPE_CHECKING:  # it loads what reads tables
    from microveil.files.typed import Outline

# What stands on the page for the words of recipes.
WORDS = tomllib.loads(files("microveil.app").joinpath("words.toml").read_text("utf-8"))
# So many drafts are kept; of more the one that was changed longest ago is forgotten.
MOST_DRAFTS = 50
MOST_UNDONE = 50
HEADER = "# A recipe for microveil protect, written by microveil app.\n\n"
# What no figures bear on: how the recipe and its file are written, and who the people are. All
# else that a recipe says is published with the release, and may be chosen by figures.
BY_NO_FIGURES = ("microveil", "file", "population", "looked_at")


class StaleDraftError(RequestError):
    """The draft was changed elsewhere, in another tab, since the page was shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """What `inspect` proposes of a column, and what the file says of it."""

    entry: Mapping[str, Any]
    notes: Sequence[str] = ()
    title: str = ""
    by_file: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What `inspect` says of a table; `unit` may say which records are one household's."""

    columns: Mapping[str, Proposed]
    n_records: int
    unit: str | None = None

    @property
    def kinds(self) -> dict[str, str]:
        """What columns hold, in words."""
        return {name: own.entry["type"] for name, own in self.columns.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenValues:
    """The different values of a column that a person asked to see: none of them if too many."""

    values: tuple[str, ...]
    n_values: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A table, and the recipe that is being written for it.

    `recipe` holds what is declared by now, nothing that is only proposed. `opened` is the text and
    the contents of a recipe that was opened. `seen` names the figures shown of the table, in this
    draft or another: "data" or "public". `works` are those of each kind started last, `worked_on`
    the recipes that they got. `entered` are fields sent with a question for values.
    """

    id: str
    version: int = 0
    path: str
    recipe: Mapping[str, Any] = field(default_factory=dict)
    history: tuple[Mapping[str, Any], ...] = ()
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

    @property
    def undeclared(self) -> list[str]:
        """The columns that nobody declared; none if a recipe was opened that names its columns."""
        if self.opened is not None and self.opened[1].get("attributes"):
            return []
        return [name for name in self.columns if self.declared(name) is None]

    def choosing(self, **entries: Any) -> "Draft":
        """Return the draft with entries set that figures may have been looked at for.

        Where figures of the table were shown, whatever is now another was taken after a look at
        them, and the recipe says so: attributes and bounds as much as a method, k or budget.
        """
        changed = self.asking(**entries)
        if _chosen(changed.recipe) == _chosen(self.recipe):
            return changed
        looked_at = next((kind for kind in ("data", "public") if kind in self.seen), None)
        if looked_at is None or self.recipe.get("looked_at") == "data":
            return changed
        return changed.asking(looked_at=looked_at)

    def undone(self) -> "Draft":
        """Return the draft with the recipe before; what was looked at stays looked at."""
        if not self.history:
            return self
        before = {**dict.fromkeys(self.recipe), **self.history[-1]}
        before.pop("looked_at", None)
        return self.choosing(**before)


def recipe_text(
    recipe: Mapping[str, Any], opened: tuple[str, Mapping[str, Any]] | None = None
) -> str:
    """Write a recipe as TOML: one that was opened and not changed as it stood, comments and all."""
    import tomli_w

    if opened is not None and opened[1] == recipe:
        return opened[0]
    # Single entries before tables: behind one they would belong to it.
    tables = {name: value for name, value in recipe.items() if isinstance(value, Mapping)}
    single = {name: value for name, value in recipe.items() if name not in tables}
    return HEADER + tomli_w.dumps({**single, **tables})


def _chosen(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a recipe says that figures may bear on."""
    return {name: said for name, said in recipe.items() if said and name not in BY_NO_FIGURES}


def _is_same_table(path: str, other: str) -> bool:
    """Whether two addresses may be of one table: what a query gives may be of any in its place."""
    one, two = address_of(path), address_of(other)
    named = {address.table for address in (one, two)} - {None}
    return one.location == two.location and len(named) < 2


class Drafts:
    """The drafts of one server, in its memory alone: they end with it."""

    def __init__(self) -> None:
        self._drafts: dict[str, Draft] = {}
        self._seen: dict[str, frozenset[str]] = {}
        self._drawn: list[tuple[str, str, Mapping[str, Any]]] = []
        self._lock = threading.Lock()

    def new(self, path: str, opened: tuple[str, Mapping[str, Any]] | None = None) -> Draft:
        """Begin a draft: figures of its table that another draft showed were seen by this user."""
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

    def change(
        self, name: str, version: int, change: Callable[[Draft], Draft], *, undoes: bool = False
    ) -> Draft:
        """Put a new version in place of the one that was shown; one that undoes a change, too."""
        with self._lock:
            draft = self._drafts.pop(name)
            self._drafts[name] = draft  # the last of all now
            made = change(draft)
            if made.recipe == draft.recipe and not undoes:
                return draft  # a form that is sent once more, by a reload, says nothing new
            _refuse_stale(draft, version)
            history = draft.history[:-1] if undoes else (*draft.history, draft.recipe)
            history = history[-MOST_UNDONE:]
            changed = replace(made, id=name, version=draft.version + 1, history=history)
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
        """Put down that figures are shown: in all drafts of the table, and in those to come."""
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
