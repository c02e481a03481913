"""Columns drawn as soon as they are planned: what is planned of one need not wait for the others.

Clusters, sums and scales of a column take as much as the column. Of all columns they would be at
hand together, or written to the disk and read again, before the first cell is drawn.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from microveil.engines.base import Engine
from microveil.engines.disk import DiskEngine
from microveil.engines.local import LocalEngine
from microveil.noise.noise import RandomSource
from microveil.plans import CentroidPlan, DrawnPlan
from microveil.release.settling import Settled, SettledParts
from microveil.table.pages import give_back_freed

__all__ = ["drawing_at_once"]

Value = TypeVar("Value")
Item = TypeVar("Item")
Streams = Mapping[str, RandomSource]
Done = Callable[[DrawnPlan], None]


def drawing_at_once(
    engine: Engine,
    settled: Settled | SettledParts,
    progress: Callable[[str], None] = lambda _step: None,
    done: Done = lambda _drawn: None,
) -> Engine:
    """Return an engine of the same kind that draws the centroids of a column as they are planned.

    What it draws is what `draw` draws of the plan. The engine itself is returned where it works
    elsewhere, where the stream that those of the columns come from goes on to
    draw more, as an order of the records, and where centroids are looked at before they are drawn.

    Parameters
    ----------
    engine : Engine
    settled : Settled or SettledParts
    progress : callable
        Gets the name of each step.
    done : callable
        Gets each column of an engine on the disk that was drawn, when nothing else is left of its
        plan.
    """
    if not isinstance(settled, Settled):
        return engine
    request = settled.request
    if request.shuffle is not None or request.isotonic or settled.prepared.units is not None:
        return engine
    names = settled.prepared.names
    streams = dict(zip(names, RandomSource.of(request.seed).spawn(len(names)), strict=True))
    if isinstance(engine, DiskEngine):
        return _DrawingDiskEngine(engine, streams, progress, done)
    return _DrawingEngine(streams, progress) if type(engine) is LocalEngine else engine


class _DrawingEngine(LocalEngine):
    """Keeps of a plan of centroids the cells, each of which is drawn once."""

    def __init__(self, streams: Streams, progress: Callable[[str], None]) -> None:
        self._streams, self._progress = streams, progress

    def kept(self, value: Value) -> Value:
        if isinstance(value, CentroidPlan):
            name = value.attribute.name
            self._progress(f"randomising {name}")
            drawn: Any = DrawnPlan.of(value, self._streams[name], self)
            return cast("Value", super().kept(drawn))
        return super().kept(value)


class _DrawingDiskEngine(_DrawingEngine, DiskEngine):
    """The same, on the disk of another."""

    def __init__(
        self, engine: DiskEngine, streams: Streams, progress: Callable[[str], None], done: Done
    ) -> None:
        super().__init__(streams, progress)
        self.memory, self.scratch, self._done = engine.memory, engine.scratch, done

    def kept(self, value: Value) -> Value:
        if isinstance(value, CentroidPlan):
            give_back_freed()  # what planning held for the next arrays, before cells are made
        return super().kept(value)

    def side_by_side(
        self,
        work: Callable[[Item], Value],
        items: Sequence[Item],
        n_values: int,
        n_clusters: int = 0,
    ) -> list[Value]:
        def worked(item: Item) -> Value:
            made = work(item)
            if isinstance(made, DrawnPlan):
                self._done(made)
            give_back_freed()  # before the next column is put in order
            return made

        return super().side_by_side(worked, items, n_values, n_clusters)
