"""What stands beside every screen: the promise in a sentence, what was spent, what is wrong."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from microveil.app.drafts import WORDS, Draft
from microveil.commands.coverage import way
from microveil.commands.foreseen import Described, recipe_problems
from microveil.errors import MicroveilError, lines_of, one_error
from microveil.ledger import ledger_place, read_ledger
from microveil.protect.recipe import read_recipe


def described(draft: Draft) -> Described | None:
    """Return what is publicly known of a draft's table; None before it was read."""
    found = draft.proposal
    if found is None:
        return None
    listed = frozenset(name for name, own in found.columns.items() if own.by_file)
    return Described(kinds=found.kinds, n_records=found.n_records, listed=listed)


def promised(draft: Draft) -> str:
    """Say in a sentence what is promised, and to whom, as far as the recipe says it by now."""
    recipe, table = draft.recipe, described(draft)
    if "parts" in recipe:
        n = len(recipe["parts"])
        return f"{n} parts, each with a method and a budget of its own."
    if table is None or not {"method", "scope", "epsilon"} <= recipe.keys():
        return "Nothing is promised yet."
    try:
        found = way(read_recipe(recipe), table.n_records)
    except MicroveilError:
        return "Nothing is promised yet: the recipe is refused as it stands."
    if isinstance(found, str):
        return f"Nothing: {found}."
    budget = f"epsilon {recipe['epsilon']}"
    budget += f" and delta {recipe['delta']}" if recipe.get("delta") else ""
    unit = recipe.get("unit")
    whom = "each record" if unit is None else f"all records of one {unit} together"
    model, scope = WORDS["models"][found.model.value], WORDS["scopes"][recipe["scope"]][2]
    given = ", ".join(condition.id for condition in found.conditions)
    conditions = f", conditional on {given}" if given else ""
    promise = f"{model.capitalize()} with {budget} for {whom}, of {scope}"
    return f"{promise}, by {found.method}{conditions}."


def problems_of_draft(draft: Draft) -> tuple[dict[str, str], list[str]]:
    """Return what `protect` would refuse: by column that the table lacks, and all else in lines."""
    table = described(draft)
    if table is None:
        return {}, []
    try:
        problems = recipe_problems(draft.recipe, table)
    except MicroveilError as error:
        return {}, lines_of(error, "fields")
    places = {f"column '{name}'" for name in draft.columns}
    gone = [
        one
        for one in problems
        if one.place.startswith("column '") and one.place.endswith("'") and one.place not in places
    ]
    others = [one for one in problems if one not in gone]
    if "method" not in draft.recipe and "parts" not in draft.recipe:
        others = []  # nothing is asked for yet
    lost = {one.place.removeprefix("column '")[:-1]: f"{one}" for one in gone}
    return lost, lines_of(one_error(others), "fields") if others else []


def epsilon_of(recipes: Sequence[Mapping[str, Any]]) -> Fraction | None:
    """Add up what releases by recipes spend, part by part; None where one has no epsilon."""
    said = [part.get("epsilon") for one in recipes for part in one.get("parts", [one])]
    return None if None in said else sum((Fraction(str(one)) for one in said), Fraction(0))


def spent(root: Path, draft: Draft, recipes: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say what was spent on the people of a draft: by the ledger, else by draws in this program."""
    population = draft.recipe.get("population")
    if population is not None:
        try:
            place = ledger_place(root / "release", population)
            if place is not None and place.exists():
                return list(read_ledger(place).totals(population)["in_words"])
        except MicroveilError as error:
            return [f"{error}"]
        return [f"No release of '{population}' is in the ledger of this folder."]
    total = epsilon_of(recipes)
    if not recipes:
        return ["Nothing was drawn of this table since the program started."]
    words = "no sum holds" if total is None else f"epsilon {float(total):.6g} in all"
    n = f"{len(recipes)} release{'' if len(recipes) == 1 else 's'}"
    return [f"{n} drawn of this table since the program started: {words}."]
