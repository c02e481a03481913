"""The promise: who is protected, what may be looked at, and what the budget means."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from microveil.app.drafts import Draft
from microveil.app.forms import Errors, Form
from microveil.commands.coverage import Coverage, coverage, refusal
from microveil.commands.request_lines import request_for
from microveil.errors import MicroveilError
from microveil.guarantee import Scope
from microveil.methods import METHODS
from microveil.methods.base import NOTHING_FORMAL
from microveil.protect.arguments import DECLARED
from microveil.protect.recipe import read_recipe
from microveil.protect.rules import refused_looked_at

__all__ = [
    "PromiseFields",
    "in_other_words",
    "methods_by_scope",
    "promise",
    "promise_fields",
    "proposed_method",
    "refusing_units",
]

OF_RECORDS, OF_UNITS = "record", "unit"
# What is asked for of a scope is that of `inspect`; of a unit, what protects units.
REQUESTED = ("method", "k", "partition", "delta", "exact_cells", "outside", "missing")
# From here on a factor is shown as a power of 10; ln 10, rounded down.
LARGE, LN_10 = 14.0, 2.302585
_UP, _DOWN = (Context(prec=60, rounding=way) for way in (ROUND_CEILING, ROUND_FLOOR))
# Steps of the method before, which another may not have.
STEPS = ("sensitivity", "composition", "isotonic")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseFields:
    """The fields of the promise, as the page shows them.

    Attributes
    ----------
    values : dict of str
    units : list of str
        The columns that may say which records are one unit's.
    """

    values: Mapping[str, str]
    units: list[str]


def promise_fields(draft: Draft, form: Form | None = None) -> PromiseFields:
    """Return the fields: as sent, else as the recipe has them; nobody is chosen by default."""
    recipe = draft.recipe
    unit = recipe.get("unit")
    is_declared = "scope" in recipe
    values = {
        "who": (OF_UNITS if unit else OF_RECORDS) if is_declared else "",
        "unit": str(unit or ""),
        "max_rows": str(recipe.get("max_rows", "")),
        "scope": str(recipe.get("scope", "")),
        "epsilon": str(recipe.get("epsilon", "")),
        "delta": str(recipe.get("delta", "")),
        "missing": str(recipe.get("missing", "")) if is_declared else "",
    }
    if form is not None:
        values = {name: form[name] for name in values}
    return PromiseFields(values=values, units=draft.columns)


def promise(draft: Draft, form: Form) -> tuple[Draft, Errors]:
    """Take the promise into the recipe, with the method that `inspect` proposes for its scope.

    A method that was chosen for the same scope and the same units stays, and one that a recipe
    names which says no scope. Parts have methods and budgets of their own.
    """
    errors = Errors()
    asked = {**_who(draft, form, errors), **_budget(draft, form, errors)}
    if form["missing"]:
        with errors.beside("missing"):
            asked["missing"] = DECLARED["missing"].checked(form["missing"])
    if form["scope"] not in list(Scope):
        errors.add("scope", "Say what may be looked at.")
    if errors:
        return draft, errors
    scope = DECLARED["scope"].checked(form["scope"])
    recipe = draft.recipe
    before = recipe.get("scope", scope if "method" in recipe else None), recipe.get("unit")
    is_another = (scope, asked["unit"]) != before
    if not form["delta"] and not is_another:
        asked["delta"] = None
    as_it_stands = {**asked, "scope": scope}
    looked_at = draft.choosing(**as_it_stands).recipe.get("looked_at")
    for problem in refused_looked_at(scope, looked_at):
        errors.add("scope", f"{problem}")
    if errors:
        return draft, errors
    if "parts" not in recipe:
        asked = _offered(draft, as_it_stands, errors, is_another=is_another)
    changed = draft.choosing(**{**as_it_stands, **asked})
    return (draft if errors else changed), errors


def methods_by_scope(draft: Draft) -> dict[str, Coverage]:
    """Say of each scope which methods keep what is declared by now: by public figures alone.

    Of a recipe in parts, each of which has a method of its own, nothing is said.
    """
    n_records = 0 if draft.proposal is None else draft.proposal.n_records
    if "parts" in draft.recipe or not n_records:
        return {}
    found = coverage(read_recipe(draft.recipe), n_records)
    return {scope.value: kept for scope, kept in found.items()}


def proposed_method(draft: Draft, scope: str) -> str:
    """Name the method that goes into the recipe with a scope, unless another is chosen."""
    recipe = draft.recipe
    if "parts" in recipe:
        return ""
    is_another = recipe.get("scope", scope) != scope or "method" not in recipe
    offered = _offered(draft, {"scope": scope}, Errors(), is_another=is_another)
    return str(offered.get("method", recipe.get("method", "")))


def _offered(
    draft: Draft, asked: Mapping[str, Any], errors: Errors, *, is_another: bool
) -> dict[str, Any]:
    """Return what is asked for with a method that can do it, by public figures.

    The method that stands, unless another scope or unit is chosen; else the one that `inspect`
    proposes for the scope, for whole rows, or any other. Where none can, the first says why.
    """
    fresh = dict.fromkeys((*REQUESTED, *STEPS))
    proposed = {**fresh, **_requested(asked["scope"])}
    plain = {**fresh, "outside": proposed["outside"], "missing": proposed["missing"]}
    found = [proposed, {**fresh, **_requested(Scope.ROW)}]
    for method in METHODS.values():
        k = max(method.smallest_k, proposed["k"] or 0) if "k" in method.needs else None
        found.append({**plain, "method": method.id, "k": k})
    if not is_another:
        found.insert(0, {})
    n_records = 0 if draft.proposal is None else draft.proposal.n_records
    reasons = []
    for one in found:
        # What a person writes stands: a delta, and what is done with missing cells.
        offered = {**one, **asked}
        try:
            reason = refusal(read_recipe(draft.asking(**offered).recipe), n_records)
        except MicroveilError as error:
            reason = error.rule
        if reason is None:
            return offered
        reasons.append(reason)
    if is_another:
        errors.add("scope", f"No method can do that: {reasons[0]}.")
    return {**found[0], **asked}


def refusing_units() -> dict[str, str]:
    """Say of the methods that cannot protect all records of a unit together why."""
    # What counts the people of a cluster keeps no epsilon, which is what this page asks for.
    found = (
        (method.id, NOTHING_FORMAL if "units" in method.can else method.refuses_unit)
        for method in METHODS.values()
    )
    return {name: why for name, why in found if why is not None}


def _who(draft: Draft, form: Form, errors: Errors) -> dict[str, Any]:
    """Read who is protected: each record, or the records of a unit together."""
    if form["who"] == OF_RECORDS:
        return {"unit": None, "max_rows": None}
    if form["who"] != OF_UNITS:
        errors.add("who", "Say who is protected.")
        return {"unit": None}
    if form["unit"] not in draft.columns:
        errors.add("unit", "Say which column tells whose a record is.")
    if not form["max_rows"]:
        errors.add("max_rows", "Say how many records one has at most, as publicly known.")
        return {"unit": None}
    with errors.beside("max_rows"):
        return {"unit": form["unit"], "max_rows": DECLARED["max_rows"].from_text(form["max_rows"])}
    return {"unit": None}


def _budget(draft: Draft, form: Form, errors: Errors) -> dict[str, Any]:
    """Read epsilon, and delta where there is one."""
    found: dict[str, Any] = {}
    if not form["epsilon"] and "parts" in draft.recipe:
        return found
    if not form["epsilon"]:
        errors.add("epsilon", "Write the budget, 1 for example.")
        return found
    with errors.beside("epsilon"):
        found["epsilon"] = _plain(DECLARED["epsilon"].from_text(form["epsilon"]))
    if form["delta"]:
        with errors.beside("delta"):
            delta, stood = (
                _plain(DECLARED["delta"].from_text(form["delta"])),
                draft.recipe.get("delta"),
            )
            found["delta"] = stood if delta == stood else delta or None
    return found


def _requested(scope: str) -> dict[str, Any]:
    asked = request_for(Scope(scope))
    return {name: value for name, value in asked.items() if name in REQUESTED}


def _plain(number: Fraction | int | None) -> int | float | None:
    """Return a number as TOML holds it."""
    if number is None:
        return None
    return int(number) if number == int(number) else float(number)


def in_other_words(epsilon: float) -> dict[str, str]:
    """Say what an epsilon means for one person, in odds.

    Somebody who thought a thing about a person as likely as not thinks it by so much more likely
    after the release, at most: both figures are rounded up, since they are bounds.

    Examples
    --------
    >>> in_other_words(1.0)
    {'factor': '2.72', 'percent': '73.2'}
    """
    if epsilon > LARGE:
        return {"factor": f"10^{math.ceil(epsilon / LN_10)}", "percent": "100"}
    # The library's exp is rounded to the nearest, which may be below.
    factor = Decimal(epsilon).exp(_UP).next_plus(_UP) if epsilon > 0 else Decimal(1)
    # 100 f / (1 + f), in a form in which it is known which way each step is rounded.
    percent = _UP.subtract(Decimal(100), _DOWN.divide(Decimal(100), _UP.add(factor, Decimal(1))))
    shown = _up(percent, -1 if percent < 99 else -2)
    return {"factor": f"{_up(factor, factor.adjusted() - 2):f}", "percent": f"{shown:f}"}


def _up(number: Decimal, place: int) -> Decimal:
    """Round up at a decimal place, 0 that of ones, and leave out noughts behind the point."""
    rounded = number.quantize(Decimal((0, (1,), place)), context=_UP)
    return rounded.quantize(Decimal(1)) if rounded == int(rounded) else rounded.normalize()
