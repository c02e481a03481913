"""A new table from noisy counts: what is computed here sees published measurements alone.

::

    measurements       what was asked of the data, as it came out of the noise
    quantile_function  the distribution of a numeric attribute, from its cuts
    axes               the bins that an attribute has in tables
    copula             the Gaussian copula of two attributes, on the cells of their tables
    pair_tables        noisy tables made tables of probabilities
    junction_tree      a tree of cliques that hold every measured table
    model              a distribution over all attributes, as the tree's cliques
    descent            the model nearest to the tables
    fitting            from noisy tables to that model
    generation         records drawn from it
    synthesis          all of this: a table from measurements
    strengths          the pairs that were measured, by how strongly they depend
    margins            how far figures can be off for the noise alone
"""
