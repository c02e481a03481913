"""A new table from noisy counts: measure, choose pairs, fit, generate.

::

    plan          public figures alone; its draw measures, fits and generates
    measuring     counts of records: all that looks at values
    choosing      which pairs are measured, by exact counts, and what each may spend
    cuts          private medians of a number, and its distribution from these
    measurements  what was asked, as it came out of the noise, and its margins; all below sees
                  nothing else
    tables        the bins of attributes in tables, and noisy tables made such that all agree
    model         a distribution over all attributes, as a tree of cliques
    fitting       from noisy tables to that model, and which pairs depend most
    generation    records drawn from it
"""
