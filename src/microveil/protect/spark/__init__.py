"""Tables of Spark: their records stay there, and methods see summaries and counts, as of any table.

Ranked methods, `laplace`, `pram` and `dp-synthetic` alone; everything else is refused.
"""
