"""Methods x k x epsilon x runs on one table, and what does best; figures are from `measures`.

::

    choices     a method with its steps, or the parts of a recipe
    grid        what is compared: configurations and the seeds of their runs
    tasks       configurations with their requests checked and the table read
    running     plans, draws and measures, in threads
    measures    which figures a run has; measuring, one by one; analysing, the user's own too
    rows        the tidy table
    store       the folder that a comparison grows in
    results     means with intervals; Pareto frontier and answer
    map         the risk-utility map as figures
"""

from microveil.compare.comparing import compare
from microveil.compare.map import Panel, Point, Series, risk_utility_map
from microveil.compare.results import Comparison

__all__ = ["Comparison", "Panel", "Point", "Series", "compare", "risk_utility_map"]
