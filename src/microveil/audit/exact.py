"""The exact audit of a request: what a release of this table would really guarantee."""

from typing import Any

from microveil.errors import stands_alone
from microveil.protect.arguments import Arguments
from microveil.protect.exact_audit import Audit, audit_of
from microveil.protect.planning import plan_of
from microveil.protect.settling import asking, settle, takes


@stands_alone
@takes(Arguments)
def audit(table: Any, **given: Any) -> Audit:
    """Find what a release of this table would really guarantee at vector scope.

    Takes the arguments of `protect`. Nothing is drawn and nothing released; cells that would
    come out exactly are counted, never refused. The figures depend on the data and are the
    custodian's.

    Returns
    -------
    Audit
        Its ``to_dict()`` holds, by attribute, the share of epsilon, the true loss
        ``vector_scope`` (None where nothing bounds it, as for `record-dp` by MDAV and the
        methods without epsilon), ``exact_cells`` and ``clusters``, and the sum of the losses. Of
        "dp-synthetic" they are what is accounted, and ``accounted`` says it step by step.

    Raises
    ------
    MicroveilError
        If the request or the table breaks a rule.

    Notes
    -----
    O(n log n) for clusters by rank; for `kanon-dp` see `joint_shifts`. Losses are computed
    in float64 from whole scales, with pairwise sums: to a few units in the last place.

    Examples
    --------
    >>> import numpy as np
    >>> fees = {"FEE": np.array([1, 4, 6, 20, 30, 31, 35, 50])}
    >>> found = audit(fees, method="idp-cbls", k=4, epsilon=1, attributes="FEE").to_dict()
    >>> round(found["vector_scope"], 3), found["attributes"]["FEE"]["clusters"]
    (2.0, 2)
    """
    with asking(table, given) as asked:
        return audit_of(plan_of(settle(table, asked)))
