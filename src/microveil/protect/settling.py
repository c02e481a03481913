"""From what was given for a table to a request that fits it, with all its problems in one error.

No problem hides behind another: what is wrong with a request is refused with all that is wrong
beside it, a gap for each thing that a person has to say.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from inspect import signature
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from microveil.errors import (
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
from microveil.protect.request import BEST, Request, read_each, said
from microveil.table import Table, check_columns, open_table
from microveil.table.frames import is_of_spark
from microveil.table.table import check_kept

# So many gaps are worth a word on what closes them all; a single one is soon filled in.
MANY = 2
# Arguments that are facts about columns.
BY_COLUMN = ("bounds", "categories", "resolution")

Asked = Mapping[str, Any]
Progress = Callable[[str], None] | None
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
    asked, problems = {**given}, Problems()
    recipe = asked.pop("recipe", None)
    of_recipe = {} if recipe is None else read_recipe(recipe, problems)
    asked = without_dots(merged(of_recipe, asked), problems)
    if not {"accept", "codebook"}.isdisjoint(asked):
        with problems.noted():
            asked = accepted(table, asked, problems)
    with written_as("arguments" if recipe is None else "recipe"):
        if problems:
            refuse_all(table, asked, problems)
        yield asked


def merged(recipe: Mapping[str, Any], asked: Asked) -> dict[str, Any]:
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


def without_dots(asked: Asked, problems: Problems) -> dict[str, Any]:
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


def settle(table: Any, asked: Asked, progress: Callable[[str], None] = silent) -> Prepared:
    """Make a request of arguments, or one for each part, choosing what is left to advice.

    What is refused is refused with all that is wrong beside it.
    """
    problems = Problems()
    found = _settled(table, asked, problems, progress)
    if found is None or problems:
        raise one_error([*_ways(table, asked, problems), *problems])
    return found


def problems_of(table: Any, asked: Asked) -> Problems:
    """Find all that is wrong with a request of a table, without a look at values to protect."""
    problems = Problems()
    _settled(table, asked, problems, None)
    return problems


def _settled(table: Any, asked: Asked, problems: Problems, progress: Progress) -> Prepared | None:
    """Open a table for a request, and note all that is wrong.

    Without ``progress`` what is left to advice is not chosen, but taken at its least.
    """
    if asked.get("parts") is not None:
        return _of_parts(table, asked, problems, progress)
    if AUTO in (asked.get("method"), asked.get("k")):
        if progress is not None or asked.get("method") == AUTO:
            return _advised(table, asked, problems, progress)
        method = METHODS.get(str(asked.get("method")))
        asked = {**asked, "k": AUTO if method is None else method.smallest_k}
    request, found = Request.judged(asked)
    problems.extend(found)
    if request is None:
        _check_named(table, asked, problems)
        return None
    of_table, opened, prepared = Problems(), None, None
    with of_table.noted():
        opened = opened_for(table, request)
    if opened is None:  # units or codes for missing values, which hide nothing else
        request = replace(request, unit=None, unit_attributes=(), max_rows=None)
        request = replace(request, missing_codes={}, missing_values=())
    with of_table.noted():
        prepared = replace(prepare(opened or table, request, progress or silent), asked=asked)
    # What was said wrongly of all columns is not said of each of them again.
    wrong = {problem.place for problem in found}
    problems.extend(one for one in of_table if (lacked(one) or ("",))[0] not in wrong)
    return prepared


def _advised(table: Any, asked: Asked, problems: Problems, progress: Progress) -> Prepared | None:
    """Open a table for the request that advice makes of one, or note what columns lack for it."""
    refused, is_method = Problems(), asked.get("method") == AUTO
    if progress is not None:
        with refused.noted():
            chosen = (method_chosen if is_method else k_chosen)(table, asked, progress)
            return replace(chosen, asked=asked)
        lacking = problems_of(table, asked)
        # That no method suits says nothing as long as columns lack what all methods need.
        is_left = is_method and bool(lacking)
        problems.extend(one for one in refused if not (is_left and one.place == "method"))
        problems.extend(lacking)
        return None
    # Of a method that is to be chosen: what the one that needs least lacks.
    _check_named(table, asked, problems)
    read_each({name: value for name, value in asked.items() if value != AUTO}, problems)
    least = METHODS["dp-synthetic" if asked.get("scope") == Scope.ROW else "idp-cbls"]
    k = least.smallest_k if "k" in least.needs else None
    found = problems_of(table, {**asked, "method": least.id, "k": k})
    problems.extend(one for one in found if lacked(one))
    return None


def _check_named(table: Any, asked: Asked, problems: Problems) -> None:
    """Note the columns that arguments are about and that a table does not have."""
    given = [asked.get(name) for name in ("attributes", "keep", *BY_COLUMN)]
    listed = [name for own in given if isinstance(own, Mapping | list | tuple) for name in own]
    with problems.noted():
        check_columns(open_table(table), [name for name in listed if isinstance(name, str)])


def _of_parts(table: Any, asked: Asked, problems: Problems, progress: Progress) -> Prepared | None:
    """Open a table for each part, and note what is wrong; a single one is as any request."""
    whole, opened, parts = None, None, list[Prepared | None]()
    with problems.noted():
        whole = Whole.of(asked)
    if whole is None:
        return None
    if len(whole.parts) == 1:
        return _settled(table, whole.alone(), problems, progress)
    # Opened once, for all parts: the same records of a unit stay in each.
    request, _ = Request.judged({**whole.asked, **whole.parts[0].asked})
    with problems.noted():
        if request is not None:
            opened = opened_for(table, request)
            check_columns(opened.table, (*whole.attributes, *whole.keep))
            for name in (*BY_COLUMN, "missing_codes"):
                check_columns(opened.table, whole.asked.get(name) or ())
            check_types(opened.table, whole.types)
            for name in whole.keep:
                check_kept(opened.table, name)
    known = {(problem.place, problem.rule) for problem in problems}
    for number, (one, own) in enumerate(zip(whole.parts, whole.requests(), strict=True), 1):
        found = Problems()
        parts.append(_settled(opened or table, own, found, progress))
        with problems.noted(), in_part(number, one):
            Problems(each for each in found if (each.place, each.rule) not in known).refuse()
    if opened is None or problems:
        return None
    return _together(opened.table, whole, [part for part in parts if part is not None])


def _together(table: Table, whole: Whole, parts: Sequence[Prepared]) -> Prepared:
    """Put the columns of all parts together, in the table's order."""
    attributes = {own.name: own for part in parts for own in part.attributes}
    released = {*whole.attributes, *whole.keep, parts[0].request.unit}
    return replace(
        parts[0],
        attributes=tuple(attributes[name] for name in table.names if name in attributes),
        left_out={name: "" for name in table.names if name not in released},
        formulas=tuple(formulas_in(table, attributes.values(), whole.keep)),
        held=None,
        whole=whole,
        parts=tuple(parts),
    )


def refuse_all(table: Any, asked: Asked, problems: Problems) -> None:
    """Refuse a request that has problems, with all others that it has."""
    if not is_of_spark(table):
        # What a recipe has in another form is not lacking.
        entries = (re.match(r"recipe, entry '(\w+)", problem.place) for problem in problems)
        wrong = {entry[1] for entry in entries if entry is not None}
        problems.extend(one for one in problems_of(table, asked) if one.place not in wrong)
        problems[:0] = _ways(table, asked, problems)
    problems.refuse()


def _ways(table: Any, asked: Asked, problems: Iterable[MicroveilError]) -> Iterator[RequestError]:
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
