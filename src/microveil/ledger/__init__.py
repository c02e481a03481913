"""What was released of the same people, and what that adds up to; none of their values.

The ledger is a file of the custodian's, with a line to each release, written before the release
appears: a process that dies in between leaves a release counted that never was, and never one
that was not counted. Nothing of it is for publication. See docs/ledger.md.
"""

from microveil.ledger.books import Ledger
from microveil.ledger.entries import Entry, Spent
from microveil.ledger.keeping import announce, ledger_place, read_ledger
from microveil.ledger.recording import Recording, recorded
from microveil.ledger.totals import ScopeSum, Totals

__all__ = [
    "Entry",
    "Ledger",
    "Recording",
    "ScopeSum",
    "Spent",
    "Totals",
    "announce",
    "ledger_place",
    "read_ledger",
    "recorded",
]
