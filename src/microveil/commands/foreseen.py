"""What a recipe leads to, by public figures alone: its problems, and the errors to expect.

Nothing is read of a table but the names and kinds of its columns and the number of records: an
empty table of these stands for it, or one whose values lie evenly over their declared domains.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars

from microveil.commands.coverage import coverage, refusal, request_for
from microveil.errors import MicroveilError, Problems, RequestError
from microveil.guarantee import Scope
from microveil.methods import METHODS
from microveil.methods.expected_pairs import ExpectedPairs
from microveil.protect.attributes import attribute_of
from microveil.protect.columns import Prepared
from microveil.protect.expectation import all_expected, stand_in
from microveil.protect.planning import new_table, plan_of
from microveil.protect.recipe import read_recipe
from microveil.protect.request import Request
from microveil.protect.settling import problems_of, without_dots
from microveil.schema import Attribute, Kind
from microveil.synthesis.one_way_plan import OneWayPlan
from microveil.synthesis.plan import SyntheticPlan
from microveil.table import open_table

TYPES: Mapping[Kind, Any] = {
    Kind.BOOLEAN: polars.Boolean,
    Kind.WHOLE: polars.Int64,
    Kind.DECIMAL: polars.Float64,
    Kind.DATE: polars.Date,
    Kind.OTHER: polars.String,
}
# Records at most of the table whose values lie evenly.
STAND_IN = 20_000
# What a request for the errors of all columns has no use for, and what one of another method keeps.
UNSEEN = ("accept", "codebook", "parts")
OF_ALL_METHODS = (
    "attributes", "types", "bounds", "categories", "resolution", "epsilon", "delta", "scope",
    "unit", "max_rows", "keep",
)  # fmt: skip
NO_DOMAIN = "its domain is not declared: nothing is known of its error before a look at the data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What is publicly known of a table; `listed` names the columns whose file lists values."""

    kinds: Mapping[str, str]
    n_records: int
    listed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Expected:
    """The error to expect of a column: of a count in `records`, else of a value in its units.

    `share` is that of all records, of the domain's width, or of categories that change.
    """

    share: float
    records: float | None = None
    units: float | None = None
    shown_from: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """The errors to expect of a request; of a new table of the pairs that are measured, too."""

    columns: Mapping[str, Expected]  # the worst first
    pair: Expected | None = None
    pairs: ExpectedPairs | None = None
    parts: int = 0  # into which each column of a pair is divided

    @property
    def worst(self) -> float:
        """The largest error of a column, as a share."""
        return max((own.share for own in self.columns.values()), default=0.0)


def recipe_problems(recipe: Mapping[str, Any], table: Described) -> Problems:
    """Return all that `protect` would refuse of a recipe, as far as public figures show it."""
    problems = Problems()
    asked = without_dots(read_recipe(recipe, problems), problems)
    is_accepted = bool(asked.pop("accept", None) or asked.pop("codebook", None))
    stated = {**table.kinds, **asked.get("types", {})}
    found = problems_of(_empty(table, stated, asked), asked)
    by_file = {f"attribute '{name}'" for name in (table.listed if is_accepted else ())}
    problems.extend(problem for problem in found if problem.place not in by_file)
    method = METHODS.get(str(asked.get("method")))
    if not problems and method is not None and asked.get("scope"):
        reason = refusal(asked, table.n_records)
        if reason is not None:
            problems.add("scope", reason, "choose another method or a weaker scope")
    if not problems and not by_file and method is not None and "new table" in method.can:
        with problems.noted():  # the budget may be too small for so many columns and records
            foreseen(asked, table)
    return problems


def foreseen(asked: Mapping[str, Any], table: Described) -> Foreseen:
    """Return the errors to expect of a request, in the form of arguments of `protect`."""
    stated = {**table.kinds, **asked.get("types", {})}
    request = Request.of({name: said for name, said in asked.items() if name not in UNSEEN})
    opened = open_table(_empty(table, stated, asked))
    attributes = [
        attribute_of(opened, name, request) for name in opened.names if name in asked["attributes"]
    ]
    if "new table" in request.method.can:
        plan, pairs = new_table(attributes, table.n_records, request)
        return replace(_of_counts(plan), pairs=pairs)
    return _of_values(attributes, request, table.n_records)


