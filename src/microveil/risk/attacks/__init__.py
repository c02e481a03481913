"""Attacks on a release, carried out as an intruder with partial knowledge would.

Each attack is a function from the tables and what the intruder knows to an `AttackOutcome`:
a success rate that never stands without its baseline, its control and its interval.
"""

from microveil.risk.attacks.closest import closest_record
from microveil.risk.attacks.disclosure import interval_disclosure
from microveil.risk.attacks.inference import inference
from microveil.risk.attacks.linkability import linkability
from microveil.risk.attacks.linkage import linkage
from microveil.risk.attacks.membership import membership
from microveil.risk.attacks.outcome import AttackOutcome, Estimate, excess, success_rate
from microveil.risk.attacks.records import Records, Setting
from microveil.risk.attacks.report import AttackReport
from microveil.risk.attacks.singling_out import singling_out

__all__ = [
    "AttackOutcome",
    "AttackReport",
    "Estimate",
    "Records",
    "Setting",
    "closest_record",
    "excess",
    "inference",
    "interval_disclosure",
    "linkability",
    "linkage",
    "membership",
    "singling_out",
    "success_rate",
]
