"""The empirical audit: attack a method many times and bound its epsilon from below.

A lower bound can contradict a claim and can never prove one: see docs/audit.md.
"""

from microveil.audit.empirical.audit import empirical_audit
from microveil.audit.empirical.bounds import EmpiricalAudit, ScopeFinding

__all__ = ["EmpiricalAudit", "ScopeFinding", "empirical_audit"]
