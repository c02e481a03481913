"""Engines: what a method asks for, carried out on one machine or on many."""

from microveil.engines.base import Clusters, ClusterSummary, Column, Engine, Ranked, Widening
from microveil.engines.local import LocalEngine, RememberingEngine, in_threads

__all__ = [
    "ClusterSummary",
    "Clusters",
    "Column",
    "Engine",
    "LocalEngine",
    "Ranked",
    "RememberingEngine",
    "Widening",
    "in_threads",
]
