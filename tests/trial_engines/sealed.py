"""Engines that say no: one lets nobody look at a column, one does not cluster jointly."""

from dataclasses import replace

import numpy as np

from microveil.engines.base import Ranked
from microveil.engines.handles import LocalColumn
from microveil.engines.local import LocalEngine
from microveil.errors import EngineError
from microveil.partition import Partition

SHOWN_OF_A_COLUMN = ("attribute", "n_present")
SHOWN_OF_CLUSTERS = ("sizes", "n_clusters")
# What a plan keeps: methods hand it on.
FOR_PLANS = ("held", "missing", "in_table", "cluster_by_interval", "everybody", "broadcast")


class LookedError(AssertionError):
    """Somebody looked at what a handle does not show."""


class Sealed:
    """A handle that shows nothing but what a handle may show."""

    def __init__(self, inner, shown):
        self.__dict__.update({name: getattr(inner, name) for name in shown})

    def __getattr__(self, name):
        raise LookedError(name)


class SealedEngine:
    """The engine of one machine, behind handles that raise on every other look."""

    memory = None
    in_process = True
    n_candidates = 1 << 40

    def __init__(self):
        self._engine = LocalEngine()
        # By identity, with the handle beside it: its id then stays its own.
        self._inner = {}
        self.steps = set()

    def column_memory(self, n_records, n_clusters, in_parts=None):
        return None

    def side_by_side(self, work, items, n_values, n_clusters=0):
        return [work(item) for item in items]

    def kept(self, value):
        return value

    def joined(self, n_records, made):
        return made(slice(0, n_records))

    def seen_as(self, column, values):
        return None

    def empty(self, n_records, dtype):
        return np.empty(n_records, dtype)

    def __getattr__(self, step):
        carry_out = getattr(self._engine, step)

        def carried_out(*args, **kwargs):
            self.steps.add(step)
            found = carry_out(*map(self._open, args), **kwargs)
            return found if step in FOR_PLANS else self._close(found)

        return carried_out

    def _open(self, given):
        if isinstance(given, Sealed):
            return self._inner[id(given)][1]
        return [self._open(one) for one in given] if isinstance(given, list | tuple) else given

    def _close(self, found):
        if isinstance(found, Ranked):
            return replace(found, partition=self._close(found.partition))
        if isinstance(found, list):
            return [self._close(one) for one in found]
        if not isinstance(found, LocalColumn | Partition):
            return found
        shown = SHOWN_OF_A_COLUMN if isinstance(found, LocalColumn) else SHOWN_OF_CLUSTERS
        sealed = Sealed(found, shown)
        self._inner[id(sealed)] = sealed, found
        return sealed


class OneColumnEngine(LocalEngine):
    """An engine for which several columns are too much to see at once."""

    def cluster_jointly(self, name, columns, k, *, with_missing=False, units=None):
        raise EngineError(
            "engine",
            f"it does not partition by several columns, as {name} does",
            "choose a method that ranks each attribute by itself",
        )
