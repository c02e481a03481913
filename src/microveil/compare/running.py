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
from microveil.compare.measuring import Analyst, Reading, Records
from microveil.errors import MicroveilError
from microveil.noise.noise import RandomSource
from microveil.protect.columns import Prepared
from microveil.protect.draw import drawn_cells
from microveil.protect.opening import prepare
from microveil.protect.plan import Plan
from microveil.protect.planning import plan_of, refuse_exact_cells
from microveil.protect.request import Request
from microveil.protect.settling import settle
from microveil.synthesis.measuring import Counter
from microveil.table import Numbers

# Gets the runs done and the runs in all.
Progress = Callable[[int, int], None]
Row = dict[str, Any]
# How strictly a table is read: with bounds, and as a method that takes these sees it.
Needs = tuple[bool, tuple[bool, bool, str]]
Plans = dict[int, Plan | MicroveilError]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A configuration, with what it needs to be planned, or why it cannot be."""

    configuration: Configuration
    ready: tuple[Prepared, Reading] | MicroveilError

    def plan(self) -> Plan | MicroveilError:
        """Plan it, or say why that cannot be."""
        try:
            if isinstance(self.ready, MicroveilError):
                return self.ready
            planned = plan_of(self.ready[0])
            refuse_exact_cells(planned)
        except MicroveilError as error:
            return error
        return planned


def tasks_of(
    table: Any, configurations: Sequence[Configuration], arguments: Mapping[str, Any], seed: int
) -> list[Task]:
    """Check every request and read the table for it; the seed decides which records units keep."""
    readings: dict[Needs, Reading | MicroveilError] = {}
    paired = not any(configuration.choice.is_synthetic for configuration in configurations)

    def ready(configuration: Configuration) -> tuple[Prepared, Reading] | MicroveilError:
        asked = {
            **arguments,
            **configuration.choice.arguments(configuration.k, configuration.epsilon),
        }
        try:
            if asked.get("parts") is not None:
                prepared = settle(table, {**asked, "seed": seed})
                return prepared, Reading.of(prepared, needs_numbers=paired)
            request = Request.of(asked)
            reading = _read(table, request, seed, readings, paired=paired)
            if request.k > min(len(column.values) for column in reading.prepared.columns):
                prepare(table, request)  # says why, in the words that fit
        except MicroveilError as error:
            return error
        return reading.prepared.for_request(request), reading

    # What needs bounds comes first: what it reads serves the others too.
    order = sorted(
        configurations, key=lambda one: not any("bounds" in m.needs for m in one.choice.methods)
    )
    found = {one.number: Task(configuration=one, ready=ready(one)) for one in order}
    tasks = [found[configuration.number] for configuration in configurations]
    refusals = [task.ready for task in tasks if isinstance(task.ready, MicroveilError)]
    if len(refusals) == len(tasks):
        same = len(set(map(str, refusals))) == 1
        raise refusals[0] if same else _all_refused(refusals)
    return tasks


def _read(
    table: Any,
    request: Request,
    seed: int,
    readings: dict[Needs, Reading | MicroveilError],
    *,
    paired: bool,
) -> Reading:
    """Read a table as a method needs it, unless that was done, or done for stricter needs."""
    method = request.method
    needs = "categories" in method.can, "new table" in method.can, request.outside
    stricter = readings.get((True, needs))
    if isinstance(stricter, Reading):
        return stricter
    key = "bounds" in method.needs, needs
    if key not in readings:
        try:
            prepared = prepare(table, replace(request, k=1, seed=seed))
            readings[key] = Reading.of(prepared, needs_numbers=paired)
        except MicroveilError as error:
            readings[key] = error
    found = readings[key]
    if isinstance(found, MicroveilError):
        raise found.with_traceback(None)  # else it grew with every configuration
    return found


def ready_of(tasks: Iterable[Task]) -> Reading:
    """Return how the request is read that protects most attributes: some methods leave some out."""
    ready = (task.ready[1] for task in tasks if not isinstance(task.ready, MicroveilError))
    return max(ready, key=lambda reading: len(reading.prepared.columns))


def begun(tasks: Iterable[Task]) -> Plans:
    """Plan one after another up to the first that is not refused; an error if all are."""
    plans: Plans = {}
    for task in tasks:
        plans[task.configuration.number] = found = task.plan()
        if isinstance(found, Plan):
            return plans
    raise _all_refused([found for found in plans.values() if isinstance(found, MicroveilError)])


def _all_refused(refusals: Sequence[MicroveilError]) -> MicroveilError:
    """Make one error of the refusals of all configurations: the first, and how many there are."""
    first = refusals[0]
    if len(refusals) == 1:
        return first
    rule = f"all {len(refusals)} configurations are refused, the first because {first.rule}"
    return type(first)(first.place, rule, first.remedy)


def carry_out(
    left: Iterable[tuple[Task, Sequence[int]]],
    plans: Plans,
    analyst: Analyst,
    seed: int,
    jobs: int,
    keep: Callable[[Row, int], None],
) -> None:
    """Carry out runs, one thread a task; ``keep`` gets rows, and how many runs each stands for."""
    lock, stopped = threading.Lock(), threading.Event()

    def work(task: Task, runs: Sequence[int]) -> None:
        planned = plans.pop(task.configuration.number, None) or task.plan()
        for row, n_runs in _rows(task, planned, runs, analyst, seed):
            with lock:
                if stopped.is_set():
                    return
                try:
                    keep(row, n_runs)
                except BaseException:
                    stopped.set()
                    raise

    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(work, *one) for one in left]
        try:
            for future in as_completed(futures):
                future.result()
        finally:
            stopped.set()
            pool.shutdown(cancel_futures=True)


def _rows(
    task: Task, planned: Plan | MicroveilError, runs: Sequence[int], analyst: Analyst, seed: int
) -> Iterator[tuple[Row, int]]:
    """Yield the row of each run, or of the refusal of them all."""
    configuration = task.configuration
    if isinstance(planned, MicroveilError) or isinstance(task.ready, MicroveilError):
        yield {**configuration.named(), "refused": str(planned)}, len(runs)
        return
    known = configuration.named() | facts_of(planned, configuration)
    drawn = None
    for run in runs:
        own = configuration.seed(seed, run)
        figures: dict[str, Any] = {}  # nothing where what was drawn is beyond what can be measured
        try:
            if drawn is None or own is not None:  # what is not random is drawn and measured once
                records = _drawn(planned, own, task.ready[1])
                drawn = records, analyst.measured(records)
            figures = drawn[1] | analyst.learnt(drawn[0], run)
        except MicroveilError:
            drawn = None
        yield {**known, "run": run, "seed": own, **figures}, 1


def _drawn(planned: Plan, seed: int | None, reading: Reading) -> Records:
    """Draw a plan as `protect` does for this seed; the order of rows stays."""
    source = RandomSource.seeded(seed or 0)  # nothing is drawn from it without a seed
    if planned.synthetic is not None:
        drawn = planned.synthetic.draw(
            Counter(planned.synthetic.asked(planned.prepared.columns)), source
        )[1]
        return reading.released(drawn, has_pairs=False)
    parts = planned.parts
    sources = [source] if len(parts) == 1 else source.spawn(len(parts))
    cells: dict[str, Numbers] = {
        own.attribute.name: drawn_cells(own, planned.units, stream)
        for part, one in zip(parts, sources, strict=True)
        for own, stream in zip(part.singles, one.spawn(len(part.singles)), strict=True)
    }
    return reading.released(cells, has_pairs=True)
