"""Engines: what a method asks for, carried out on one machine or on many."""

from microveil.engines.base import ClusterSummary, Engine, Ranked, Widening
from microveil.engines.local import LocalEngine, in_threads
from microveil.engines.remembering import RememberingEngine

__all__ = [
    "ClusterSummary",
    "Engine",
    "LocalEngine",
    "Ranked",
    "RememberingEngine",
    "Widening",
    "in_threads",
]
