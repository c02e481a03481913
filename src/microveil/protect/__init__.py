"""From a table to a release: the verbs, and what they do one after another.

::

    protecting  the verbs: protect, plan
    drawing     columns planned and drawn, one after another where that can be
    notes       what is said of the plan to the custodian
    releasing   a release of what was planned and drawn
"""

from microveil.protect.drawing import draw, plan_and_draw
from microveil.protect.notes import plan_notes
from microveil.protect.protecting import plan, protect
from microveil.protect.releasing import released

__all__ = ["draw", "plan", "plan_and_draw", "plan_notes", "protect", "released"]
