"""All that is wrong with a request of a table, together: no problem hides behind another."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from microveil.errors import Problems, lacked
from microveil.guarantee import Scope
from microveil.methods import METHODS
from microveil.protect.columns import opened_for, prepare
from microveil.protect.parts import AUTO, Whole, in_part
from microveil.protect.request import Request, read_each
from microveil.table import check_columns, open_table
from microveil.table.frames import is_of_spark

__all__ = ["problems_of", "refuse_all"]


def refuse_all(table: Any, asked: Mapping[str, Any], problems: Problems) -> None:
    """Refuse a request that has problems, with all others that it has."""
    if problems and not is_of_spark(table):
        # What a recipe has in another form is not lacking.
        entries = (re.match(r"recipe, entry '(\w+)", problem.place) for problem in problems)
        wrong = {entry[1] for entry in entries if entry is not None}
        problems.extend(one for one in problems_of(table, asked) if one.place not in wrong)
    problems.refuse()


def problems_of(table: Any, asked: Mapping[str, Any]) -> Problems:
    """Find all that is wrong with a request of a table, without a look at values to protect.

    >>> import numpy as np
    >>> table = {"AGE": np.array([23, 35, 31]), "TAX": np.array([0.5, 1.5, 7.0])}
    >>> asked = {"method": "dp-um", "epsilon": 1, "k": 9, "attributes": ["AGE", "TAX", "SEX"]}
    >>> [problem.place for problem in problems_of(table, asked)]
    ["column 'SEX'", "attribute 'AGE'", "attribute 'TAX'", "attribute 'TAX'", 'table']
    """
    problems = Problems()
    if asked.get("parts") is None:
        _add_of_request(table, {n: v for n, v in asked.items() if n != "parts"}, problems)
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
        _add_gaps(table, asked, problems)
        return
    request, found = Request.judged(asked)
    problems.extend(found)
    if request is None:
        return
    wrong, opened, of_table = {problem.place for problem in found}, None, Problems()
    with of_table.noted():
        opened = opened_for(table, request)
    if opened is None:  # units or codes for missing values, which hide nothing else
        request = replace(request, unit=None, unit_attributes=(), max_rows=None)
        request = replace(request, missing_codes={}, missing_values=())
    with of_table.noted():
        prepare(table if opened is None else opened, request)
    # What was said wrongly of all columns is not said of each of them again.
    problems.extend(one for one in of_table if (lacked(one) or ("",))[0] not in wrong)


def _add_gaps(table: Any, asked: Mapping[str, Any], problems: Problems) -> None:
    """Add what columns lack for a method that advice is to choose: for the least that it needs."""
    read_each({name: value for name, value in asked.items() if value != AUTO}, problems)
    least = METHODS["dp-synthetic" if asked.get("scope") == Scope.ROW else "idp-cbls"]
    found = Problems()
    own = {**asked, "method": least.id, "k": least.smallest_k if "k" in least.needs else None}
    _add_of_request(table, own, found)
    problems.extend(one for one in found if lacked(one))


def _named(asked: Mapping[str, Any]) -> Iterator[str]:
    """Name the columns that arguments are about, as far as these are in order."""
    for name in ("attributes", "keep", "bounds", "categories", "resolution"):
        given = asked.get(name)
        if isinstance(given, Mapping | list | tuple):
            yield from (column for column in given if isinstance(column, str))
