"""The verb: methods, k, epsilons and runs compared on a table."""

import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from microveil.compare.columns import UNPAIRED
from microveil.compare.grid import SEED_BITS, Grid, read_grid, read_jobs, read_seed
from microveil.compare.measuring import Analyst
from microveil.compare.results import Comparison
from microveil.compare.running import (
    Progress,
    Row,
    Task,
    carry_out,
    plan_one,
    tasks_of,
    widest,
)
from microveil.compare.store import Store, described, opened
from microveil.errors import RequestError, stands_alone
from microveil.measures.analyses import Analyses
from microveil.protect.columns import Prepared
from microveil.protect.declarations import accepted
from microveil.protect.parts import Part, named_attributes
from microveil.protect.recipe import read_recipe
from microveil.protect.settling import merged

# What the grid goes through, or decides by itself.
OF_THE_GRID = ("method", "k", "epsilon", "seed")


@stands_alone
def compare(
    table: Any,
    *,
    methods: str | Iterable[str],
    k: Any = (),
    epsilon: Any = (),
    runs: int = 10,
    seed: int | None = None,
    jobs: int | None = None,
    folder: str | Path | None = None,
    progress: Progress | None = None,
    linkage: bool = True,
    classes: str | None = None,
    threshold: float | None = None,
    estimator: Any = None,
    formula: str | None = None,
    logistic: bool = False,
    propensity: bool = False,
    recipe: str | Path | Mapping[str, Any] | None = None,
    **arguments: Any,
) -> Comparison:
    """Compare methods on a table: what each loses, and what an intruder could still link.

    Every method is planned once for each k and epsilon and drawn ``runs`` times. Nothing is
    released: only figures come out, and they depend on the data.

    Parameters
    ----------
    table : pandas.DataFrame, polars.DataFrame, pyarrow.Table, LabelledTable or dict of arrays
        One record (row) per person.
    methods : str or sequence of str
        Ids, see `methods`, with steps where wanted: "idp-vector:partition=noise-aware". "parts"
        stands for those of a recipe or of ``parts``, each with its own k; an epsilon of the grid
        is divided among them as their own epsilons are.
    k : int, str or sequence of int
        Text may hold inclusive ranges: "3,5,10:100:10". Methods without clusters have none.
    epsilon : float, str or sequence of float
        Likewise; 0.1 is taken as exactly 1/10.
    runs : int
        How often each is drawn; once where nothing is random. With ``classes`` a method that
        draws nothing has as many rows, alike but for the F-measures: the classifier draws.
    seed : int, optional
        By default a fresh one, or that of the comparison in ``folder``; it is recorded. Each
        run's own seed follows from it and from the names of method, steps, k, epsilon and run
        alone.
    jobs : int, optional
        How many configurations are worked on at a time; by default one a processor.
    folder : str or Path, optional
        Where results go as they come. A comparison that was begun there is continued.
    progress : callable, optional
        Gets the runs done and the runs in all.
    linkage : bool
        False leaves record linkage out, which is most of the cost for a large table; there is
        no frontier and no map then.
    classes : str, optional
        A column of the table, protected or not: the classes that a classifier is to learn from
        the numeric attributes that are protected. Run by run its F-measures are reported, beside
        those of the original; the classifier's seed is the run less 1.
    threshold : float, optional
        Makes two classes of a number, the lower one with the threshold in it.
    estimator : object, optional
        A classifier of scikit-learn; by default a random forest of 100 trees.
    formula : str, optional
        A regression on attributes that are protected or kept, "TAX ~ INCOME + AGE": the overlap
        of its confidence intervals with those of the original is reported.
    logistic : bool
        Fit log odds of an outcome of 0 and 1.
    propensity : bool
        Measure how well a logistic regression tells a release from the original: its pMSE, in
        multiples of what records drawn from the same law would give.
    recipe : str, Path or dict, optional
        A recipe file or its contents; its method, k, epsilon and seed are passed over.
    **arguments
        The other arguments of `protect`, ``bounds`` for example, for every configuration alike.

    Returns
    -------
    Comparison

    Raises
    ------
    MicroveilError
        If the grid or its arguments break a rule, if no configuration at all can be planned, if an
        analysis cannot be made of the original, or if the folder holds something else. A
        configuration that is refused alone is a row that says why.

    Notes
    -----
    A run costs its draws and three record linkages, near O(n log n) each; with ``classes`` a
    training of the classifier, and one on the original for each run number. With ``shuffle`` the
    guarantee is that of shuffled rows; loss and linkage are measured by who a row belongs to.

    Examples
    --------
    >>> import numpy as np
    >>> found = compare(
    ...     {"AGE": np.arange(20, 80)},
    ...     methods=["laplace", "dp-um"],
    ...     k=[3, 10],
    ...     epsilon=[1],
    ...     runs=5,
    ...     seed=1,
    ...     attributes="AGE",
    ...     bounds={"AGE": (0, 120)},
    ... )
    >>> found
    Comparison(3 configurations, 15 runs)
    >>> found.summary["scope"].to_list()
    ['row', 'vector', 'vector']
    """
    shared = accepted(table, _shared(arguments, {} if recipe is None else read_recipe(recipe)))
    parts = shared.pop("parts", None)
    grid = read_grid(methods, k, epsilon, runs, shared, seeded=classes is not None, parts=parts)
    if parts is not None:
        # Methods beside the parts protect the same attributes, all together.
        shared.setdefault("attributes", named_attributes({"parts": parts}))
    n_jobs = os.cpu_count() or 1 if jobs is None else read_jobs(jobs, "jobs")
    path = None if folder is None else Path(folder)
    begun = described(path)
    if seed is None:
        seed = (begun or {}).get("seed", secrets.randbits(SEED_BITS))
    seed = read_seed(seed, "seed")
    asked = Analyses.of(
        classes=classes,
        threshold=threshold,
        estimator=estimator,
        formula=formula,
        logistic=logistic,
        propensity=propensity,
    )
    tasks = tasks_of(table, grid.configurations, shared, seed)
    unpaired = any(choice.is_synthetic for choice in grid.choices)
    prepared = widest(tasks)
    analyst = Analyst(asked, prepared, linkage=bool(linkage), unpaired=unpaired)
    description = _description(grid, seed, prepared, shared, parts, analyst)
    if begun is None:
        # Before there is a folder of what cannot be done.
        analyst.check()
        plan_one(tasks)
    with opened(path, description) as store:
        _run(tasks, analyst, seed, n_jobs, progress, store)
        found = Comparison.of(store.rows, description)
        if path is not None:
            found.write_beside(path)
    return found


