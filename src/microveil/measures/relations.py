"""How many relations between columns a release keeps."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from microveil.measures.base import Better, Entry, Group, Measure, Takes
from microveil.utility.relations import Relations, compare_relations

__all__ = ["MEASURES", "PAIRS_KEPT", "RELATIONS"]

RELATIONS = Group(title="Relations between columns")


def _write(found: Relations, _: Sequence[str]) -> dict[str, Any]:
    return found.to_dict()


PAIRS_KEPT = Measure(
    id="pairs_kept",
    label="pairs kept",
    scale="of pairs whose rank correlation or Cramér's V is above 0.1 in the original",
    explanation="100 = each is within 0.1 or 30 % of the original's",
    unit="%",
    highest=100.0,
    function=compare_relations,
    takes=Takes.SAMPLE,
    needs_pairs=False,
    better=Better.HIGHER,
    figure=attrgetter("percent_kept"),
    group=RELATIONS,
    entry=Entry(name="relations", write=_write),
)
MEASURES = (PAIRS_KEPT,)
