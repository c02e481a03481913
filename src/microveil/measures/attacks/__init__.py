"""Attacks on a release, carried out as an intruder with partial knowledge would.

Each is a function from the tables and what the intruder knows to an `outcome.AttackOutcome`: a
success rate that never stands without its baseline, its control and its interval.
"""
