"""What a method is to the rest of the product."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from microveil.arguments import DECLARED, Argument
from microveil.arguments.steps import MATRIX
from microveil.engines.base import Column, Engine, as_searched
from microveil.guarantee import Condition, Cover, Model, Scopes, Unit
from microveil.plans import CentroidPlan, SinglePlan, SyntheticPlan
from microveil.schema import Attribute, Kind
from microveil.table.memory import APART
from microveil.utility.error_floor import SensitivityRule

__all__ = [
    "NOTHING_FORMAL",
    "NO_GROUP_PRIVACY",
    "Choices",
    "ErrorFloor",
    "Method",
    "PlanStep",
    "Promise",
    "Setting",
    "each",
    "epsilon_scopes",
    "floor_by_rank",
    "summed_floor",
]

# Why a method cannot protect all records of a unit together.
NO_GROUP_PRIVACY = (
    "individual differential privacy compares tables that differ in one record: of several "
    "records of a unit it promises nothing"
)
NOTHING_FORMAL = "it bounds nothing for one record, and so nothing for all records of a unit"

Share = tuple[Fraction, int]
Value = TypeVar("Value")
# Below this, starting threads costs more than they save.
FEW_RECORDS = 10_000
# The part of the error of a coarsely searched plan that the error of none was below, and twice what
# of the variance is taken off that: where clusters lie far apart a close search loses next to
# nothing, and a coarse one so much. And how far sums of the same may differ.
CERTAIN, COARSELY, ROUNDING = 0.5, 1e-3, 1e-12


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
        Values of the arguments that the method declares, by name: the default where none was
        given. The argument itself is the key to its value.
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
    protects_missing : bool
        Whether being without a value is a value like another.
    unit : Unit
        What clusters count, so that each holds k of them: records, or values of a column.
    units : int64 array (n_records,) or None
        By record, where there is such a column: which of its values the record has.

    Examples
    --------
    >>> from microveil.arguments.steps import PARTITION
    >>> Choices(k=5, shares={}, own={"partition": "mdav"})[PARTITION]
    'mdav'
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
    protects_missing: bool = False
    unit: Unit = field(default_factory=Unit)
    # Of one request all plans are made for the same table.
    units: NDArray[np.int64] | None = field(default=None, compare=False)

    def __getitem__(self, argument: Argument[Value]) -> Value:
        return cast("Value", self.own[argument.name])

    def hides_missing(self, attribute: Attribute) -> bool:
        """Whether being without a value is a value of an attribute."""
        return self.protects_missing and not attribute.never_missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a promise may depend on: nothing of it but public figures.

    Attributes
    ----------
    shares : tuple of (Fraction, int)
        Share of epsilon of each protected attribute, all records of a unit together, and the
        most clusters it can have.
    spends_epsilon : bool
        False where some attribute has no share that bounds what it reveals.
    choices : Choices
    bounds_from_data, categories_from_data, resolution_from_data, keeps_missing, keeps : bool
    kinds : frozenset of Kind
        Those of the protected attributes.
    shuffle : {"rows", "columns"} or None
        Whether rows, or each attribute by itself, are released in random order.
    """

    shares: tuple[Share, ...]
    spends_epsilon: bool
    choices: Choices
    bounds_from_data: bool
    categories_from_data: bool
    resolution_from_data: bool
    keeps_missing: bool
    keeps: bool
    kinds: frozenset[Kind] = frozenset()
    shuffle: str | None = None

    @property
    def has_categories(self) -> bool:
        """Whether some protected attribute is categories, ordered or not."""
        return not self.kinds.isdisjoint({Kind.ORDINAL, Kind.NOMINAL})

    @property
    def epsilon(self) -> Fraction:
        """The budget over all attributes."""
        return sum((share for share, _ in self.shares), Fraction(0))

    @property
    def read_from_data(self) -> bool:
        """Whether a public figure of the mechanism was read from the data."""
        return self.bounds_from_data or self.categories_from_data or self.resolution_from_data

    @property
    def unlinked(self) -> bool:
        """Whether no row joins what one attribute shows to what another one does.

        Either each attribute is shuffled by itself, or there is one alone and its rows are
        shuffled: what is released is then a function of each attribute's centroids and sizes.
        """
        alone = self.shuffle is not None and len(self.shares) == 1
        apart = self.shuffle == "columns" and not self.read_from_data
        return (alone or apart) and not self.keeps


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
    epsilon: Fraction | None
    scopes: Scopes
    conditions: tuple[Condition, ...] = ()
    caveats: tuple[str, ...] = ()
    title: str | None = None
    source: str | None = None
    deed: str | None = None
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None


