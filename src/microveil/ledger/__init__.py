"""What was released of the same people, and what that adds up to; none of their values.

The custodian keeps a file with a line for each release, written before the release appears. So a
process that dies in between may count a release that never appeared, and never misses one that
did. See docs/ledger.md.
"""

from microveil.ledger.ledger import Ledger, Recording, ledger_place, read_ledger

__all__ = ["Ledger", "Recording", "ledger_place", "read_ledger"]
