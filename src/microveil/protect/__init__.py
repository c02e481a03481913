"""From a table to a release, in a straight line: request, columns, plan, draw, release.

What is found of a release beside its original is not here (`measures`), nor what else might be
asked (`audit`), but for what a request leaves to advice.

::

    request, recipe, parts  what is asked for, checked without a table
    domains, attributes     what is declared of a column
    units                   whose records a table holds
    columns                 a table opened for a request: its columns on their grids
    auto, expectation       what a request leaves to advice, by the error to expect of plans
    planning, plan          everything about a release short of its noise
    claims, composing       what is promised of it, with conditions
    settling                from arguments to requests that fit a table, and to their plan
    draw                    the noise, or a new table
    notes                   remarks of a promise, and what publishers are told
    releasing, release      the release as a value, and written
    spark                   the same of a table of Spark's
"""
