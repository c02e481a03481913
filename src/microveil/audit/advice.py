"""Advice before noise: what error to expect of a request, and what would be better.

The expected error of a plan is known in closed form before any noise is drawn (see
`noise.expected_error`). It is held against publishing the attribute's mean in every row, which
needs no request at all: an attribute that does worse is hopeless, and so are any statistics on it.

Choosing by the error expected on the table is a use of the table: see `release.auto` and
docs/measures.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import ExactCellsError, stands_alone
from microveil.measures.linkage import record_linkage_by_rank, record_linkage_standardised
from microveil.methods.centroids import CentroidPlan
from microveil.methods.planned import SinglePlan
from microveil.noise.noise import RandomSource
from microveil.protect.arguments import Arguments
from microveil.protect.auto import STEPS_CHOSEN, Search, weigh
from microveil.protect.draw import drawn_cells
from microveil.protect.expectation import (
    Expectation,
    Option,
    all_expected,
    average,
    expectations,
)
from microveil.protect.plan import PartPlan, Plan, kept_scope
from microveil.protect.planning import plan_from, plan_of, refuse_exact_cells
from microveil.protect.settling import asking, settle, takes
from microveil.table import Table, numbers_of_attribute
from microveil.table.threads import in_threads
from microveil.text import listed
from microveil.text.document import Block, Document, Tabulated, heading, paragraph, tabulated
from microveil.text.figures import figure
from microveil.text.notebook import as_html, pictured

# How many options a person is shown.
SHOWN = 5
MEANING = "Squared error over variance, before any noise is drawn; 1 = as good as the mean alone."
ON_STAND_IN = (
    "It says how far values move once both tables are sorted, and nothing of rows. It was drawn "
    "on a stand-in whose values lie evenly over the declared domains: of a skewed attribute it "
    "says little."
)
OF_DATA = (
    "These figures depend on the data: they are the custodian's. Choosing by them is a use of the "
    "data, which the request says by looked_at='data' (--looked-at data)."
)
OF_PUBLIC_FIGURES = "These figures hang on public ones alone: choosing by them is free."


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitedLinkage:
    """Percent of records linked with their originals, in one trial draw each.

    Putting noisy means in order gives every row its cluster's rank block back. Trial draws of a
    plan, with and without the regression, are linked with the originals that an intruder may hold.

    By value the nearest original is taken, attributes in units of their standard deviation; by rank
    values are replaced by their ranks in either table.
    """

    by_value: float
    by_value_isotonic: float
    by_rank: float
    by_rank_isotonic: float
    by_chance: float
    n_records: int

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def __str__(self) -> str:
        """Say the figures in a sentence."""
        return (
            "Measured on trial draws, an intruder who holds the originals finds "
            f"{figure(self.by_value_isotonic)} % of {self.n_records} rows by value and "
            f"{figure(self.by_rank_isotonic)} % by rank with isotonic regression, "
            f"{figure(self.by_value)} % and {figure(self.by_rank)} % without it "
            f"(by chance {figure(self.by_chance)} %)."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What to expect of a request, and what would be better for the same epsilon and scope.

    Attributes
    ----------
    asked : Option
        The request itself.
    scope : str or None
        The most demanding scope at which it keeps its epsilon.
    expected : dict of Expectation
        By attribute; without those of categories.
    options : tuple of Option
        The best first; each method with its best k.
    linkage : InvitedLinkage or None
        Where isotonic regression was asked for.
    refused : str or None
        Why `protect` would refuse the request, exact cells for example.
    parts : tuple of Advice
        Of several parts the advice on each by itself, with what would be better for it.
    attributes : tuple of str
        Those that are protected.
    """

    asked: Option
    scope: str | None
    expected: Mapping[str, Expectation]
    options: tuple[Option, ...]
    linkage: InvitedLinkage | None = None
    refused: str | None = None
    parts: "tuple[Advice, ...]" = ()
    attributes: tuple[str, ...] = ()

    @property
    def is_public(self) -> bool:
        """Whether every figure was found by public figures alone, so that choosing is free."""
        return all(option.of_distributions for option in (self.asked, *self.options))

    @property
    def hopeless(self) -> tuple[str, ...]:
        """Attributes for which publishing the mean would be better."""
        return tuple(name for name, entry in self.expected.items() if entry.hopeless)

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as plain values."""
        parts = [{"attributes": list(own.attributes), **own.to_dict()} for own in self.parts]
        return {
            "asked": self.asked.to_dict(),
            "scope": self.scope,
            "expected": {name: entry.to_dict() for name, entry in self.expected.items()},
            "hopeless": list(self.hopeless),
            "refused": self.refused,
            "options": [option.to_dict() for option in self.options],
            "isotonic_linkage": None if self.linkage is None else self.linkage.to_dict(),
            **({"parts": parts} if parts else {}),
        }

    def plot(self) -> Any:
        """Chart the error to expect of what was asked, and of what would be better.

        Takes the extra ``report``. The figures are the custodian's, see `is_public`.

        Returns
        -------
        altair.Chart
        """
        return pictured("advice_plot", self)

    def document(self) -> Document:
        """Say in a document what to expect, and what would be better: see `is_public`.

        Returns
        -------
        Document
        """
        blocks: list[Block] = [heading(1, f"To expect of {self.asked}"), paragraph(MEANING)]
        blocks += [paragraph(ON_STAND_IN)] if self.asked.of_distributions else []
        blocks.append(self._errors())
        if self.refused is not None:
            blocks.append(paragraph(f"But protect would refuse it. {self.refused}."))
        for part in self.parts:
            blocks.append(heading(2, f"Of {listed(part.attributes)}, by {part.asked}"))
            blocks += _better(part) or [paragraph("Nothing else at hand does for a part.")]
        blocks += _better(self)
        if self.linkage is not None:
            blocks.append(paragraph(str(self.linkage)))
        blocks.append(paragraph(OF_PUBLIC_FIGURES if self.is_public else OF_DATA))
        return Document(tuple(blocks))

    def to_text(self) -> str:
        """Return the advice for a terminal."""
        return self.document().to_text()

    def _repr_html_(self) -> str:
        """Show a notebook the errors to expect, and what would be better."""
        return as_html(self.document().blocks)

    def _errors(self) -> Tabulated:
        rows = []
        for name, entry in self.expected.items():
            instead = "commonest" if entry.of_categories else "mean"
            verdict = f"worse than publishing the {instead}" if entry.hopeless else ""
            rows.append([name, figure(entry.over_variance), verdict])
        rows.append(["mean", figure(self.asked.over_variance), ""])
        return tabulated(["attribute", "error/variance", ""], rows)


def _better(advice: Advice) -> list[Block]:
    """Tabulate what is better than the mean; else say that nothing is, and the least bad."""
    useful = [option for option in advice.options if option.over_variance <= 1]
    if not advice.options:
        return []
    said = f"Best for the same epsilon at {advice.scope} scope:"
    if not useful:
        said = (
            f"At {advice.scope} scope nothing at hand does better than publishing the mean: "
            "allow a larger epsilon, a weaker scope or fewer attributes. Nearest to it comes:"
        )
    rows = [[figure(one.over_variance), str(one)] for one in useful or advice.options[:1]]
    return [paragraph(said), tabulated(["error/variance", "request"], rows)]


@stands_alone
@takes(Arguments)
def advise(table: Any, **given: Any) -> Advice:
    """Say what error to expect of a request, and what would be better.

    Takes the arguments of `protect`; draws nothing and releases nothing.

    Returns
    -------
    Advice
        The figures depend on the data and are the custodian's.

    Raises
    ------
    MicroveilError
        If the request or the table breaks a rule.

    Notes
    -----
    Each method is planned at up to twelve k. The noise-aware partition of "idp-vector" takes
    seconds for each attribute at a million records.

    Examples
    --------
    >>> import numpy as np
    >>> ages = {"AGE": np.arange(20, 80)}
    >>> advice = advise(
    ...     ages, method="dp-um", k=3, epsilon=0.1, attributes="AGE", bounds={"AGE": (0, 120)}
    ... )
    >>> advice.hopeless, advice.scope
    (('AGE',), 'vector')
    """
    with asking(table, given) as asked:
        return advice_and_plan(table, asked)[0]


def advice_and_plan(table: Any, asked: Mapping[str, Any]) -> tuple[Advice, Plan]:
    """Return the advice on a request, and the plan that it was taken of."""
    planned = plan_of(settle(table, asked))
    return (_of_parts if len(planned.parts) > 1 else _advice)(planned), planned


def _advice(planned: Plan) -> Advice:
    request = planned.prepared.request
    k = request.k if "k" in request.method.needs else None
    is_synthetic = planned.synthetic is not None
    expected = all_expected(planned) if is_synthetic else expectations(planned)
    scope, options = kept_scope(planned), list[Option]()
    if scope is not None:
        # What the request chose for its own method binds no other.
        own = ("method", "k", *STEPS_CHOSEN)
        free = {name: value for name, value in planned.prepared.asked.items() if name not in own}
        options = weigh(Search(prepared=planned.prepared, scope=scope), free)[:SHOWN]
    refused = None
    try:
        refuse_exact_cells(planned)
    except ExactCellsError as error:
        refused = f"{error.place}: {error.rule}; {error.remedy}"
    return Advice(
        asked=Option.of(planned, request.steps, k, average(expected)),
        scope=scope,
        expected=expected,
        options=tuple(options),
        linkage=invited_linkage(planned.parts[0]) if planned.isotonic else None,
        refused=refused,
        attributes=_names(planned),
    )


def _names(planned: Plan) -> tuple[str, ...]:
    return tuple(part.attribute.name for part in planned.attributes)


def _of_parts(planned: Plan) -> Advice:
    """Advise on each part by itself: the others stay as they were asked for."""
    parts = tuple(_advice(plan_from([part], part.prepared)) for part in planned.parts)
    # What cannot be a part is left out: rows that are nobody's stand beside no others.
    parts = tuple(
        replace(part, options=tuple(one for one in part.options if not one.of_distributions))
        for part in parts
    )
    expected = {name: entry for part in parts for name, entry in part.expected.items()}
    refusals = [part.refused for part in parts if part.refused is not None]
    return Advice(
        asked=Option.of(planned, {}, None, average(expected)),
        scope=kept_scope(planned),
        expected=expected,
        options=(),
        refused=refusals[0] if refusals else None,
        parts=parts,
        attributes=_names(planned),
    )


def strongest_linkage(planned: Plan) -> InvitedLinkage:
    """Measure the linkage that isotonic regression invites, of parts where it is strongest."""
    parts = [part for part in planned.parts if part.request.isotonic]
    return max(map(invited_linkage, parts), key=lambda found: found.by_rank_isotonic)


def invited_linkage(planned: PartPlan) -> InvitedLinkage:
    """Measure how many rows are found with isotonic regression and without it, in one draw each."""
    parts, table = planned.singles, planned.prepared.table
    complete = ~np.logical_or.reduce(
        [np.zeros(table.n_records, dtype=bool)]
        + [
            part.missing
            for part in parts
            if isinstance(part, CentroidPlan) and part.missing is not None
        ]
    )
    rows = np.flatnonzero(complete)
    original = np.column_stack([_values(table, part, rows) for part in parts])
    without, with_it = (_trial(planned, rows, isotonic=own) for own in (False, True))
    by_value, by_value_isotonic = (
        record_linkage_standardised(original, trial) for trial in (without, with_it)
    )
    by_rank, by_rank_isotonic = (
        record_linkage_by_rank(original, trial) for trial in (without, with_it)
    )
    return InvitedLinkage(
        by_value=by_value.percent,
        by_value_isotonic=by_value_isotonic.percent,
        by_rank=by_rank.percent,
        by_rank_isotonic=by_rank_isotonic.percent,
        by_chance=by_value.baseline_by_chance,
        n_records=by_value.n_records,
    )


def _values(table: Table, part: SinglePlan, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    numbers = numbers_of_attribute(table, part.attribute)
    return numbers.values[rows].astype(np.float64)


def _trial(planned: PartPlan, rows: NDArray[np.int64], *, isotonic: bool) -> NDArray[np.float64]:
    parts = planned.singles
    streams = RandomSource.system().spawn(len(parts))

    def drawn(task: tuple[SinglePlan, RandomSource]) -> NDArray[np.float64]:
        part, stream = task
        if isinstance(part, CentroidPlan):
            part = replace(part, isotonic=isotonic)
        numbers = drawn_cells(part, planned.prepared.units, stream)
        return numbers.values[rows].astype(np.float64)

    return np.column_stack(in_threads(drawn, list(zip(parts, streams, strict=True))))