class PlanStep(Protocol):
    """Partition, represent and measure the attributes; draw nothing."""

    def __call__(
        self, columns: Sequence[Column], choices: Choices, engine: Engine
    ) -> Sequence[SinglePlan] | SyntheticPlan:
        """Return a plan for each column, or one of a new table."""
        ...


class ErrorFloor(Protocol):
    """Bound the error to expect from below, where no isotonic regression follows."""

    def __call__(
        self,
        columns: Sequence[Column],
        choices: Choices,
        engine: Engine,
        limit: float,
        *,
        ends: bool = False,
    ) -> float:
        """Return a bound of the error over variance, mean over the columns.

        Beyond the limit it need not be any closer; by the ends of columns alone, if so asked, it
        need not be close at all, but soon found.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A published method: its choices, its needs and what it promises.

    Attributes
    ----------
    id, title, source : str
    plan : PlanStep
    promise : callable
        From a `Setting` to its `Promise`.
    deed : str
        What it does to the values, a sentence in the past; {k} stands for k.
    randomness : str or None
        "laplace" for exact noise on sums, "other", or None where nothing is drawn.
    needs_k, needs_epsilon, needs_bounds : bool
    smallest_k : int
    orders_clusters : bool
        Whether isotonic regression applies.
    ranks_each : bool
        Whether clusters are runs of ranks of one attribute, unless another partition is chosen.
    goes_in_parts : bool
        Whether a column is planned and drawn some records after others, and what is planned of it
        takes no memory for each cluster.
    may_be_exact : bool
        Whether its rule can call for no noise at all.
    takes_categories : bool
        Whether text with a declared list of categories can be protected.
    takes_delta : bool
        Whether it can leave a chance to what epsilon does not bound.
    hides_missing : bool
        Whether being without a value can be a value like another.
    hides_reasons : bool
        Whether the reasons for it can be, too.
    is_synthetic : bool
        Whether it draws a new table, whose rows follow nobody.
    counts_units : bool
        Whether its clusters can hold records of k units, in place of k records.
    without_units : str or None
        Why it cannot protect all records of a unit together, where it spends an epsilon; None
        where it can.
    memory : int
        Bytes that planning and drawing take for a value, see `memory`.
    error_floor : callable or None
        A lower bound of the error to expect, or what was never above it, by which a request is
        passed over unplanned.
    defaults : dict
        General arguments that have another default here.
    arguments : tuple of Argument
        Its own: those it has a step for and others need not, with the choices that it offers.
    """

    id: str
    title: str
    source: str
    plan: PlanStep
    promise: Callable[[Setting], Promise]
    deed: str
    randomness: str | None = "laplace"
    needs_k: bool = True
    needs_epsilon: bool = True
    needs_bounds: bool = True
    smallest_k: int = 1
    orders_clusters: bool = False
    ranks_each: bool = False
    goes_in_parts: bool = False
    may_be_exact: bool = False
    takes_categories: bool = False
    takes_delta: bool = False
    hides_missing: bool = False
    hides_reasons: bool = False
    is_synthetic: bool = False
    counts_units: bool = False
    without_units: str | None = "what is proved of it is proved of single records"
    memory: int = APART
    error_floor: ErrorFloor | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    arguments: tuple[Argument[Any], ...] = ()

    @property
    def offers(self) -> dict[str, tuple[str, ...]]:
        """Its own arguments, with the values they may take (any where empty), the default first."""
        return {argument.name: argument.choices for argument in self.arguments}

    @property
    def takes_unit(self) -> bool:
        """Whether all records of a unit can be protected together."""
        return self.refuses_unit is None

    @property
    def refuses_unit(self) -> str | None:
        """Why they cannot be; None where they can."""
        if self.counts_units:
            return None
        return self.without_units if self.needs_epsilon else NOTHING_FORMAL

    @property
    def may_lack_epsilon(self) -> bool:
        """Whether matrices of the user's own may say what is spent, in place of a budget."""
        return MATRIX.name in self.offers

    def uses(self, name: str) -> bool:
        """Say whether it has a step for an argument."""
        by_need = {
            "k": self.needs_k,
            "epsilon": self.needs_epsilon,
            "budget": self.needs_epsilon,
            "seed": self.randomness is not None,
            "exact_cells": self.may_be_exact,
            "isotonic": self.orders_clusters,
            "shuffle": not self.is_synthetic,
            "unit": self.takes_unit,
            "max_rows": self.takes_unit and not self.counts_units,
        }
        return by_need.get(name, name in self.offers or name not in DECLARED)

    def set_aside(self, given: Mapping[str, Any]) -> set[str]:
        """Name the arguments that have no use beside what is given for its own."""
        return {
            name
            for argument in self.arguments
            for name in argument.beside(given.get(argument.name, argument.default))
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the registry's entry as plain values."""
        needs = (
            ("k", self.needs_k),
            ("epsilon", self.needs_epsilon),
            ("bounds", self.needs_bounds),
        )
        return {
            "id": self.id,
            "title": self.title,
            "source": self.source,
            "needs": [name for name, needed in needs if needed],
            "smallest_k": self.smallest_k if self.needs_k else None,
            "offers": {name: list(values) for name, values in self.offers.items()},
        }


def each(
    plan_one: Callable[[Column, Choices, Engine], SinglePlan],
    *,
    searches: Callable[[Choices], bool] = lambda _choices: False,
) -> PlanStep:
    """Make a step for a table of a step for one attribute: attributes side by side.

    Few records one after another, but where it searches for clusters: these take long, and more
    memory than clusters of k ranks.
    """

    def plan(columns: Sequence[Column], choices: Choices, engine: Engine) -> Sequence[SinglePlan]:
        if columns[0].n_present < FEW_RECORDS and not searches(choices):
            return [plan_one(column, choices, engine) for column in columns]
        n_values = len(columns) * choices.n_records
        searched = as_searched(n_values) if searches(choices) else 0
        return engine.side_by_side(
            lambda column: engine.kept(plan_one(column, choices, engine)),
            columns,
            n_values,
            max(searched, n_values // max(1, choices.k)),
        )

    return plan


def floor_by_rank(rule: SensitivityRule) -> ErrorFloor:
    """Make a floor of the error for a method that ranks each attribute by itself."""

    def floor(
        columns: Sequence[Column],
        choices: Choices,
        engine: Engine,
        limit: float,
        *,
        ends: bool = False,
    ) -> float:
        # Merged clusters lose more, and take less noise.
        widened = choices.exact_cells == "widen"
        own = SensitivityRule.NONE if widened else rule

        def bounded(column: Column, most: float) -> float:
            share = float(choices.shares[column.attribute.name])
            return engine.error_floor(column, choices.k, own, share, most, ends=ends)

        return summed_floor(columns, limit, bounded)

    return floor


def summed_floor(
    columns: Sequence[Column], limit: float, bounded: Callable[[Column, float], float]
) -> float:
    """Bound the mean error of some columns, one after another until they are beyond the limit.

    Parameters
    ----------
    columns : sequence of Column
    limit : float
        Of the mean.
    bounded : callable
        Bounds the error of one column, up to a limit of its own.
    """
    total, most = 0.0, limit * len(columns)
    for column in columns:
        total += bounded(column, most - total)
        if total > most:
            break
    return total / len(columns)


def floor_by_plans(
    plan_one: Callable[[Column, Choices, Engine], CentroidPlan], certain: float
) -> ErrorFloor:
    """Make a floor of plans of one attribute after another, until they are beyond the limit.

    It is for partitions that take a search, of which no bound that is proved comes near: of what
    is found coarsely a part is ``certain``: the error of none that a close search found was below.
    """

    def floor(
        columns: Sequence[Column],
        choices: Choices,
        engine: Engine,
        limit: float,
        *,
        ends: bool = False,
    ) -> float:
        if ends or not engine.remembers:
            return 0.0

        def bounded(column: Column, most: float) -> float:
            del most
            part = plan_one(column, choices, engine)
            squares = part.total_squares * part.n_cells / max(part.n_cells - 1, 1)
            if squares <= 0:
                return 0.0
            error = part.expected_error(isotonic=False) / squares
            return max(0.0, certain * error * (1 - ROUNDING) - COARSELY * (1 - certain))

        return summed_floor(columns, limit, bounded)

    return floor


def epsilon_scopes(
    cluster: Fraction | float | None, vector: Fraction | float | None, row: Fraction | float | None
) -> Scopes:
    """Make scopes of their epsilons, None where not covered."""
    covers = (
        Cover.none() if epsilon is None else Cover.of(epsilon) for epsilon in (cluster, vector, row)
    )
    return Scopes(**dict(zip(("cluster", "vector", "row"), covers, strict=True)))
