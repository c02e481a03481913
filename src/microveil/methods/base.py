"""What a method is to the rest of the product: what it needs, what it can, plans and promises."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from microveil.guarantee import Condition, Cover, Model, Scopes, Unit
from microveil.schema import Attribute, Kind
from microveil.table import GridColumn

# Why a method cannot protect all records of a unit together.
NO_GROUP_PRIVACY = (
    "individual differential privacy compares tables that differ in one record: of several "
    "records of a unit it promises nothing"
)
NOTHING_FORMAL = "it bounds nothing for one record, and so nothing for all records of a unit"

Need = Literal["k", "epsilon", "bounds"]
Ability = Literal[
    "categories",  # takes text with a declared list of categories
    "delta",  # can leave a chance to what epsilon does not bound
    "missing",  # being without a value can be a value like another
    "reasons",  # and so can the reasons for it
    "units",  # clusters can hold records of k units, in place of k records
    "isotonic",  # noisy means are in an order that isotonic regression can restore
    "exact cells",  # its rule can call for no noise at all
    "new table",  # rows follow nobody
    "one by one",  # takes each attribute by itself, unless MDAV partitions
]


def epsilon_scopes(
    cluster: Fraction | float | None, vector: Fraction | float | None, row: Fraction | float | None
) -> Scopes:
    """Make scopes of their epsilons, None where not covered."""
    found = {"cluster": cluster, "vector": vector, "row": row}
    return Scopes(**{name: Cover.of(own) for name, own in found.items() if own is not None})


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What a request leaves to a method: its parameters and the steps it may choose.

    Attributes
    ----------
    k : int
        The least cluster size; 1 where the method forms none.
    shares : dict of Fraction
        What of epsilon may be spent on one record of each attribute; empty where none is.
    exact_cells : str
        "refuse", "allow" or "widen", where a method's rule can call for no noise at all.
    own : dict
        Values of the method's own arguments, by name, which reads them as ``choices["partition"]``:
        the default where none was given.
    n_records : int
        Of the table: public.
    epsilon, delta : Fraction or None, Fraction
        The budget of the whole, for whoever is protected: a record, or a unit.
    max_rows : int
        How many records of a unit there may be: `shares` are already so many times less than
        those of the unit, but of attributes that are one value a unit, and what a method divides
        itself must be.
    budget : dict
        Weights of attributes in it, 1 where not given.
    isotonic : bool
        Whether noisy means of clusters by rank are put back in order.
    protects_missing : bool
        Whether being without a value is a value like another.
    unit : Unit
        What clusters count, so that each holds k of them: records, or values of a column.
    units : int64 array (n_records,) or None
        By record, where there is such a column: which of its values the record has.
    """

    k: int
    shares: Mapping[str, Fraction]
    exact_cells: str = "refuse"
    own: Mapping[str, Any] = field(default_factory=dict)
    n_records: int = 0
    epsilon: Fraction | None = None
    delta: Fraction = Fraction(0)
    max_rows: int = 1
    budget: Mapping[str, Any] = field(default_factory=dict)
    isotonic: bool = False
    protects_missing: bool = False
    unit: Unit = field(default_factory=Unit)
    # Of one request all plans are made for the same table.
    units: NDArray[np.int64] | None = field(default=None, compare=False)

    def __getitem__(self, name: str) -> Any:
        return self.own[name]

    def hides_missing(self, attribute: Attribute) -> bool:
        """Whether being without a value is a value of an attribute."""
        return self.protects_missing and not attribute.never_missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a promise may depend on: nothing of it but public figures.

    Attributes
    ----------
    attributes : tuple of Attribute
        Those that are protected, as declared or read from the data.
    shares : tuple of Fraction
        Share of epsilon of each protected attribute, all records of a unit together.
    spends_epsilon : bool
        False where some attribute has no share that bounds what it reveals.
    choices : Choices
    keeps_missing, keeps : bool
        Whether missing cells, and whether other columns, are released as they are.
    shuffle : {"rows", "columns"} or None
        Whether rows, or each attribute by itself, are released in random order.
    """

    attributes: tuple[Attribute, ...]
    shares: tuple[Fraction, ...]
    spends_epsilon: bool
    choices: Choices
    keeps_missing: bool
    keeps: bool
    shuffle: str | None = None

    @property
    def has_categories(self) -> bool:
        """Whether some protected attribute is categories, ordered or not."""
        return any(one.kind in {Kind.ORDINAL, Kind.NOMINAL} for one in self.attributes)

    @property
    def epsilon(self) -> Fraction:
        """The budget over all attributes."""
        return sum(self.shares, Fraction(0))

    @property
    def read_from_data(self) -> bool:
        """Whether a public figure of the mechanism was read from the data."""
        return any(one.from_data for one in self.attributes)

    @property
    def most_clusters(self) -> int:
        """The most clusters that an attribute can have."""
        return max(1, self.choices.n_records // self.choices.k)

    @property
    def model(self) -> Model:
        """Differential privacy, or individual where a public figure was read from the data."""
        return Model.INDIVIDUAL if self.read_from_data else Model.DIFFERENTIAL_PRIVACY


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What a method promises in a setting.

    Attributes
    ----------
    model : Model
    epsilon : Fraction or None
    scopes : Scopes
    conditions : tuple of Condition
        What the method's epsilon takes as given, or leaves out, whatever else is asked for.
    caveats : tuple of str
        What else is to be known of it, in sentences.
    title, source, deed : str or None
        Of the method as chosen, where that is not its own.
    delta : Fraction
    rho : Fraction or None
        The budget of zero-concentrated DP, where the method accounts in it.
    """

    model: Model
    epsilon: Fraction | None = None
    scopes: Scopes = field(default_factory=Scopes)
    conditions: tuple[Condition, ...] = ()
    caveats: tuple[str, ...] = ()
    title: str | None = None
    source: str | None = None
    deed: str | None = None
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None


