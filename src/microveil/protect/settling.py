"""From what was given for a table to a request that fits it, with all its problems in one error.

No problem hides behind another: what is wrong with a request is refused with all that is wrong
beside it, a gap for each thing that a person has to say.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from inspect import signature
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from microveil.errors import (
    DataError,
    MicroveilError,
    Problems,
    RequestError,
    lacked,
    one_error,
    written_as,
)
from microveil.guarantee import Scope
from microveil.methods import METHODS
from microveil.protect.arguments import DECLARED, Arguments, arguments
from microveil.protect.attributes import check_types
from microveil.protect.auto import k_chosen, method_chosen
from microveil.protect.columns import Prepared, silent
from microveil.protect.declarations import accepted, declared_by_file
from microveil.protect.opening import formulas_in, opened_for, prepare
from microveil.protect.parts import AUTO, Whole, in_part
from microveil.protect.reading import OF_ALL, OF_COLUMNS, is_open, to_fill_in
from microveil.protect.recipe import read_recipe
from microveil.protect.request import BEST, NO_LIMIT, Request, read_each, said
from microveil.table import check_columns, open_table
from microveil.table.frames import is_of_spark
from microveil.table.table import check_kept

# So many gaps are worth a word on what closes them all; a single one is soon filled in.
MANY = 2

Listed = ParamSpec("Listed")
Result = TypeVar("Result")


def takes(
    listed: Callable[Listed, Arguments],
) -> Callable[[Callable[..., Result]], Callable[Concatenate[Any, Listed], Result]]:
    """Give a verb on a table all arguments by name, as its signature; see `asking`."""

    def decorated(verb: Callable[..., Result]) -> Callable[Concatenate[Any, Listed], Result]:
        own = signature(verb)
        parameters = [own.parameters["table"], *signature(listed).parameters.values()]
        verb.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        # As type checkers see it the table has no name: it cannot stand beside those listed.
        return cast("Callable[Concatenate[Any, Listed], Result]", verb)

    return decorated


@contextmanager
def asking(table: Any, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give what is asked of a table, a recipe's arguments too; errors say how to go on in it."""
    recipe, problems = given.get("recipe"), Problems()
    of_recipe = {} if recipe is None else read_recipe(recipe, problems)
    asked = merged(of_recipe, {name: given[name] for name in given if name != "recipe"})
    asked = without_dots(asked, problems)
    if not {"accept", "codebook"}.isdisjoint(asked):
        with problems.noted():
            asked = accepted(table, asked, problems)
    with written_as("arguments" if recipe is None else "recipe"):
        refuse_all(table, asked, problems)
        yield asked


