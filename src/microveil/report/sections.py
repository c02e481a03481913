"""What the sections of a page have in common: their subject, and what comes of each."""

from dataclasses import dataclass, field
from typing import Any

from microveil.audit.empirical import EmpiricalAudit
from microveil.measures import Assessment
from microveil.measures.attacks import AttackReport
from microveil.protect.release import Release
from microveil.report.columns import Column
from microveil.report.markup import Markup
from microveil.report.pair_tables import MeasuredTables
from microveil.table import open_table

__all__ = ["Section", "Subject"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subject:
    """One release, and all that the page is to say of it.

    Attributes
    ----------
    release : Release
    columns : tuple of Column
        The protected attributes, before and after.
    assessment : Assessment or None
        None where nothing could be measured.
    attacks : AttackReport or None
    empirical : tuple of EmpiricalAudit
    not_released : tuple of str
        Columns of the original that are not in the release.
    prefix : str
        Of every identifier, so that two subjects can share a page.
    level : int
        Of the sections' headings.
    most_points : int
        Records drawn in a picture of ranks.
    most_pictured : int
        Attributes that are drawn.
    pairs : MeasuredTables or None
        What was measured of pairs of attributes; None where nothing was.
    """

    release: Release
    columns: tuple[Column, ...]
    assessment: Assessment | None = None
    attacks: AttackReport | None = None
    empirical: tuple[EmpiricalAudit, ...] = ()
    not_released: tuple[str, ...] = ()
    prefix: str = ""
    level: int = 2
    most_points: int = 2000
    most_pictured: int = 30
    pairs: MeasuredTables | None = None
    measured: dict[str, Any] = field(init=False)
    manifest: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        # Written once, as every section reads them.
        measured = {} if self.assessment is None else self.assessment.to_dict()
        object.__setattr__(self, "measured", measured)
        object.__setattr__(self, "manifest", self.release.manifest.to_dict())

    @property
    def is_synthetic(self) -> bool:
        """Whether the release is a new table, whose rows are nobody's."""
        return self.release.guarantee.is_synthetic

    @property
    def n_released(self) -> int:
        """How many records the release has; a new table may have more than the original."""
        return open_table(self.release.data).n_records

    def identify(self, name: str) -> str:
        """Return an identifier of its own on the page."""
        return f"{self.prefix}{name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section of the page.

    Attributes
    ----------
    identifier : str
    title : str
    body : Markup
        All but its heading.
    heads_itself : bool
        Whether the body opens with the heading.
    """

    identifier: str
    title: str
    body: Markup
    heads_itself: bool = False
