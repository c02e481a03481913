"""What was found of a protected table, as values and as JSON."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from microveil.evaluation.measures import Group
from microveil.evaluation.measures.goodness_of_fit import DISTANCE, FIT
from microveil.evaluation.measures.information_loss import INFORMATION_LOSS
from microveil.evaluation.measures.learning import Learnt
from microveil.evaluation.measures.linkage import RECORD_LINKAGE
from microveil.evaluation.measuring import Measured
from microveil.evaluation.promised import promised
from microveil.evaluation.text import text_of
from microveil.privacy import Guarantee
from microveil.utility.learning import ClassificationComparison
from microveil.utility.moments import MomentComparison
from microveil.utility.propensity import Propensity
from microveil.utility.regression import RegressionComparison

__all__ = ["Assessment"]

# Their entries stand before what they leave out.
FIRST = (INFORMATION_LOSS, RECORD_LINKAGE)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Assessment:
    """Utility and risk of a protected table, compared with its original.

    It holds figures of the original, so it is for the custodian, not for publication.

    Parameters
    ----------
    n_records : int
        Number of records of either table.
    attributes : tuple[str, ...]
        Names of the attributes of numbers that were compared.
    constant_attributes : tuple[str, ...]
        Those that do not vary in the original: no part of the measures that divide by a
        variance.
    paired : bool
        Whether the records of both tables were taken to be in the same order. Without that,
        measures that need it are left out.
    n_cells_compared, n_records_complete : int
        Cells present in both tables, record by record, and records without a missing cell in
        either; 0 without pairs.
    measured : dict of Measured
        Every measure that was taken, by id.
    left_out : tuple of str
        Columns of the original that were not compared: not released, no numbers, or not
        asked for.
    kept : tuple of str
        Columns that were released as they are: by the guarantee, or cell by cell.
    guarantee : Guarantee or None
        What the release promises; None where that is not known.
    """

    n_records: int
    attributes: tuple[str, ...]
    constant_attributes: tuple[str, ...]
    paired: bool
    n_cells_compared: int
    n_records_complete: int
    measured: Mapping[str, Measured]
    left_out: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    guarantee: Guarantee | None = None

    def of(self, group: Group) -> tuple[Measured, ...]:
        """Return what was measured of a group, for a table of it."""
        return tuple(
            found
            for found in self.measured.values()
            if found.measure.group == group and found.measure.tabulated
        )

    def result(self, measure: str) -> Any:
        """Return what a measure's function found; None where it was not taken."""
        found = self.measured.get(measure)
        return None if found is None else found.result

    @property
    def moments(self) -> MomentComparison:
        """Means, variances, covariances and correlations, before and after."""
        found: MomentComparison = self.result("mean")
        return found

    @property
    def classification(self) -> ClassificationComparison | None:
        """What a classifier learnt, where it was asked for."""
        found: Learnt | None = self.result("f_measure")
        return None if found is None else found.comparison

    @property
    def regression(self) -> RegressionComparison | None:
        """What a regression estimates, where it was asked for."""
        found: RegressionComparison | None = self.result("coefficient_overlap")
        return found

    @property
    def propensity(self) -> Propensity | None:
        """Whether a model tells the tables apart, where it was asked for."""
        found: Propensity | None = self.result("propensity_ratio")
        return found

    @property
    def strongest_linkage(self) -> Measured | None:
        """The linkage that finds the most: which one is used is not ours to choose."""
        found = [linked for linked in self.of(RECORD_LINKAGE) if linked.value is not None]
        return max(found, key=lambda linked: linked.value or 0.0, default=None)

    @property
    def worst_attribute(self) -> tuple[str, float] | None:
        """The attribute whose distribution moved most, and how far."""
        distances: Mapping[str, float | None] = self.measured[DISTANCE.id].written()
        found = [(name, moved) for name, moved in distances.items() if moved is not None]
        return max(found, key=lambda entry: entry[1], default=None)

    def __repr__(self) -> str:
        """Name the assessment without its figures: notebooks print it."""
        return f"Assessment({self.n_records} records, {', '.join(self.attributes)})"

    def to_dict(self) -> dict[str, Any]:
        """Return the assessment as JSON knows it: no NaN, no infinity, None instead.

        Returns
        -------
        dict
            Measures by name; those that need pairing only for a paired assessment.
        """
        groups = list(dict.fromkeys(found.measure.group for found in self.measured.values()))
        first = [group for group in groups if group in FIRST]
        then = [group for group in groups if group not in FIRST]
        counts = {
            "n_cells_compared": self.n_cells_compared,
            "n_records_complete": self.n_records_complete,
        }
        return {
            "schema": 1,
            "n_records": self.n_records,
            "attributes": list(self.attributes),
            "left_out": list(self.left_out),
            "kept": list(self.kept),
            "promised": promised(self.guarantee),
            "paired": self.paired,
            **(counts if self.paired else {}),
            **self._entries(first),
            "constant_attributes": list(self.constant_attributes),
            "categories": {},
            **self._entries(then),
        }

    def _entries(self, groups: Iterable[Group]) -> dict[str, Any]:
        """Write what was measured, group by group, and what follows from a group."""
        following = {RECORD_LINKAGE: self._intervals, FIT: self._worst}
        contents: dict[str, Any] = {}
        for group in groups:
            for found in self.measured.values():
                entry = found.measure.entry
                name = found.measure.id if entry is None else entry.name
                if found.measure.group == group and name not in contents:
                    contents[name] = found.written()
            if group in following:
                contents |= following[group]()
        return contents

    def _intervals(self) -> dict[str, Any]:
        """Write the intervals of record linkage."""
        linked = {found.measure.id: found.figure for found in self.of(RECORD_LINKAGE)}
        return {
            "record_linkage_intervals": {
                name: None if figure is None or figure.interval is None else list(figure.interval)
                for name, figure in linked.items()
            }
        }

    def _worst(self) -> dict[str, Any]:
        """Write the attribute whose distribution moved most."""
        if self.worst_attribute is None:
            return {"worst_attribute": None}
        name, distance = self.worst_attribute
        return {"worst_attribute": {"attribute": name, DISTANCE.id: distance}}

    def to_text(self) -> str:
        """Write the assessment as an aligned table of at most 100 columns.

        Returns
        -------
        str
            Lines for a terminal, each measure with what it means.
        """
        return text_of(self)