def merged(recipe: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Let arguments override a recipe's; of those that go by column, column by column."""
    given = said(asked)
    if "never_missing" in given:
        given["never_missing"] = DECLARED["never_missing"].checked(given["never_missing"])
    both = {**recipe, **given}
    for name, argument in arguments().items():
        of_recipe, own = recipe.get(name), given.get(name)
        if isinstance(of_recipe, Mapping) and isinstance(own, Mapping) and argument.by_column:
            both[name] = {**of_recipe, **own}
    # One attribute has one domain: the one given goes before the recipe's.
    for name, other in (("bounds", "categories"), ("categories", "bounds")):
        if isinstance(recipe.get(name), Mapping) and isinstance(given.get(other), Mapping):
            replaced = given[other].keys() - given.get(name, {}).keys()
            both[name] = {c: value for c, value in both[name].items() if c not in replaced}
    wanted = given.get("attributes")
    if isinstance(wanted, list | tuple) and "budget" in recipe:
        # The recipe's weights of attributes that are not asked for this time fall away.
        named = {part for entry in wanted for part in (entry, *str(entry).split(","))}
        kept = named | set(given.get("budget", ()))
        both["budget"] = {name: weight for name, weight in both["budget"].items() if name in kept}
    return both


def without_dots(asked: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    """Leave out what arguments say in dots, and take down that it is to be filled in."""
    left = dict(asked)
    for argument in OF_ALL:
        if is_open(asked.get(argument)):
            del left[argument]
            problems.append(to_fill_in(argument))
    for argument in OF_COLUMNS:
        given = asked.get(argument)
        if isinstance(given, Mapping) and any(map(is_open, given.values())):
            problems += [to_fill_in(argument, name) for name in given if is_open(given[name])]
            left[argument] = {name: v for name, v in given.items() if not is_open(v)}
    return left


def settle(
    table: Any, asked: Mapping[str, Any], progress: Callable[[str], None] = silent
) -> Prepared:
    """Make a request of arguments, or one for each part, choosing what is left to advice.

    What is refused is refused with all that is wrong beside it.
    """
    try:
        if asked.get("parts") is None:
            return _prepared(table, asked, progress)
        return _of_parts(table, Whole.of(asked), progress)
    except (RequestError, DataError) as error:
        found = problems_of(table, asked)
        # That no method suits says nothing as long as columns lack what all methods need.
        is_left = asked.get("method") == AUTO and bool(found)
        problems = Problems(p for p in error.problems if not (is_left and p.place == "method"))
        problems.extend(found)
        raise one_error([*_ways(table, asked, problems), *problems]) from None


def _prepared(table: Any, asked: Mapping[str, Any], progress: Callable[[str], None]) -> Prepared:
    """Make a request of arguments, choosing what they leave to advice, and open a table for it."""
    if asked.get("method") == AUTO:
        found = method_chosen(table, asked, progress)
    elif asked.get("k") == AUTO:
        found = k_chosen(table, asked, progress)
    else:
        found = prepare(table, Request.of(asked), progress)
    return replace(found, asked=asked)


def _of_parts(table: Any, whole: Whole, progress: Callable[[str], None]) -> Prepared:
    """Put the columns of all parts together, in the table's order; one part is as any request."""
    if len(whole.parts) == 1:
        return _prepared(table, whole.alone(), progress)
    # Opened once, for all parts: the same records of a unit stay in each.
    for_all = opened_for(table, whole)
    opened, parts = for_all.table, list[Prepared]()
    check_columns(opened, (*whole.attributes, *whole.keep))
    for name in ("bounds", "categories", "resolution", "missing_codes"):
        check_columns(opened, whole.asked.get(name) or ())
    check_types(opened, whole.types)
    for name in whole.keep:
        check_kept(opened, name)
    for number, (one, own) in enumerate(zip(whole.parts, whole.requests(), strict=True), 1):
        with in_part(number, one):
            parts.append(_prepared(for_all, own, progress))
    attributes = {own.name: own for part in parts for own in part.attributes}
    released = {*whole.attributes, *whole.keep, parts[0].request.unit}
    return replace(
        parts[0],
        attributes=tuple(attributes[name] for name in opened.names if name in attributes),
        left_out={name: "" for name in opened.names if name not in released},
        formulas=tuple(formulas_in(opened, attributes.values(), whole.keep)),
        held=None,
        whole=whole,
        parts=tuple(parts),
    )


def refuse_all(table: Any, asked: Mapping[str, Any], problems: Problems) -> None:
    """Refuse a request that has problems, with all others that it has."""
    if problems and not is_of_spark(table):
        # What a recipe has in another form is not lacking.
        entries = (re.match(r"recipe, entry '(\w+)", problem.place) for problem in problems)
        wrong = {entry[1] for entry in entries if entry is not None}
        problems.extend(one for one in problems_of(table, asked) if one.place not in wrong)
        problems[:0] = _ways(table, asked, problems)
    problems.refuse()


def _ways(
    table: Any, asked: Mapping[str, Any], problems: Iterable[MicroveilError]
) -> Iterator[RequestError]:
    """Say first what would close many gaps at once: what the file declares, or learning."""
    gaps = [found for one in problems if (found := lacked(one)) is not None and found[1]]
    columns = dict.fromkeys(name for _, name in gaps)
    method = METHODS.get(str(asked.get("method", BEST)))
    if method is None or len(gaps) < MANY:
        return
    if asked.get("accept") is None:
        declared = declared_by_file(table)
        listed = sum(name in declared and declared[name].has_domain for name in columns)
        if listed:
            yield RequestError(
                "accept",
                f"the file itself declares the values of {listed} of the {len(columns)} columns "
                "that lack something below",
                "if what it lists is publicly known, accept it all at once: --accept file (in a "
                'recipe and in Python accept = "file")',
            )
    may_learn = "new table" in method.can and asked.get("domains") != "declared"
    if may_learn and asked.get("parts") is None and not asked.get("delta"):
        yield RequestError(
            "delta",
            "without one every domain has to be declared",
            "allow one, and all that is lacking below is learnt within the budget: --delta 1e-9 "
            "(delta=1e-9)",
        )


def problems_of(table: Any, asked: Mapping[str, Any]) -> Problems:
    """Find all that is wrong with a request of a table, without a look at values to protect."""
    problems = Problems()
    if asked.get("parts") is None:
        _add_of_request(table, asked, problems)
        return problems
    with problems.noted():
        whole = Whole.of(asked)
        with problems.noted():
            check_columns(open_table(table), (*whole.attributes, *whole.keep))
        known = {(problem.place, problem.rule) for problem in problems}
        for number, (one, own) in enumerate(zip(whole.parts, whole.requests(), strict=True), 1):
            with problems.noted(), in_part(number, one):
                found = problems_of(table, own)
                Problems(each for each in found if (each.place, each.rule) not in known).refuse()
    return problems


def _add_of_request(table: Any, asked: Mapping[str, Any], problems: Problems) -> None:
    """Add the problems of a request of one method; what is left to advice is taken at its least."""
    method = METHODS.get(str(asked.get("method")))
    if method is None:
        with problems.noted():
            check_columns(open_table(table), _named(asked))
    elif asked.get("k") == AUTO:
        asked = {**asked, "k": method.smallest_k}
    if asked.get("method") == AUTO:
        # What columns lack for a method that advice is to choose: for the least that it needs.
        read_each({name: value for name, value in asked.items() if value != AUTO}, problems)
        least = METHODS["dp-synthetic" if asked.get("scope") == Scope.ROW else "idp-cbls"]
        lacking, k = Problems(), least.smallest_k if "k" in least.needs else None
        _add_of_request(table, {**asked, "method": least.id, "k": k}, lacking)
        problems.extend(one for one in lacking if lacked(one))
        return
    request, found = Request.judged(asked)
    problems.extend(found)
    if request is None:
        return
    wrong, opened, of_table = {problem.place for problem in found}, None, Problems()
    # Where they are wrong, nobody said how many records a unit may have.
    is_open = not wrong.isdisjoint(("unit", "max_rows"))
    with of_table.noted():
        opened = opened_for(table, replace(request, max_rows=NO_LIMIT) if is_open else request)
    if opened is None:  # units or codes for missing values, which hide nothing else
        request = replace(request, unit=None, unit_attributes=(), max_rows=None)
        request = replace(request, missing_codes={}, missing_values=())
    with of_table.noted():
        prepare(table if opened is None else opened, request)
    # What was said wrongly of all columns is not said of each of them again.
    problems.extend(one for one in of_table if (lacked(one) or ("",))[0] not in wrong)


def _named(asked: Mapping[str, Any]) -> Iterator[str]:
    """Name the columns that arguments are about, as far as these are in order."""
    for name in ("attributes", "keep", "bounds", "categories", "resolution"):
        given = asked.get(name)
        if isinstance(given, Mapping | list | tuple):
            yield from (column for column in given if isinstance(column, str))
