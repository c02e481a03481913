"""Methods x k x epsilon x runs on one table, and what does best; figures are from `measures`.

::

    grid        what is compared: configurations, and the seeds of their runs
    running     the loop: each request checked, planned once, drawn and measured run by run
    measuring   the figures of a run, the user's own analyses among them
    columns     what a run is named by, guarantees and is measured by
    store       the folder that a comparison grows in
    results     means with intervals, and what is Pareto-optimal
    answer      what does best, and by what that is said
"""

from microveil.compare.comparing import compare
from microveil.compare.results import Comparison

__all__ = ["Comparison", "compare"]
