"""Engines: what a method asks for, carried out on one machine or on many."""

from microveil.engines.base import ClusterSummary, Engine, Ranked, Widening
from microveil.engines.local import LocalEngine, in_threads

__all__ = ["ClusterSummary", "Engine", "LocalEngine", "Ranked", "Widening", "in_threads"]
