"""The loop over requests: each is checked, planned once, drawn and measured run by run.

A run is the same on whatever thread or process: its seed is its name's.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from typing import Any

from microveil.compare.columns import facts_of
from microveil.compare.grid import Configuration
from microveil.compare.measuring import Analyst, Records
from microveil.errors import DataError, MicroveilError
from microveil.noise.noise import RandomSource
from microveil.protect.columns import Prepared
from microveil.protect.draw import drawn_cells
from microveil.protect.opening import prepare
from microveil.protect.plan import Plan
from microveil.protect.planning import plan_of, refuse_exact_cells
from microveil.protect.request import Request
from microveil.protect.settling import settle
from microveil.synthesis.measuring import Counter

# Gets the runs done and the runs in all.
Progress = Callable[[int, int], None]
Row = dict[str, Any]


@dataclass(slots=True, kw_only=True, eq=False)
class Task:
    """A configuration, and its table as its method sees it, or why it is refused."""

    configuration: Configuration
    prepared: Prepared | MicroveilError | None  # None once it is done
    planned: Plan | MicroveilError | None = None

    def plan(self) -> Plan | MicroveilError:
        """Plan it once, or say why that cannot be."""
        if self.planned is None:
            try:
                if not isinstance(self.prepared, Prepared):
                    assert self.prepared is not None  # noqa: S101 -- it is to be planned
                    raise self.prepared
                self.planned = plan_of(self.prepared)
                refuse_exact_cells(self.planned)
            except MicroveilError as error:
                self.planned = error.with_traceback(None)
        return self.planned


def tasks_of(
    table: Any, configurations: Sequence[Configuration], arguments: Mapping[str, Any], seed: int
) -> list[Task]:
    """Check every request, an error if all are refused; the seed draws which records units keep."""
    has_pairs = not any(configuration.choice.is_synthetic for configuration in configurations)

    def prepared(configuration: Configuration) -> Prepared | MicroveilError:
        asked = {**arguments, **configuration.arguments(), "seed": seed}
        is_of_parts = asked.get("parts") is not None
        try:
            found = settle(table, asked) if is_of_parts else prepare(table, Request.of(asked))
            if has_pairs and not any(own.kind.is_ranked for own in found.attributes):
                rule = "there is no numeric attribute among them to measure by"
                remedy = "name one among the attributes to protect"
                raise DataError("attributes", rule, remedy)
        except MicroveilError as error:
            return error.with_traceback(None)
        return found

    tasks = [Task(configuration=own, prepared=prepared(own)) for own in configurations]
    refusals = [task.prepared for task in tasks if isinstance(task.prepared, MicroveilError)]
    if len(refusals) == len(tasks):
        raise _all_refused(refusals)
    return tasks


def widest(tasks: Iterable[Task]) -> Prepared:
    """Return the table of the request that protects most attributes: some methods leave some out.

    Of those whose columns can be read: some refuse values that others move to their bounds.
    """
    ready = [task.prepared for task in tasks if isinstance(task.prepared, Prepared)]
    refusals = []
    for prepared in sorted(ready, key=lambda own: -len(own.attributes)):
        try:
            return replace(prepared, held=prepared.columns)
        except MicroveilError as error:
            refusals.append(error.with_traceback(None))
    raise _all_refused(refusals)


def plan_one(tasks: Iterable[Task]) -> None:
    """Plan one after another up to the first that is not refused; an error if all are."""
    refusals = []
    for task in tasks:
        planned = task.plan()
        if isinstance(planned, Plan):
            return
        refusals.append(planned)
    raise _all_refused(refusals)


def _all_refused(refusals: Sequence[MicroveilError]) -> MicroveilError:
    """Make one error of the refusals of all configurations: the first, if all are alike."""
    first = refusals[0]
    if len({*map(str, refusals)}) == 1:
        return first
    rule = f"all {len(refusals)} configurations are refused, the first because {first.rule}"
    return type(first)(first.place, rule, first.remedy)


def carry_out(
    left: Iterable[tuple[Task, Sequence[int]]],
    analyst: Analyst,
    seed: int,
    jobs: int,
    keep: Callable[[Row, int], None],
) -> None:
    """Carry out runs, one thread a task; ``keep`` gets rows, and how many runs each stands for."""
    lock, stopped = threading.Lock(), threading.Event()

    def work(task: Task, runs: Sequence[int]) -> None:
        for row, n_runs in _rows(task, runs, analyst, seed):
            with lock:
                if stopped.is_set():
                    return
                try:
                    keep(row, n_runs)
                except BaseException:
                    stopped.set()
                    raise
        task.prepared = task.planned = None  # their columns take memory

    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(work, *one) for one in left]
        try:
            for future in as_completed(futures):
                future.result()
        finally:
            stopped.set()
            pool.shutdown(cancel_futures=True)


def _rows(
    task: Task, runs: Sequence[int], analyst: Analyst, seed: int
) -> Iterator[tuple[Row, int]]:
    """Yield the row of each run, or of the refusal of them all."""
    configuration, planned = task.configuration, task.plan()
    if isinstance(planned, MicroveilError):
        yield {**configuration.named(), "refused": str(planned)}, len(runs)
        return
    known = configuration.named() | facts_of(planned, configuration)
    drawn = None
    for run in runs:
        own = configuration.seed(seed, run)
        figures: dict[str, Any] = {}  # nothing where what was drawn is beyond what can be measured
        try:
            if drawn is None or own is not None:  # what is not random is drawn and measured once
                records = _drawn(planned, own)
                drawn = records, analyst.measured(records)
            figures = drawn[1] | analyst.learnt(drawn[0], run)
        except MicroveilError:
            drawn = None
        yield {**known, "run": run, "seed": own, **figures}, 1


def _drawn(planned: Plan, seed: int | None) -> Records:
    """Draw a plan as `protect` does for this seed; the order of rows stays."""
    source, attributes = RandomSource.seeded(seed or 0), planned.prepared.attributes
    if planned.synthetic is not None:
        counter = Counter(planned.synthetic.asked(planned.prepared.columns))
        return Records.released(
            attributes, planned.synthetic.draw(counter, source)[1], paired=False
        )
    parts = planned.parts
    sources = [source] if len(parts) == 1 else source.spawn(len(parts))
    cells = {
        own.attribute.name: drawn_cells(own, planned.units, stream)
        for part, one in zip(parts, sources, strict=True)
        for own, stream in zip(part.singles, one.spawn(len(part.singles)), strict=True)
    }
    return Records.released(attributes, cells)
