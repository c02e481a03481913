"""The process that workers are forked from: what they import is there, and no thread is lost."""

import gc
import os
import subprocess
import sys

import pytest

pytest.importorskip("pyarrow", reason="the engine of Spark needs pyarrow")

# Modules of tasks.
TASKS = ["tasks", "runs", "buckets", "records", "synthesis"]
THREADS = """
import os
from microveil.engines import spark_daemon
spark_daemon.prepare()
task = "/proc/self/task"
threads = [open(f"{task}/{one}/comm").read().strip() for one in os.listdir(task)]
print(*(name for name in threads if "jemalloc" not in name))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted by /proc")
def test_no_thread_but_that_of_arrows_allocator_is_there_before_a_fork():
    """A thread would not be there in a worker; the allocator starts its own anew."""
    one = {**os.environ, "OMP_NUM_THREADS": "1"}  # as Spark says to its workers
    asks = [sys.executable, "-c", THREADS]
    done = subprocess.run(asks, env=one, capture_output=True, text=True, check=True)
    assert len(done.stdout.split()) == 1


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_workers_of_a_session_that_takes_it_import_nothing_anew(spark):
    """What tasks need is there before the first of them, and is not looked through as garbage."""
    import pyarrow as pa

    def there(batches):
        yield from ()
        for _ in batches:
            own = [f"microveil.engines.spark_{name}" in sys.modules for name in TASKS]
            yield pa.RecordBatch.from_pydict({"own": [all(own)], "frozen": [gc.get_freeze_count()]})

    seen = spark.range(0, 4, 1, 4).mapInArrow(there, "own boolean, frozen bigint").collect()
    assert len(seen) == 4
    assert all(row.own and row.frozen > 10_000 for row in seen)