def curve(
    asked: Mapping[str, Any], table: Described, epsilons: Sequence[float]
) -> list[tuple[float, Foreseen]]:
    """Return what to expect at several epsilons, without those that are too small."""
    found = []
    for epsilon in epsilons:
        try:
            found.append((epsilon, foreseen({**asked, "epsilon": epsilon}, table)))
        except MicroveilError:
            continue
    return found


def by_method(
    asked: Mapping[str, Any], table: Described
) -> dict[str, Mapping[str, Expected | str]]:
    """Return of each method that keeps the scope the error of each column, or why it has none."""
    scope = Scope(asked["scope"])
    own = {name: said for name, said in asked.items() if name in OF_ALL_METHODS}
    found: dict[str, Mapping[str, Expected | str]] = {}
    for name in coverage(asked, table.n_records)[scope].methods:
        request = asked if name == asked["method"] else {**request_for(scope, method=name), **own}
        if "delta" not in METHODS[name].can:
            request = {key: said for key, said in request.items() if key != "delta"}
        found[name] = dict(_each(request, table))
    return found


def _each(asked: Mapping[str, Any], table: Described) -> Iterator[tuple[str, Expected | str]]:
    """Yield what to expect of each column by one method, or why that is not known."""
    wrong: dict[str, str] = {}
    try:
        found = foreseen(asked, table).columns
    except MicroveilError as error:
        found, wrong = {}, {problem.place: problem.rule for problem in error.problems}
    yield from found.items()
    for name in asked["attributes"] if wrong else ():
        try:  # where one column lacks something the others do not
            yield name, foreseen({**asked, "attributes": [name]}, table).columns[name]
        except MicroveilError as error:
            yield name, wrong.get(f"attribute '{name}'", error.rule)
        except KeyError:
            yield name, NO_DOMAIN


def _empty(
    table: Described, kinds: Mapping[str, str], asked: Mapping[str, Any]
) -> polars.DataFrame:
    """Make a table of the columns without a value; each record is another unit's."""
    k = asked.get("k")
    n_records = min(table.n_records, max(1000, k if isinstance(k, int) else 0))
    columns = {
        name: polars.Series(name, [None] * n_records, dtype=TYPES[Kind(kinds[name])])
        for name in table.kinds
    }
    unit = asked.get("unit")
    if unit in columns:
        columns[unit] = polars.Series(unit, range(n_records))
    return polars.DataFrame(columns)


def _of_counts(planned: SyntheticPlan) -> Foreseen:
    """Return the noise on counts of a new table, and on those of its pairs."""
    n, tables = planned.n_records, planned.tables
    found = {part.attribute.name: _of_column(part) for part in planned.attributes}
    deviation = 0.0 if tables is None else math.sqrt(tables.noise.variance)
    return Foreseen(
        columns=dict(sorted(found.items(), key=lambda item: -item[1].share)),
        pair=None if tables is None else Expected(deviation / n, deviation),
        parts=0 if tables is None else tables.parts,
    )


def _of_column(part: OneWayPlan) -> Expected:
    """Return the deviation of a count; a cut falls by e^rate for each record that it is off."""
    if part.rates:
        records = math.sqrt(2) / float(part.rates[0])
    else:
        noise = part.noise if part.cells is None else part.cells
        records = 0.0 if noise is None else math.sqrt(noise.variance)
    learning = part.learning
    learnt = None if learning is None or learning.is_declared else learning.threshold
    return Expected(records / part.n_records, records, shown_from=learnt)


def _of_values(attributes: Sequence[Attribute], request: Request, n_records: int) -> Foreseen:
    """Return the errors of values that follow records, on values that lie evenly."""
    for attribute in attributes:
        if attribute.domain is None:
            raise RequestError(attribute.place, NO_DOMAIN, "declare its domain")
    by_name = {attribute.name: attribute for attribute in attributes}
    n = min(n_records, STAND_IN)
    prepared = Prepared(
        table=open_table(polars.DataFrame({name: [None] * n for name in by_name})),
        request=request,
        attributes=tuple(attributes),
        left_out={},
        held=stand_in(attributes, n),
    )
    found = {}
    for name, own in all_expected(plan_of(prepared)).items():
        if own.of_categories:
            found[name] = Expected(own.mean_squared_error)
            continue
        lower, upper = by_name[name].grid_bounds or (0, 0)
        step, error = float(by_name[name].resolution), math.sqrt(own.mean_squared_error)
        found[name] = Expected(error / (max(upper - lower, 1) * step), units=error)
    return Foreseen(columns=dict(sorted(found.items(), key=lambda item: -item[1].share)))