def promise_epsilon(
    setting: Setting,
    vector: Fraction | float | None,
    *,
    model: Model | None = None,
    conditions: tuple[Condition, ...] = (),
    caveats: tuple[str, ...] = (),
) -> Promise:
    """Promise the budget at cluster scope, another at vector scope, and that of unlinked rows.

    No row joins what one attribute shows to what another one does where each is shuffled by
    itself, or one is alone and its rows are: what is released is then a function of each
    attribute's centroids and sizes.
    """
    alone = setting.shuffle is not None and len(setting.shares) == 1
    apart = setting.shuffle == "columns" and not setting.read_from_data
    row = vector if (alone or apart) and not setting.keeps else None
    return Promise(
        model=model or setting.model,
        epsilon=setting.epsilon,
        scopes=epsilon_scopes(setting.epsilon, vector, row),
        conditions=conditions,
        caveats=caveats,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A published method: what it needs, what it can, how it plans and what it promises.

    Attributes
    ----------
    id, title, source : str
    deed : str
        What it does to the values, a sentence in the past; {k} stands for k.
    plan : callable
        From columns and choices to a plan of each column, or to one of a new table; it partitions,
        represents and measures, and draws nothing.
    promise : callable
        From a `Setting` to its `Promise`.
    needs : frozenset of {"k", "epsilon", "bounds"}
    can : frozenset of str
        Its abilities, see `Ability`.
    randomness : str or None
        "laplace" for exact noise on sums, "counts", "other", or None where nothing is drawn.
    without_units : str or None
        Why it cannot protect all records of a unit together, where it spends an epsilon; None
        where it can.
    arguments : dict of tuple of str
        Those it has a step for and others need not, by name, with the values that it offers, the
        default first; none where any will do.
    sets_aside : dict of tuple of str
        Arguments that have no use beside one of its own, by that one's name ("width"), or beside
        a value of it ("partition=ranking").
    """

    id: str
    title: str
    source: str
    deed: str
    plan: Callable[[Sequence[GridColumn], Choices], Any]
    promise: Callable[[Setting], Promise]
    needs: frozenset[Need]
    randomness: str | None
    can: frozenset[Ability] = frozenset()
    without_units: str | None = "what is proved of it is proved of single records"
    arguments: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sets_aside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def smallest_k(self) -> int:
        """The least cluster size that its plan can work with, 1 where that says none."""
        return getattr(self.plan, "smallest_k", 1)

    def __reduce__(self) -> tuple[Callable[[str], "Method"], tuple[str]]:
        """Pickle its id: its steps are the registry's."""
        return _registered, (self.id,)

    @property
    def refuses_unit(self) -> str | None:
        """Why all records of a unit cannot be protected together; None where they can be."""
        if "units" in self.can:
            return None
        return self.without_units if "epsilon" in self.needs else NOTHING_FORMAL

    @property
    def may_lack_epsilon(self) -> bool:
        """Whether matrices of the user's own may say what is spent, in place of a budget."""
        return "matrix" in self.arguments

    def uses(self, name: str) -> bool:
        """Say whether it has a step for an argument."""
        takes_unit = self.refuses_unit is None
        by_need = {
            "k": "k" in self.needs,
            "epsilon": "epsilon" in self.needs,
            "budget": "epsilon" in self.needs,
            "seed": self.randomness is not None,
            "exact_cells": "exact cells" in self.can,
            "isotonic": "isotonic" in self.can,
            "shuffle": "new table" not in self.can,
            "unit": takes_unit,
            "max_rows": takes_unit and "units" not in self.can,
        }
        if name in by_need:
            return by_need[name]
        return name in self.arguments or not any(name in m.arguments for m in METHODS.values())

    def set_aside(self, own: Mapping[str, Any]) -> set[str]:
        """Name the arguments that have no use beside the values of its own."""
        found = set[str]()
        for beside, names in self.sets_aside.items():
            name, _, choice = beside.partition("=")
            value = own.get(name, next(iter(self.arguments[name]), None))
            if value == choice if choice else value is not None:
                found.update(names)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the registry's entry as plain values."""
        return {
            "id": self.id,
            "title": self.title,
            "source": self.source,
            "needs": [name for name in ("k", "epsilon", "bounds") if name in self.needs],
            "smallest_k": self.smallest_k if "k" in self.needs else None,
            "offers": {name: list(values) for name, values in self.arguments.items()},
        }


# By id; see `microveil.methods.register`.
METHODS: dict[str, Method] = {}


def _registered(id: str) -> Method:  # noqa: A002 -- as `Method` has it
    return METHODS[id]
