"""From a table to a release, in a straight line: request, columns, plan, draw, release.

What is found of a release beside its original is not here (`measures`), nor what else might be
asked (`audit`), but for what a request leaves to advice.

::

    arguments, reading      what may be asked for: each argument, its sentence and its limits
    recipe, declarations    what a file asks for, and what a table's file declares of its columns
    request, rules, parts   what is asked for, checked without a table
    settling                from what was given to a request that fits a table, or all its problems
    domains, attributes     what is declared of a column
    opening                 a table opened for a request: which columns it protects
    columns                 these columns on their grids, and whose records a table holds
    auto, expectation       what a request leaves to advice, by the error to expect of plans
    planning, plan          everything about a release short of its noise
    claims, notes           what is promised of it, with conditions; what publishers are told
    draw                    the noise, or a new table
    releasing, release      the release as a value
    writing                 and as files
    spark                   the same of a table of Spark's
"""
