"""The process that Spark's Python workers are forked from, with what they import already there.

By default each worker imports this house anew, one that comes after a failed task too, and looks
through all that it has imported for garbage after every task. A session that takes this module
(``spark.python.daemon.module``, before it starts) has that done once.
"""

import gc

import numpy as np

from microveil.engines import (  # noqa: F401 -- what workers import
    spark_buckets,
    spark_records,
    spark_runs,
    spark_synthesis,
)
from microveil.engines.local import summarised
from microveil.partition.ranking import rank_order

__all__ = ["DAEMON", "prepare", "serve"]

# The setting by which a session takes this module.
DAEMON = {"spark.python.daemon.module": "microveil.engines.spark_daemon"}


def prepare() -> None:
    """Load compiled code, and leave all that is there to the workers.

    Threads do not outlive a fork: numpy and scipy start none, as Spark sets OMP_NUM_THREADS, and
    that of Arrow's allocator starts anew.
    """
    _, units = rank_order(np.array([3, 1, 2]))
    summarised(units, np.array([3]))
    # What stays for as long as a worker lives is not looked through as garbage.
    gc.collect()
    gc.freeze()


def serve() -> None:
    """Fork workers, as Spark's own daemon does, until Spark ends it."""
    from pyspark import daemon

    prepare()
    daemon.manager()


if __name__ == "__main__":
    serve()
