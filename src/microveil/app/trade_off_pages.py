"""The screen on the trade-off: by public figures at once, by the data where a person asks."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from microveil.app.columns import columns_of
from microveil.app.drafts import Draft
from microveil.app.rail import described
from microveil.app.site import Site, sent, site_of
from microveil.app.working import found_of, started, work_of
from microveil.commands.foreseen import Expected, Foreseen, by_method, curve, foreseen
from microveil.errors import MicroveilError, RequestError
from microveil.methods import METHODS
from microveil.protect.recipe import read_recipe
from microveil.schema import Kind

STEPS_OF_METHODS = ("partition", "sensitivity", "composition")
# What an option says in place of what was asked for.
CHOICES = ("method", "k", *STEPS_OF_METHODS, "delta")
# So many options are compared at most, each so many times.
MOST_COMPARED, RUNS = 4, 3
# Beyond its double the mean itself is the better table: bars of errors end there.
MOST_ERROR = 2.0
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
# So many columns are named before the others.
WORST = 5
# The ends of a chart's axes in its own units: left, right, top, bottom.
LEFT, RIGHT, TOP, BOTTOM = 56.0, 470.0, 12.0, 168.0
# Values of the simulated column, the first the commonest, and people of one without counts.
N_VALUES, N_PEOPLE = 8, 24


async def _show(request: Request) -> Response:
    site = site_of(request)
    return await _page(site, site.draft(request), request.query_params)


async def _page(
    site: Site,
    draft: Draft,
    asked: Mapping[str, str] | None = None,
    error: MicroveilError | None = None,
) -> Response:
    asked, found = asked or {}, _advice(site, draft)
    comparing = work_of(site, draft, "compare")
    public = await run_in_threadpool(_foreseen, draft)
    compared = found_of(comparing)
    if found is not None or compared is not None:  # put down before it is shown
        is_public = compared is None and found is not None and found["is_public"]
        draft = site.drafts.show(draft.id, "public" if is_public else "data")
    shown = None if public is None else await run_in_threadpool(_figures, draft, public, asked)
    return site.step(
        "trade-off",
        draft,
        error=error,
        public=public,
        work=work_of(site, draft, "advise"),
        found=found,
        options=_options(found),
        most=MOST_ERROR,
        comparing=comparing,
        compared=compared,
        incomparable=_incomparable(draft),
        figures=shown,
    )


def _foreseen(draft: Draft) -> Foreseen | None:
    """Return what public figures say of the errors of a draft; what is wrong is said beside it."""
    table = described(draft)
    if table is None or "parts" in draft.recipe or "method" not in draft.recipe:
        return None
    try:
        return foreseen(read_recipe(draft.recipe), table)
    except MicroveilError:
        return None


def _figures(draft: Draft, public: Foreseen, asked: Mapping[str, str]) -> dict[str, Any]:
    """Return the charts and tables of public figures."""
    table, request = described(draft), read_recipe(draft.recipe)
    assert table is not None  # noqa: S101 -- there are figures of it
    at = curve(request, table, EPSILONS)
    names, number = list(public.columns), asked.get("column", "")
    column = names[int(number)] if number in map(str, range(len(names))) else names[0]
    methods = by_method(request, table) if asked.get("methods") else None
    return {
        "n_records": table.n_records,
        "lines": lines_of_errors(at, float(request["epsilon"])),
        "worst": list(public.columns.items())[:WORST],
        "column": column,
        "example": example_of(public.columns[column], table.n_records),
        "methods": methods,
        "is_new": "new table" in METHODS[draft.recipe["method"]].can,
    }


def _advice(site: Site, draft: Draft) -> Mapping[str, Any] | None:
    """Return the advice on a draft, unless it was on another promise or other columns."""

    def given(recipe: Mapping[str, Any]) -> dict[str, Any]:
        return {name: said for name, said in recipe.items() if name not in (*CHOICES, "looked_at")}

    found = found_of(work_of(site, draft, "advise"))
    is_of_draft = given(draft.worked_on.get("advise", {})) == given(draft.recipe)
    return found if is_of_draft else None


def _options(found: Mapping[str, Any] | None) -> list[tuple[str, Mapping[str, Any]]]:
    """Return what was asked for, and what would be better, with the values that choose them."""
    if found is None:
        return []
    own, others = found["advice"]["asked"], found["advice"]["options"]
    asked_for = [tuple(o.get(name) for name in CHOICES[:-1]) for o in (own, *others)]
    better = [(f"{n}", one) for n, one in enumerate(others) if asked_for[n + 1] != asked_for[0]]
    return [("own", own), *better]


def _chosen(draft: Draft, found: Mapping[str, Any] | None, form: Any) -> dict[str, Any]:
    """Return what a person chose of the options: their own request, or one that was shown."""
    if form["option"] == "" or found is None:
        return {}
    if form["option"] == "own":  # as it was shown: another may have been chosen since
        return {name: draft.worked_on["advise"].get(name) for name in CHOICES}
    if "parts" in draft.recipe:
        raise RequestError(
            "option",
            "each part has a method of its own, and an option is one for the whole table",
            "change the part in the recipe's file, and open it anew",
        )
    option = dict(_options(found)).get(form["option"])
    if option is None:
        raise RequestError("option", "there is no such option", "choose one of those shown")
    steps = {name: option.get(name) for name in STEPS_OF_METHODS}
    delta = {} if option["method"] == "dp-synthetic" else {"delta": None}
    return {"method": option["method"], "k": option["k"], **steps, **delta}


async def _choose(request: Request) -> Response:
    site, draft, form = await sent(request)
    try:
        chosen = _chosen(draft, _advice(site, draft), form)
    except RequestError as error:
        return await _page(site, draft, error=error)
    return site.to(site.saved(draft, form, lambda one: one.choosing(**chosen)), "release")


async def _advise(request: Request) -> Response:
    """Look at the data: what to expect of the request on this table."""
    site = site_of(request)
    draft = site.draft(request)
    if "scope" not in draft.recipe:  # nobody has said what may be looked at
        return site.to(draft, "promise")
    started(site, draft, {"task": "advise", "path": draft.path, "recipe": dict(draft.recipe)})
    return site.to(draft, "trade-off")


async def _compare(request: Request) -> Response:
    """Compare what is asked for and what is better on the table itself, by drawing."""
    site = site_of(request)
    draft = site.draft(request)
    found = _advice(site, draft)
    if found is None:
        return site.to(draft, "trade-off")
    if reason := _incomparable(draft):
        return await _page(site, draft, error=RequestError("comparison", *reason))
    epsilon = draft.recipe.get("epsilon")
    options = [found["advice"]["asked"], *found["advice"]["options"]][:MOST_COMPARED]
    task = {
        "task": "compare",
        "path": draft.path,
        "recipe": dict(draft.recipe),
        "methods": list(dict.fromkeys(map(_in_words, options))),
        "ks": sorted({option["k"] for option in options if option["k"] is not None}),
        "epsilons": None if epsilon is None else [epsilon],
        "runs": RUNS,
    }
    started(site, draft, task)
    return site.to(draft, "trade-off")


def _incomparable(draft: Draft) -> tuple[str, str] | None:
    """Say why methods cannot be compared on a table, and what to do; None where they can."""
    if "parts" in draft.recipe:
        return (
            "methods are compared on the whole table, and each part has one of its own",
            "leave parts out of the recipe, or choose by the advice on each",
        )
    accepts = draft.recipe.get("accept")
    learnt = [
        one.name
        for one in columns_of(draft)
        if one.is_protected
        and one.values["type"] == Kind.OTHER
        and not (one.values["categories"] or (accepts and one.proposed.by_file))
    ]
    if not learnt:
        return None
    return (
        f"methods are compared on declared categories, and those of {', '.join(learnt)} are learnt",
        "declare them on the screen Data, or leave these columns out",
    )


def _in_words(option: Mapping[str, Any]) -> str:
    """Name a method with its steps as `compare` has them: behind its id."""
    steps = [f"{name}={option[name]}" for name in STEPS_OF_METHODS if option.get(name)]
    return ":".join([option["method"], *steps])


def lines_of_errors(at: Sequence[tuple[float, Foreseen]], epsilon: float) -> dict[str, Any] | None:
    """Return the lines of the worst column and of a pair against epsilon, on scales of tens."""
    worst = [(e, found.worst) for e, found in at if found.worst > 0]
    pairs = [(e, found.pair.share) for e, found in at if found.pair and found.pair.share > 0]
    if len(worst) < 2:
        return None
    shares = [share for _, share in (*worst, *pairs)]
    low, high = math.floor(math.log10(min(shares))), math.ceil(math.log10(max(shares)))
    high = max(high, low + 1)
    left, right = (math.log10(one) for one in (worst[0][0], worst[-1][0]))

    def x(number: float) -> float:
        return LEFT + (RIGHT - LEFT) * (math.log10(number) - left) / (right - left)

    def y(share: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (math.log10(share) - low) / (high - low)

    return {
        "worst": " ".join(f"{x(e):.1f},{y(share):.1f}" for e, share in worst),
        "pairs": " ".join(f"{x(e):.1f},{y(share):.1f}" for e, share in pairs),
        "at": x(epsilon) if worst[0][0] <= epsilon <= worst[-1][0] else None,
        "x_ticks": [(x(e), f"{e:g}") for e, _ in worst],
        "y_ticks": [(y(10.0**p), f"{10.0 ** (p + 2):g} %") for p in range(low, high + 1)],
        "rows": [
            (e, found.worst, None if found.pair is None else found.pair.share) for e, found in at
        ],
    }


def example_of(expected: Expected, n_records: int) -> dict[str, Any] | None:
    """Simulate a made-up column with noise of the size to expect: counts, or values of people."""
    random = np.random.default_rng(0)
    if expected.records is not None:
        weights = 1 / np.arange(1, N_VALUES + 1) ** 1.5
        counts = n_records * weights / weights.sum()
        noisy = np.maximum(counts + random.normal(0, expected.records, N_VALUES), 0)
        least = expected.shown_from or 0
        is_shown = noisy >= least
        tall = (BOTTOM - TOP) / float(max(counts.max(), noisy.max()))
        step = (RIGHT - LEFT) / N_VALUES
        bars = [
            (LEFT + step * n, tall * own, tall * after if shown else 0.0)
            for n, (own, after, shown) in enumerate(zip(counts, noisy, is_shown, strict=True))
        ]
        n_hidden = int((~is_shown).sum())
        return {"bars": bars, "points": [], "width": step * 0.38, "n_hidden": n_hidden}
    if expected.units is None:
        return None
    before = np.sort(random.uniform(0.1, 0.9, N_PEOPLE))
    after = np.clip(before + random.normal(0, expected.share, N_PEOPLE), -0.05, 1.05)
    step = (RIGHT - LEFT) / N_PEOPLE
    points = [
        (LEFT + step * (n + 0.5), BOTTOM - (BOTTOM - TOP) * own, BOTTOM - (BOTTOM - TOP) * moved)
        for n, (own, moved) in enumerate(zip(before, after, strict=True))
    ]
    return {"bars": [], "points": points, "n_hidden": 0}


ROUTES = (
    Route("/drafts/{draft}/trade-off", _show),
    Route("/drafts/{draft}/trade-off", _choose, methods=["POST"]),
    Route("/drafts/{draft}/advice", _advise, methods=["POST"]),
    Route("/drafts/{draft}/comparison", _compare, methods=["POST"]),
)
