"""A new table from noisy counts; `counter` alone looks at values.

::

    counter       histograms of columns and cross counts of their bins: all that looks at values
    plan          public figures alone; its draw asks the counter and adds noise
    choosing      which tables are measured, by the exponential mechanism
    cuts          private medians of a number, and its distribution from these
    measurements  what was asked, as it came out of the noise; all below sees nothing else
    axes          the bins that an attribute has in tables
    tables        noisy counts and tables made such that none is negative and all agree
    model         a distribution over all attributes, as a tree of cliques
    fitting       from noisy tables to that model, and which pairs depend most
    generation    records drawn from it
    margins       how far figures can be off for the noise alone
"""
