"""The table of a file while a release is made of it, and what the release is held against."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import polars

from microveil.commands.asking import codes_of
from microveil.engines.base import Engine
from microveil.engines.disk import DiskEngine
from microveil.errors import RequestError
from microveil.evaluation.promised import codes_in_release
from microveil.files.labelled import labelled
from microveil.files.reading import SourceFile
from microveil.plans import DrawnPlan
from microveil.protect import (
    ComparedAtHand,
    ReleaseFindings,
    release_findings,
)
from microveil.protect.release_findings import NONE_MOVED
from microveil.release import Plan
from microveil.release.notes import REPORTED_RECORDS
from microveil.table import open_table
from microveil.table.frame_table import FrameTable
from microveil.table.labelled import LabelledTable

__all__ = ["Original"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Original:
    """The table of a file, whole or column by column.

    Attributes
    ----------
    table : LabelledTable or FrameTable
        For `examined_plan`.
    is_reported : bool
        Whether a release is small enough for a custodian's report, which shows the original.
    at_hand : ComparedAtHand or None
        Compares columns as soon as they are drawn, and lets go of them, where nobody looks at the
        whole table again.
    """

    table: LabelledTable | FrameTable
    is_reported: bool
    at_hand: ComparedAtHand | None = None

    @classmethod
    def of(
        cls,
        source: SourceFile,
        asked: Mapping[str, Any],
        engine: Engine,
        linked: bool | str,
        *,
        is_reported: bool = False,
    ) -> "Original":
        """Say of a table that was read how long it stays.

        Parameters
        ----------
        source : SourceFile
        asked : dict
            Of `protect`.
        engine : Engine
        linked : bool or str
            Whether records will be linked, which takes all columns together.
        is_reported : bool
            Whether the custodian's report is asked for, however many records there are.

        Raises
        ------
        RequestError
            If it is, of more records, and the engine holds no more than some columns.
        """
        table, n_records = labelled(source), source.frame.height
        is_small = n_records <= REPORTED_RECORDS
        if is_reported and not is_small and isinstance(engine, DiskEngine):
            raise RequestError(
                "custodian_report",
                f"a page on more than {REPORTED_RECORDS:,} records looks at the whole table, and "
                "the engine on the disk holds some columns of it at a time",
                "leave it out (--custodian-report), or protect in memory (--engine memory)",
            )
        is_reported |= is_small
        stays = (
            is_reported or linked is True or asked.get("unit") is not None or bool(codes_of(asked))
        )
        opened = None if stays or not isinstance(engine, DiskEngine) else open_table(table)
        if not isinstance(opened, FrameTable) or not isinstance(engine, DiskEngine):
            return cls(table=table, is_reported=is_reported)
        at_hand = ComparedAtHand(table=opened, engine=engine)
        return cls(table=opened, is_reported=is_reported, at_hand=at_hand)

    def drawn(self, column: DrawnPlan) -> None:
        """Take note that a column was drawn, of whose original nothing is needed any more."""
        if self.at_hand is not None:
            self.at_hand(column)

    def compared(
        self,
        data: polars.DataFrame,
        planned: Plan,
        asked: Mapping[str, Any],
        engine: Engine,
        linked: bool | str,
        progress: Callable[[str], None],
    ) -> ReleaseFindings:
        """Hold what was drawn against it, for the custodian."""
        codes = codes_of(asked)
        return release_findings(
            self.table if isinstance(self.table, FrameTable) else self.frame(planned),
            data,
            [part.attribute.name for part in planned.attributes],
            in_place=planned.guarantee.in_place,
            linkage=linked,
            categories=_listed(planned),
            codes=(codes, codes_in_release(codes, planned.guarantee)),
            progress=progress,
            side_by_side=engine.side_by_side,
            sorted_values=engine.sorted_values,
            moved=NONE_MOVED if self.at_hand is None else self.at_hand.moved,
            relieve=engine.scratch.relieve if isinstance(engine, DiskEngine) else lambda: None,
        )

    def frame(self, planned: Plan) -> polars.DataFrame:
        """Return the table, of which no column was let go, without units that were left out."""
        assert isinstance(self.table, LabelledTable)  # noqa: S101 -- else columns may be gone
        if planned.units is None or not planned.units.n_dropped:
            return self.table.frame
        kept: polars.DataFrame = planned.table.rebuild({}, self.table.frame.columns, None)
        return kept


def _listed(planned: Plan) -> dict[str, tuple[str, ...] | None]:
    """Return the attributes that are categories, with their words where these have an order.

    Ordered numbers are compared as numbers.
    """
    found = {part.attribute.name: part.attribute.categories for part in planned.attributes}
    return {
        name: listed.words if listed.ordered else None
        for name, listed in found.items()
        if listed is not None and (listed.words or not listed.ordered)
    }
