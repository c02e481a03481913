"""Carrying a comparison out: each configuration planned once and drawn many times, side by side.

The table is put on its grids once. The work is done in threads:
sorting and the kernels let go of the interpreter, and nothing has to be sent anywhere. Whatever
threads do what, and whatever was done in an earlier process, a run is the same: its seed is its
name's.
"""

import queue
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from microveil.compare.analysing import Analyst
from microveil.compare.grid import Configuration
from microveil.compare.measuring import Figures, Records
from microveil.compare.rows import Facts, refused_row, run_row
from microveil.compare.tasks import Reading, Task, all_refused
from microveil.errors import MicroveilError
from microveil.noise.noise import RandomSource
from microveil.protect.draw import drawn_cells
from microveil.protect.plan import Plan
from microveil.protect.planning import plan_of, refuse_exact_cells
from microveil.synthesis.measuring import Counter
from microveil.table import Numbers

__all__ = ["Plans", "Progress", "carried_out"]

# Gets the runs done and the runs in all.
Progress = Callable[[int, int], None]
Row = dict[str, Any]

# Enough tasks for each thread that none is idle for long at the end.
TASKS_PER_JOB = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """What became of some runs: one run's row, or that of a configuration that is refused."""

    row: Row
    runs: int


class _Planned:
    """A configuration that is planned when it is first asked for, once, whoever asks."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._lock = threading.RLock()
        self._found: tuple[Plan, Facts, Reading] | MicroveilError | None = None
        self._still: tuple[Records, Figures] | None = None

    def found(self) -> tuple[Plan, Facts, Reading]:
        with self._lock:
            if self._found is None:
                try:
                    self._found = self._plan()
                except MicroveilError as error:
                    self._found = error
        if isinstance(self._found, MicroveilError):
            raise self._found
        return self._found

    def run(self, analyst: Analyst, seed: int | None) -> tuple[Records, Figures]:
        """Draw a run and measure it; where nothing is drawn at random, only once for all runs."""
        if seed is not None:
            return self._run(analyst, seed)
        with self._lock:
            if self._still is None:
                self._still = self._run(analyst, seed)
        return self._still

    def _run(self, analyst: Analyst, seed: int | None) -> tuple[Records, Figures]:
        planned, _, reading = self.found()
        drawn = _drawn(planned, seed, reading)
        return drawn, analyst.measured(drawn)

    def _plan(self) -> tuple[Plan, Facts, Reading]:
        configuration, ready = self._task.configuration, self._task.ready
        if isinstance(ready, MicroveilError):
            raise ready
        prepared, reading = ready
        planned = plan_of(prepared)
        refuse_exact_cells(planned)
        return planned, Facts.of(planned, configuration), reading


class Plans:
    """The plans of a comparison: each made once."""

    def __init__(self) -> None:
        self._tried: dict[int, _Planned] = {}

    def check(self, tasks: Iterable[Task]) -> None:
        """Make sure that there is something to draw.

        Raises
        ------
        MicroveilError
            If not one configuration can be planned.

        Notes
        -----
        Plans one after another up to the first that is not refused; none is planned again.
        """
        refusals = []
        for task in tasks:
            planned = self._tried.setdefault(task.configuration.number, _Planned(task))
            try:
                planned.found()
            except MicroveilError as error:
                refusals.append(error)
            else:
                return
        raise all_refused(refusals)

    def taken(self, task: Task) -> _Planned:
        """Return a configuration for those who draw it: with the last of them its plan goes."""
        return self._tried.pop(task.configuration.number, None) or _Planned(task)


def carried_out(
    tasks: Sequence[Task],
    done: set[tuple[int, int]],
    analyst: Analyst,
    seed: int,
    jobs: int,
    progress: Progress,
    plans: Plans,
) -> Generator[Row]:
    """Carry out what is not done yet; yield rows as they come, in any order.

    Parameters
    ----------
    tasks : sequence of Task
    done : set of (int, int)
        Configuration and run of what is there already.
    analyst : Analyst
        Says what is measured, and makes the user's own analyses.
    seed : int
    jobs : int
        How many threads.
    progress : callable
        Called after each run, in the caller's thread.
    plans : Plans
        Those that were made already are taken from it.
    """
    total = sum(task.configuration.runs for task in tasks)
    left = [
        (task, runs)
        for task in tasks
        if (
            runs := [
                r
                for r in range(1, task.configuration.runs + 1)
                if (task.configuration.number, r) not in done
            ]
        )
    ]
    remaining = sum(len(runs) for _, runs in left)
    progress(total - remaining, total)
    if not left:
        return
    refused: set[int] = set()
    for outcome in _side_by_side(left, analyst, seed, jobs, plans):
        remaining -= outcome.runs
        # A configuration whose runs were dealt out to several threads is refused to each of them.
        if "run" in outcome.row or outcome.row["configuration"] not in refused:
            yield outcome.row
        if "run" not in outcome.row:
            refused.add(outcome.row["configuration"])
        progress(total - remaining, total)


def _side_by_side(
    left: Sequence[tuple[Task, list[int]]], analyst: Analyst, seed: int, jobs: int, plans: Plans
) -> Iterator[_Outcome]:
    """Deal the work out to threads; yield what they hand in."""
    handed_in: queue.SimpleQueue[_Outcome | BaseException] = queue.SimpleQueue()
    stop = threading.Event()
    parts = max(1, -(-jobs * TASKS_PER_JOB // len(left)))

    def work(task: Task, plan: _Planned, runs: Sequence[int]) -> None:
        try:
            for outcome in _worked(task.configuration, plan, analyst, runs, seed):
                handed_in.put(outcome)
                if stop.is_set():
                    return
        except BaseException as error:  # noqa: BLE001 -- it is raised where rows are awaited
            handed_in.put(error)

    remaining = sum(len(runs) for _, runs in left)
    pool = ThreadPoolExecutor(jobs)
    try:
        for task, runs in sorted(left, key=lambda item: _turn(item[0].configuration)):
            plan = plans.taken(task)
            for part in range(parts):
                if runs[part::parts]:
                    pool.submit(work, task, plan, runs[part::parts])
        while remaining:
            outcome = handed_in.get()
            if isinstance(outcome, BaseException):
                raise outcome
            remaining -= outcome.runs
            yield outcome
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


def _turn(configuration: Configuration) -> tuple[int, str, int]:
    """Go through k before epsilon: the same order whatever the order of the grid."""
    return (configuration.k or 0, str(configuration.choice), configuration.number)


def _worked(
    configuration: Configuration, plan: _Planned, analyst: Analyst, runs: Sequence[int], seed: int
) -> Iterator[_Outcome]:
    try:
        _, facts, _ = plan.found()
    except MicroveilError as error:
        # Before its first run, and for all of them: which runs were done elsewhere is no matter.
        yield _Outcome(row=refused_row(configuration, str(error)), runs=len(runs))
        return
    for run in runs:
        run_seed = configuration.seed(seed, run)
        row = run_row(configuration, facts, run, run_seed, _figures(plan, analyst, run, run_seed))
        yield _Outcome(row=row, runs=1)


def _figures(plan: _Planned, analyst: Analyst, run: int, seed: int | None) -> Figures:
    """Measure a run; nothing where what was drawn is beyond what can be measured."""
    try:
        drawn, figures = plan.run(analyst, seed)
    except MicroveilError:
        return {}
    return figures | analyst.learnt(drawn, run)


def _drawn(planned: Plan, seed: int | None, reading: Reading) -> Records:
    """Draw a plan as `protect` does for this seed; the order of rows stays."""
    source = RandomSource.seeded(seed or 0)  # nothing is drawn from it without a seed
    if planned.synthetic is not None:
        drawn = planned.synthetic.draw(Counter(planned.prepared.columns), source)[1]
        return reading.released(drawn, has_pairs=False)
    return reading.released(_cells(planned, source), has_pairs=True)


def _cells(planned: Plan, source: RandomSource) -> dict[str, Numbers]:
    """Draw the attributes of a plan, part by part, by the streams that `protect` takes."""
    parts = planned.parts
    sources = [source] if len(parts) == 1 else source.spawn(len(parts))
    return {
        own.attribute.name: drawn_cells(own, planned.units, stream, isotonic=part.request.isotonic)
        for part, one in zip(parts, sources, strict=True)
        for own, stream in zip(part.singles, one.spawn(len(part.singles)), strict=True)
    }
