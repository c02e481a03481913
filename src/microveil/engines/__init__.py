"""Engines: what a method asks for, carried out on one machine or on many.

::

    base         what an engine is: handles of columns, and the steps over them
    local        the one in memory
    handles      what methods see of its columns and clusters
    disk         the same as local, with what is needed later on the disk
    spark        the one of a Spark cluster, with its table, its tasks and its files
    registry     what each is called; nothing heavy is imported here
"""

from microveil.engines.registry import ENGINES, engine_named, engine_of, with_engine

__all__ = ["ENGINES", "engine_named", "engine_of", "with_engine"]
