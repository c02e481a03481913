"""What plans really guarantee, and what would be better; the promise itself is made in `protect`.

::

    exact      by the plan's own figures
    empirical  by attacks: a lower bound on epsilon
    advice     the error to expect, and what would be better
"""

from microveil.audit.exact import audit
from microveil.protect.exact_audit import Audit

__all__ = ["Audit", "audit"]
