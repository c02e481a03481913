"""From a request and a table to a plan, and a release as a value.

::

    request    arguments, checked without a table
    recipe     a file as arguments
    domains    what was given as a column's domain and step
    columns    a table opened for a request: its columns on their grids
    planning   from these to a plan
    selection  what a request leaves to advice, chosen
    notes      warnings in words
    release    plan, release and manifest as values
"""

from microveil.release.release import Manifest, Plan, Release

__all__ = ["Manifest", "Plan", "Release"]
