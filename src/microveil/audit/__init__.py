"""What a plan would really guarantee, and what to expect of it, before anything is drawn.

::

    exact              by the plan's own figures
    empirical          by attacks: a lower bound on epsilon
    advice             the error to expect, and what would be better
    invited_linkage    what isotonic regression gives away
"""

from microveil.audit.exact import audit
from microveil.protect.exact_audit import Audit

__all__ = ["Audit", "audit"]