def _run(
    tasks: Sequence[Task],
    analyst: Analyst,
    seed: int,
    jobs: int,
    progress: Progress | None,
    store: Store,
) -> None:
    """Carry out every run that a store does not hold yet."""
    if store.rows and all(row.get("run") is None for row in store.rows):
        plan_one(tasks)  # a folder of nothing but refusals stays as it is
    done = {(row["configuration"], row.get("run")) for row in store.rows}
    left = {}
    for number, task in enumerate(tasks):
        runs = range(1, task.configuration.runs + 1) if (number, None) not in done else ()
        left[number] = [run for run in runs if (number, run) not in done]
    total = sum(task.configuration.runs for task in tasks)
    n_done = total - sum(map(len, left.values()))

    def tell(n_runs: int) -> None:
        nonlocal n_done
        n_done += n_runs
        if progress is not None:
            progress(n_done, total)

    def keep(row: Row, n_runs: int) -> None:
        store.add(row)
        tell(n_runs)

    tell(0)
    try:
        waiting = [(tasks[number], runs) for number, runs in left.items() if runs]
        carry_out(waiting, analyst, seed, jobs, keep)
    finally:
        store.save()


def _shared(arguments: Mapping[str, Any], recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that hold for every configuration."""
    for name in OF_THE_GRID:
        if name in arguments:
            raise RequestError(
                f"argument '{name}'", "methods are compared, not one method", "pass methods=[...]"
            )
    given = merged({n: v for n, v in recipe.items() if n not in OF_THE_GRID}, arguments)
    # An iterator would be used up by the first configuration.
    return {
        name: list(value) if hasattr(value, "__next__") else value for name, value in given.items()
    }


def _description(
    grid: Grid,
    seed: int,
    prepared: Prepared,
    shared: Mapping[str, Any],
    parts: Iterable[Any] | None,
    analyst: Analyst,
) -> dict[str, Any]:
    """Say what is compared, as plain values: by these a folder is known again."""
    asked = analyst.measures.asked
    written = None if parts is None else [*map(_written, parts)]
    described = {
        "schema": 2,
        "microveil": version("microveil"),
        **grid.to_dict(),
        "seed": seed,
        "attributes": [*analyst.names, *(analyst.listed if asked.get(UNPAIRED) else ())],
        "n_records": len(analyst.original.numbers),
        "measures": asked,
        "table": _digest(prepared, analyst),
        "arguments": dict(sorted({**shared, **({"parts": written} if written else {})}.items())),
    }
    # JSON does not know a mapping that was read from the data from one that was declared.
    read = {
        what: [own.name for own in prepared.attributes if what in own.from_data]
        for what in ("bounds", "categories", "resolution")
    }
    if any(read.values()):
        described["read_from_data"] = {what: names for what, names in read.items() if names}
    plain: dict[str, Any] = json.loads(json.dumps(described, default=_plain))
    return plain


def _written(part: Any) -> dict[str, Any]:
    """Write a part of a recipe as it was asked for."""
    if isinstance(part, Part):
        return {"attributes": list(part.attributes), **part.asked}
    return dict(part)


def _digest(prepared: Prepared, analyst: Analyst) -> str:
    """Return a SHA-256 of all that is read: domains and grids, values, and other columns."""
    original = analyst.original
    digest = hashlib.sha256(repr(prepared.attributes).encode())
    for name, values in {"": original.numbers, **original.codes, **analyst.columns}.items():
        digest.update(repr((name, values.dtype.str, values.shape)).encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


def _plain(value: Any) -> Any:
    """Write what JSON does not know: numbers of numpy, fractions, dates."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, set | frozenset):
        return sorted(value)  # in no order of its own
    return list(value) if isinstance(value, Iterable) else str(value)
