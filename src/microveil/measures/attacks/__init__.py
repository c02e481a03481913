"""Attacks on a release, carried out as an intruder with partial knowledge would.

Each attack is a function from the tables and what the intruder knows to an `AttackOutcome`:
a success rate that never stands without its baseline, its control and its interval.
"""

from microveil.measures.attacks.inference import inference, linkability
from microveil.measures.attacks.linkage import interval_disclosure, linkage
from microveil.measures.attacks.membership import closest_record, membership
from microveil.measures.attacks.outcome import AttackOutcome, AttackReport, Records, Setting
from microveil.measures.attacks.singling_out import singling_out

__all__ = [
    "AttackOutcome",
    "AttackReport",
    "Records",
    "Setting",
    "closest_record",
    "inference",
    "interval_disclosure",
    "linkability",
    "linkage",
    "membership",
    "singling_out",
]
