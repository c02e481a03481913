"""From a request and a table to a plan, and a release as a value.

::

    request    arguments, checked without a table
    recipe     a file as arguments
    domains    what was given as a column's domain and step
    columns    a table opened for a request: its columns on their grids
    parts      several requests in one: what each says, and what is said of the table
    planning   from these to a plan
    claims     its guarantee, with conditions and remarks
    selection  what a request leaves to advice, chosen
    composing  the plans of several parts made one
    settling   from arguments to requests that fit a table, and to their plan
    notes      warnings in words
    release    plan, release and manifest as values
"""

from microveil.release.manifest import Manifest
from microveil.release.plan import Plan
from microveil.release.release import Release

__all__ = ["Manifest", "Plan", "Release"]
