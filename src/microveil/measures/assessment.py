"""What was found of a protected table, as values and as JSON."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from microveil.guarantee import Guarantee
from microveil.measures.column_moves import LARGEST_MOVE
from microveil.measures.correcting import CorrectedComparison
from microveil.measures.distributions import DISTRIBUTIONS, TOTAL_VARIATION
from microveil.measures.goodness_of_fit import DISTANCE
from microveil.measures.information_loss import INFORMATION_LOSS
from microveil.measures.learning import ClassificationComparison, Learnt
from microveil.measures.linkage import RECORD_LINKAGE
from microveil.measures.measuring import Measured
from microveil.measures.moments import MomentComparison
from microveil.measures.promised import promised
from microveil.measures.propensity import Propensity
from microveil.measures.registry import Group, Measure
from microveil.measures.regression import RegressionComparison
from microveil.measures.relations import PAIRS_KEPT, Relations
from microveil.measures.text import text_of
from microveil.risk.equivalence_classes import EquivalenceClasses
from microveil.risk.record_linkage import RecordLinkage
from microveil.utility.column_moves import ColumnMove
from microveil.utility.rules import RuleOutcome
from microveil.utility.subgroups import Subgroups
from microveil.utility.weighted import Weights

__all__ = ["Anonymity", "Assessment", "WorstAttribute"]

# Their entries stand before what they leave out.
FIRST = (INFORMATION_LOSS, RECORD_LINKAGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstAttribute:
    """The attribute whose distribution moved most.

    Attributes
    ----------
    attribute : str
    distance : float
        0, alike, to 1, apart.
    measure : Measure
        What the distance is: of the distribution functions, or of text that has no order, and
        where there is no value on one side, of the shares.
    """

    attribute: str
    distance: float
    measure: Measure

    def __repr__(self) -> str:
        """Name the attribute without its figure: notebooks print it."""
        return f"WorstAttribute({self.attribute})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Anonymity:
    """How many records share their values of quasi-identifiers, before and after.

    Attributes
    ----------
    quasi_identifiers, released : tuple of str
        Those asked for, and those of them that the release has.
    original : EquivalenceClasses
        By all of them.
    original_in_released, protected : EquivalenceClasses
        Of the original and of the release, by those that the release has.
    unit : str or None
        The column whose values are counted in place of records, where it is known which records of
        the table have which.
    """

    quasi_identifiers: tuple[str, ...]
    released: tuple[str, ...]
    original: EquivalenceClasses
    original_in_released: EquivalenceClasses
    protected: EquivalenceClasses
    unit: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return {
            **({} if self.unit is None else {"unit": self.unit}),
            "quasi_identifiers": list(self.quasi_identifiers),
            "released": list(self.released),
            "original": self.original.to_dict(),
            "original_in_released": self.original_in_released.to_dict(),
            "protected": self.protected.to_dict(),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Assessment:
    """Utility and risk of a protected table, compared with its original.

    It holds figures of the original, so it is for the custodian, not for publication.

    Parameters
    ----------
    n_records, n_protected : int
        Number of records of the original and of the release: the same, if they are paired.
    attributes : tuple[str, ...]
        Names of the attributes of numbers that were compared.
    text_attributes : tuple[str, ...]
        Names of those of text.
    constant_attributes : tuple[str, ...]
        Those of numbers that do not vary in the original: no part of the measures that divide by a
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
    numeric_looks : dict of str
        Of text of the original that looks like numbers: what keeps it from being such.
    kept : tuple of str
        Columns that were released as they are: by the guarantee, or cell by cell.
    corrected : dict of CorrectedComparison
        By attribute the shares of what `pram` drew, corrected, where that was asked for.
    anonymity : Anonymity or None
        Records alike in quasi-identifiers, where these were given.
    weights : Weights or None
        By which records were weighted, where that was asked for.
    guarantee : Guarantee or None
        What the release promises; None where that is not known.
    """

    n_records: int
    n_protected: int
    attributes: tuple[str, ...]
    text_attributes: tuple[str, ...]
    constant_attributes: tuple[str, ...]
    paired: bool
    n_cells_compared: int
    n_records_complete: int
    measured: Mapping[str, Measured]
    left_out: tuple[str, ...] = ()
    numeric_looks: Mapping[str, str] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    corrected: Mapping[str, CorrectedComparison] = field(default_factory=dict)
    anonymity: Anonymity | None = None
    weights: Weights | None = None
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
    def moments(self) -> MomentComparison | None:
        """Means, variances, covariances and correlations; None without an attribute of numbers."""
        found: MomentComparison | None = self.result("mean")
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
    def n_sampled(self) -> dict[str, int]:
        """How many records were linked by each linkage that took a sample of them."""
        found = {name: self.result(name) for name in self.measured}
        linked = {name: one for name, one in found.items() if isinstance(one, RecordLinkage)}
        return {name: one.n_records for name, one in linked.items() if one.is_of_sample}

    @property
    def subgroups(self) -> Subgroups | None:
        """Counts and means in subgroups, where they were asked for."""
        found: Subgroups | None = self.result("largest_share_change")
        return found

    @property
    def rules(self) -> tuple[RuleOutcome, ...]:
        """Who breaks the rules that were asked for."""
        found: tuple[RuleOutcome, ...] | None = self.result("rule_violations")
        return found or ()

    @property
    def column_moves(self) -> Mapping[str, ColumnMove]:
        """What became of each column: mean, spread, commonest value, distribution."""
        found: Mapping[str, ColumnMove] | None = self.result(LARGEST_MOVE.id)
        return found or {}

    @property
    def relations(self) -> Relations | None:
        """How many relations between columns are kept."""
        found: Relations | None = self.result(PAIRS_KEPT.id)
        return found

    @property
    def worst_attribute(self) -> WorstAttribute | None:
        """The attribute whose distribution moved most, and how far."""
        known: dict[str, WorstAttribute] = {}
        for measure in (TOTAL_VARIATION, DISTANCE):  # the second stands, where it is defined
            taken = self.measured.get(measure.id)
            for name, figure in ({} if taken is None else taken.figures).items():
                if math.isfinite(figure.value):
                    known[name] = WorstAttribute(
                        attribute=name, distance=figure.value, measure=measure
                    )
        return max(known.values(), key=lambda worst: worst.distance, default=None)

    def __repr__(self) -> str:
        """Name the assessment without its figures: notebooks print it."""
        names = ", ".join((*self.attributes, *self.text_attributes))
        return f"Assessment({self.n_records} records, {names})"

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
        corrected = {name: found.to_dict() for name, found in self.corrected.items()}
        return {
            "schema": 1,
            "n_records": self.n_records,
            "n_protected": self.n_protected,
            "attributes": list(self.attributes),
            "text_attributes": list(self.text_attributes),
            "left_out": list(self.left_out),
            "numeric_looks": dict(self.numeric_looks),
            "kept": list(self.kept),
            "promised": promised(self.guarantee),
            "paired": self.paired,
            **(counts if self.paired else {}),
            **self._entries(first),
            "constant_attributes": list(self.constant_attributes),
            "categories": {},
            **({} if self.weights is None else {"weights": self.weights.to_dict()}),
            **self._entries(then),
            **({"corrected_shares": corrected} if corrected else {}),
            **({} if self.anonymity is None else {"k_anonymity": self.anonymity.to_dict()}),
        }

    def _entries(self, groups: Iterable[Group]) -> dict[str, Any]:
        """Write what was measured, group by group, and what follows from a group."""
        following = {RECORD_LINKAGE: self._intervals, DISTRIBUTIONS: self._worst}
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
        """Write the intervals of record linkage, and of how many records that were sampled."""
        linked = {found.measure.id: found.figure for found in self.of(RECORD_LINKAGE)}
        return {
            "record_linkage_intervals": {
                name: None if figure is None or figure.interval is None else list(figure.interval)
                for name, figure in linked.items()
            },
            **({"record_linkage_sampled": self.n_sampled} if self.n_sampled else {}),
        }

    def _worst(self) -> dict[str, Any]:
        """Write the attribute whose distribution moved most."""
        worst = self.worst_attribute
        if worst is None:
            return {"worst_attribute": None}
        found = {"attribute": worst.attribute, worst.measure.id: worst.distance}
        return {"worst_attribute": found}

    def to_text(self) -> str:
        """Write the assessment as an aligned table of at most 100 columns.

        Returns
        -------
        str
            Lines for a terminal, each measure with what it means.
        """
        return text_of(self)
