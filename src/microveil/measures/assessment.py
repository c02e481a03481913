"""What was found of a protected table: as values, as JSON, and as a document."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from microveil.guarantee import Guarantee
from microveil.measures.anonymity import Anonymity
from microveil.measures.base import Group, Measured, T, part_of, result_in
from microveil.measures.categories import CorrectedComparison
from microveil.measures.closest_records import CLOSEST_RECORDS
from microveil.measures.column_moves import COLUMN_MOVES, LARGEST_MOVE, ColumnMove
from microveil.measures.distributions import DISTRIBUTIONS
from microveil.measures.information_loss import INFORMATION_LOSS
from microveil.measures.key_figures import (
    KeyFigure,
    WorstAttribute,
    key_figures,
    promised,
    strongest_linkage,
    worst_attribute,
)
from microveil.measures.learning import ClassificationComparison
from microveil.measures.linkage import RECORD_LINKAGE, RecordLinkage
from microveil.measures.moments import MOMENTS, MomentComparison
from microveil.measures.propensity import Propensity
from microveil.measures.regression import RegressionComparison
from microveil.measures.relations import RELATIONS, Relations
from microveil.measures.rules import RuleOutcome
from microveil.measures.subgroups import Subgroups
from microveil.measures.values import plain
from microveil.measures.weighted import Weights
from microveil.text import shortened, some_of
from microveil.text.document import Document
from microveil.text.notebook import as_html, pictured
from microveil.text.templates import document_of

# Their entries stand before what they leave out.
FIRST = (INFORMATION_LOSS, RECORD_LINKAGE)
# As they are read: the worst columns first, and what is found again before what was lost.
READ_FIRST = (
    COLUMN_MOVES,
    RELATIONS,
    RECORD_LINKAGE,
    CLOSEST_RECORDS,
    DISTRIBUTIONS,
    INFORMATION_LOSS,
    MOMENTS,
)


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

    def _found(self, kind: type[T]) -> T | None:
        return result_in(self.measured.values(), kind)

    @property
    def moments(self) -> MomentComparison | None:
        """Means, variances, covariances and correlations; None without an attribute of numbers."""
        return self._found(MomentComparison)

    @property
    def classification(self) -> ClassificationComparison | None:
        """What a classifier learnt, where it was asked for."""
        return self._found(ClassificationComparison)

    @property
    def regression(self) -> RegressionComparison | None:
        """What a regression estimates, where it was asked for."""
        return self._found(RegressionComparison)

    @property
    def propensity(self) -> Propensity | None:
        """Whether a model tells the tables apart, where it was asked for."""
        return self._found(Propensity)

    @property
    def key_figures(self) -> tuple[KeyFigure, ...]:
        """The figures that matter: promise, loss, worst attribute, records found again, pairs kept.

        Without pairs, distributions stand for the loss, and the distance to the closest record
        for the records found again.

        Examples
        --------
        >>> import numpy as np
        >>> import microveil as mv
        >>> people = {"AGE": np.array([23, 35, 31, 62, 58, 47])}
        >>> release = mv.protect(people, method="mdav", k=3, attributes="AGE")
        >>> for found in mv.assess(people, release).key_figures[:2]:
        ...     print(found)
        promised: k-anonymity with k = 3; no epsilon; a person with several rows is counted several
        times
        information loss: 16.2 % (0 = unchanged, 100 = means alone)
        """
        return key_figures(self.measured, self.guarantee, paired=self.paired)

    @property
    def strongest_linkage(self) -> Measured | None:
        """The linkage that finds the most: which one is used is not ours to choose."""
        return strongest_linkage(self.measured)

    @property
    def n_sampled(self) -> dict[str, int]:
        """How many records were linked by each linkage that took a sample of them."""
        return {
            name: one.result.n_records
            for name, one in self.measured.items()
            if isinstance(one.result, RecordLinkage) and one.result.is_of_sample
        }

    @property
    def subgroups(self) -> Subgroups | None:
        """Counts and means in subgroups, where they were asked for."""
        return self._found(Subgroups)

    @property
    def rules(self) -> tuple[RuleOutcome, ...]:
        """Who breaks the rules that were asked for."""
        return tuple(self.result("rule_violations") or ())

    @property
    def column_moves(self) -> Mapping[str, ColumnMove]:
        """What became of each column: mean, spread, commonest value, distribution."""
        return dict(self.result(LARGEST_MOVE.id) or {})

    @property
    def relations(self) -> Relations | None:
        """How many relations between columns are kept."""
        return self._found(Relations)

    @property
    def worst_attribute(self) -> WorstAttribute | None:
        """The attribute whose distribution moved most, and how far."""
        return worst_attribute(self.measured)

    def __repr__(self) -> str:
        """Name the assessment without its figures: notebooks print it."""
        names = ", ".join((*self.attributes, *self.text_attributes))
        return f"Assessment({self.n_records} records, {names})"

    def _repr_html_(self) -> str:
        """Show a notebook the figures that matter and what moved: for the custodian."""
        return as_html(self.document().blocks[:2], pictured("first_picture", self))

    def plot(self) -> Any:
        """Chart how columns and pairs moved and what was found again: for the custodian.

        Takes the extra ``report``.

        Returns
        -------
        altair.Chart
            Its grey band is what two samples of one law of numbers differ by, at most, 95 % of
            the time.

        Examples
        --------
        >>> import numpy as np
        >>> import microveil as mv
        >>> people = {"AGE": np.array([23, 35, 31, 62, 58, 47])}
        >>> release = mv.protect(people, method="mdav", k=3, attributes="AGE")
        >>> len(mv.assess(people, release).plot().to_dict()["concat"])
        2
        """
        return pictured("assessment_plot", self)

    def to_dict(self) -> dict[str, Any]:
        """Return the assessment as JSON knows it: no NaN, no infinity, None instead.

        Returns
        -------
        dict
            Measures by name; those that need pairing only for a paired assessment.
        """
        groups = list(dict.fromkeys(found.measure.group for found in self.measured.values()))
        known = ("n_records", "n_protected", "attributes", "text_attributes", "left_out")
        counts = ("n_cells_compared", "n_records_complete") if self.paired else ()
        last = {"corrected_shares": self.corrected, "k_anonymity": self.anonymity}
        return {
            "schema": 1,
            **{name: plain(getattr(self, name)) for name in (*known, "numeric_looks", "kept")},
            "promised": promised(self.guarantee),
            "paired": self.paired,
            **{name: getattr(self, name) for name in counts},
            **self._entries(group for group in groups if group in FIRST),
            "constant_attributes": list(self.constant_attributes),
            "categories": {},
            **({} if self.weights is None else {"weights": self.weights.to_dict()}),
            **self._entries(group for group in groups if group not in FIRST),
            **{name: plain(found) for name, found in last.items() if found},
        }

    def _entries(self, groups: Iterable[Group]) -> dict[str, Any]:
        """Write what was measured, group by group, and what follows from a group."""
        contents: dict[str, Any] = {}
        for group in groups:
            for found in self.measured.values():
                name = found.measure.entry or found.measure.id
                if found.measure.group == group and name not in contents:
                    contents[name] = found.written()
            if group == RECORD_LINKAGE:
                contents["record_linkage_intervals"] = {
                    found.measure.id: found.figure and plain(found.figure.interval)
                    for found in self.of(RECORD_LINKAGE)
                }
                if self.n_sampled:
                    contents["record_linkage_sampled"] = self.n_sampled
            elif group == DISTRIBUTIONS:
                worst = self.worst_attribute
                moved = worst and {"attribute": worst.attribute, worst.measure.id: worst.distance}
                contents["worst_attribute"] = moved
        return contents

    def document(self) -> Document:
        """Say in a document what was found, the figures that matter first.

        Returns
        -------
        Document
            For the custodian, as the assessment is: a heading, what matters as a list, and a part
            to each group of measures.
        """
        taken = dict.fromkeys(found.measure.group for found in self.measured.values())
        groups = dict.fromkeys([*(group for group in READ_FIRST if group in taken), *taken])
        words = {"some_of": some_of, "shortened": shortened}
        blocks = [*document_of("measures/assessment.jinja", found=self, **words).blocks]
        for group in groups:
            blocks += part_of(group, self.of(group))
        for name, found in self.corrected.items():
            blocks += found.show(name)
        return Document((*blocks, *(() if self.anonymity is None else self.anonymity.show())))

    def to_text(self) -> str:
        """Write the document for a terminal, as wide as that is; see `document`."""
        return self.document().to_text()
