"""Conditions: what an epsilon takes as given, or leaves out, as values that travel with it.

Every place that shows an epsilon (guarantee, summary, terminal, comparison, frontier, advice,
reports) reads the conditions of the guarantee, and none derives them from a method's name. The
words of ours stand in `conditions.toml`; a method may state others in its promise.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from typing import Any

from microveil.guarantee.terms import EVERY_SCOPE, Model, Scope, Unit
from microveil.text import enumerated, listed, one_line

WORDS: dict[str, dict[str, Any]] = tomllib.loads(
    files("microveil.guarantee").joinpath("conditions.toml").read_text("utf-8")
)
# Those that a request brings with it, whatever its method: a comparison says them once for all.
OF_REQUESTS = frozenset(
    entry.get("id", name) for name, entry in WORDS.items() if not entry.get("of_method")
)
FURTHER = {
    Model.DIFFERENTIAL_PRIVACY: "Every further release of the same people, a rerun of this one "
    "included, adds its epsilon to this one's, so that the factors multiply, and its delta. The "
    "custodian's ledger is a list that counts them.",
    Model.INDIVIDUAL: "Every further release of the same people, a rerun of this one included, "
    "can be compared with this one. Epsilons of individual differential privacy do not bound what "
    "two releases show together: a ledger of releases counts them and adds nothing up.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What an epsilon takes as given, or leaves out.

    >>> held = Condition(id="weather", short="the weather", text="It is taken to be the same.")
    >>> held.clause
    'with the weather held'
    """

    id: str
    short: str  # a few words: "the noise scales"; of what is left out "not for the column CITY"
    text: str  # whole sentences, for whoever must answer for a release
    is_given: bool = True  # the same for this table and its neighbours; else left out of the claim
    scopes: tuple[Scope, ...] = EVERY_SCOPE  # that depend on it; none where no epsilon is spent

    @property
    def clause(self) -> str:
        """The condition behind a name, by itself."""
        return f"with {self.short} held" if self.is_given else self.short

    def at(self, scopes: Iterable[Scope]) -> "Condition":
        """Return the condition as it bears on other scopes."""
        return replace(self, scopes=tuple(scopes))

    def to_dict(self) -> dict[str, Any]:
        """Return the condition as plain values."""
        return {
            "id": self.id,
            "scopes": [scope.value for scope in self.scopes],
            "text": self.text,
            "short": self.short,
            "is_given": self.is_given,
        }

    @classmethod
    def from_dict(cls, contents: Mapping[str, Any]) -> "Condition":
        """Make a condition of the plain values that `to_dict` gives."""
        return cls(**{**contents, "scopes": tuple(map(Scope, contents["scopes"]))})


def condition_of(name: str, *, names: Sequence[str] = (), unit: Unit | None = None) -> Condition:
    """Return a condition of `conditions.toml`, of the attributes and the unit that it is about.

    >>> condition_of("kept-columns", names=["CITY"]).clause
    'not for what is released as it is: CITY'
    """
    entry, column = WORDS[name], one_line(unit.column or "") if unit else ""
    about = {"names": listed(names), "unit": unit, "column": column}
    return Condition(
        id=entry.get("id", name),
        short=entry["short"].format(**about),
        text=entry["text"].format(**about),
        is_given=entry.get("is_given", True),
        scopes=tuple(map(Scope, entry.get("scopes", EVERY_SCOPE))),
    )


noise_scales = partial(condition_of, "noise-scales")
rank_boundaries = partial(condition_of, "rank-boundaries")
cluster_sizes = partial(condition_of, "cluster-sizes")


def in_short(conditions: Sequence[Condition]) -> tuple[str, ...]:
    """Say conditions in a few words: what is held in one clause, what is left out in others."""
    # Two parts may share a condition: it is said once.
    given = list(dict.fromkeys(own.short for own in conditions if own.is_given))
    left_out = dict.fromkeys(own.short for own in conditions if not own.is_given)
    return (*([f"with {enumerated(given)} of this table held"] if given else []), *left_out)
