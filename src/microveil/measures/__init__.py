"""What a protected table lost and what an intruder could link, of any two tables; no release.

Works on any two tables with the same attributes, whichever tool protected them. Each measure has
a file: its formula, what it takes, and how it is shown; `registry` has them all. `assess`
is the verb, whose answer is an `assessment`; `attack` is the other, with its `attacks`; `findings`
are what a custodian is told of a release.
"""
