"""Methods x k x epsilon x runs on one table, and what does best; figures are from `measures`."""

from microveil.compare.comparing import compare
from microveil.compare.results import Comparison

__all__ = ["Comparison", "compare"]
