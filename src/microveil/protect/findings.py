"""What was found out about a plan and its release, as values and as JSON."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from microveil.audit import Audit
from microveil.audit.invited_linkage import InvitedLinkage
from microveil.release.expectation import Expectation
from microveil.text import aligned, shortened
from microveil.utility.column_moves import COMMON, HEADS, ColumnMove, moved_most, worst_rows
from microveil.utility.relations import Relations

__all__ = [
    "COMMON",
    "Findings",
    "MovedValue",
    "PlanFindings",
    "ReleaseFindings",
    "SampledLinkage",
    "WorstAttribute",
]

# So many values that moved are named, and the others counted.
NAMED = 3
LONGEST_NAME = 16  # in a table of 80 columns
EVERY_ONE = "the protected attributes"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SampledLinkage:
    """The strongest record linkage: the one of three distances that finds the most records.

    Attributes
    ----------
    distances : str
        "in raw units", "standardised" or "by rank" of numbers, or "over all attributes".
    percent : float
        Of the sampled records, found again among all complete originals.
    interval : tuple[float, float]
        95 % Wilson interval, in percent.
    by_chance : float
        What blind guessing finds, in percent.
    n_sampled, n_records : int
        Records linked, and complete records there are.
    known : str
        What whoever links them knows the values of.
    """

    distances: str
    percent: float
    interval: tuple[float, float]
    by_chance: float
    n_sampled: int
    n_records: int
    known: str = EVERY_ONE

    def __str__(self) -> str:
        """Say the share in a line, beside its interval and chance."""
        low, high = self.interval
        all_of_them = self.n_sampled == self.n_records
        who = f"all {self.n_records:,}" if all_of_them else f"{self.n_sampled:,} sampled"
        return (
            f"{self.percent:.3g} % of {who} records (95 % interval {low:.3g} to {high:.3g} %), "
            f"by who knows all original values of {self.known}, distances "
            f"{self.distances}; by chance {self.by_chance:.2g} %"
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WorstAttribute:
    """The attribute whose distribution moved most.

    Attributes
    ----------
    attribute : str
    distance : float
        Between the original's distribution and the release's, 0 (alike) to 1 (apart).
    measure : str
        "Kolmogorov-Smirnov" of numbers and dates, "total variation" of text.
    """

    attribute: str
    distance: float
    measure: str

    def __str__(self) -> str:
        """Say how far in a line."""
        return (
            f"'{self.attribute}', whose distribution moved by {self.distance:.3g} "
            f"({self.measure}; 0 is alike, 1 is apart)"
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MovedValue:
    """A value that many records share and that has moved: the one that moved most.

    Attributes
    ----------
    attribute : str
    share, share_in_release : float
        Of the records with a value, before and after. The value itself is not held.
    is_zero : bool
        Whether it is 0, which tells nothing about a person and says what was lost.
    """

    attribute: str
    share: float
    share_in_release: float
    is_zero: bool = False

    def __str__(self) -> str:
        """Say both shares."""
        before, after = 100 * self.share, 100 * self.share_in_release
        what = "are 0" if self.is_zero else "are one and the same"
        return (
            f"{shortened(self.attribute)}: {before:.3g} % of the values {what} in the original, "
            f"{after:.3g} % in the release"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseFindings:
    """What was found out about a release against its original.

    Attributes
    ----------
    linkage : SampledLinkage or None
    not_linked : str or None
        Why records were not linked, where they were not.
    worst : WorstAttribute or None
        None where no attribute has values in both tables.
    moved : tuple of MovedValue
        At most one to an attribute.
    columns : dict of ColumnMove
        By attribute, where it has values in both tables.
    relations : Relations or None
        None where they were not looked for.
    """

    linkage: SampledLinkage | None
    not_linked: str | None
    worst: WorstAttribute | None
    moved: tuple[MovedValue, ...]
    columns: Mapping[str, ColumnMove] = field(default_factory=dict)
    relations: Relations | None = None

    def __repr__(self) -> str:
        """Name the findings without a figure: notebooks print it."""
        return "ReleaseFindings(for the custodian)"

    @property
    def lines(self) -> tuple[str, ...]:
        """Values lost, worst attributes and records found again, a line each."""
        found = f"not measured: {self.not_linked}" if self.linkage is None else str(self.linkage)
        most, distance = moved_most(self.columns), "" if self.worst is None else f"{self.worst}"
        worst = "; ".join(part for part in (most, distance) if part)
        return (
            *self.warnings,
            *((f"Worst attribute: {worst}.",) if worst else ()),
            f"Records found again: {found}.",
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know before publishing, in sentences."""
        if not self.moved:
            return ()
        most = sorted(self.moved, key=lambda one: -abs(one.share_in_release - one.share))
        where = "; ".join(map(str, most[:NAMED]))
        more = f"; and in {len(most) - NAMED} more attributes" if len(most) > NAMED else ""
        return (
            (
                f"A value that makes up more than {100 * COMMON:g} % of a column has moved: "
                f"{where}{more}. Whoever counts it is misled."
            ),
        )

    @property
    def table(self) -> tuple[str, ...]:
        """The five worst columns, a row each."""
        if not self.columns:
            return ()
        rows = (
            (shortened(name, LONGEST_NAME), *cells) for name, *cells in worst_rows(self.columns)
        )
        return tuple(aligned([HEADS, *rows], indent="  "))

    @property
    def kept(self) -> tuple[str, ...]:
        """How many pairs of attributes are still related, and how strongly, a line each."""
        return () if self.relations is None else self.relations.lines

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain values."""
        linkage = self.linkage
        return {
            "linkage": linkage
            and {
                "distances": linkage.distances,
                "percent": linkage.percent,
                "interval": list(linkage.interval),
                "by_chance": linkage.by_chance,
                "n_sampled": linkage.n_sampled,
                "n_records": linkage.n_records,
                **({"known": linkage.known} if linkage.known != EVERY_ONE else {}),
            },
            "not_linked": self.not_linked,
            "worst_attribute": self.worst and asdict(self.worst),
            "moved_values": [asdict(value) for value in self.moved],
            "columns": {name: move.to_dict() for name, move in self.columns.items()},
            "relations": self.relations and self.relations.to_dict(),
        }

    @classmethod
    def of(cls, contents: Mapping[str, Any]) -> "ReleaseFindings":
        """Read findings from the plain values that `to_dict` makes of them."""
        linkage, worst = contents["linkage"], contents["worst_attribute"]
        relations = contents.get("relations")  # which manifests of version 0.2 lack
        return cls(
            linkage=linkage
            and SampledLinkage(**{**linkage, "interval": tuple(linkage["interval"])}),
            not_linked=contents["not_linked"],
            worst=worst and WorstAttribute(**worst),
            moved=tuple(MovedValue(**value) for value in contents["moved_values"]),
            columns={
                name: ColumnMove.of(move) for name, move in contents.get("columns", {}).items()
            },
            relations=Relations.of(relations) if relations is not None else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PlanFindings:
    """What was found out about a plan before anything was drawn.

    Attributes
    ----------
    audit : Audit
        What it really guarantees at vector scope.
    expected : dict of Expectation
        The error to expect, by attribute.
    is_advised : bool
        Whether advice chose what the request left to it.
    linkage : InvitedLinkage or None
        Where isotonic regression was asked for.
    numeric_looks : dict of str
        Of columns left out as text though nobody named the attributes: what keeps them from being
        numbers.
    """

    audit: Audit
    expected: Mapping[str, Expectation]
    is_advised: bool
    linkage: InvitedLinkage | None
    numeric_looks: Mapping[str, str]

    def __repr__(self) -> str:
        """Name the findings without a figure: notebooks print it."""
        return "PlanFindings(for the custodian)"

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain values; those that were not looked for are left out."""
        found: dict[str, Any] = {
            "audit": self.audit.to_dict(),
            "expected_error": {name: entry.to_dict() for name, entry in self.expected.items()},
        }
        if self.linkage is not None:
            found["isotonic_linkage"] = self.linkage.to_dict()
        if self.numeric_looks:
            found["numeric_looks"] = dict(self.numeric_looks)
        return found


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Findings:
    """All that was found out, for the custodian's manifest.

    Attributes
    ----------
    plan : PlanFindings
    release : ReleaseFindings or None
        None where the release was not held against its original.
    """

    plan: PlanFindings
    release: ReleaseFindings | None = None

    def __repr__(self) -> str:
        """Name the findings without a figure: notebooks print it."""
        return "Findings(for the custodian)"
