"""Assessment: what a protected table lost, and what an intruder could still link.

Works on any two tables with the same attributes, whichever tool protected them.
"""

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microveil.errors import DataError, RequestError
from microveil.partition import intervals
from microveil.risk.neighbourhoods import Neighbourhoods, neighbourhoods
from microveil.risk.posterior_odds import posterior_odds
from microveil.risk.record_linkage import (
    RecordLinkage,
    record_linkage,
    record_linkage_by_rank,
    record_linkage_standardised,
)
from microveil.utility.categories import CategoryComparison
from microveil.utility.goodness_of_fit import GoodnessOfFit, goodness_of_fit
from microveil.utility.information_loss import (
    information_loss,
    mean_sse,
    mean_sse_published,
    sum_of_squared_errors,
)
from microveil.utility.mean_errors import MeanErrors, mean_errors
from microveil.utility.moments import (
    MomentComparison,
    checked_matrix,
    compare_moments,
    constant_attributes,
)

__all__ = ["Assessment", "PairedMeasures", "assess_matrices"]

TEXT_WIDTH = 100
LINKAGE_LABELS = {
    "record_linkage": "raw units",
    "record_linkage_standardised": "standardised",
    "record_linkage_by_rank": "by rank",
}
LOSS_LABELS = {
    "sse": ("sum of squared errors", "raw units; 0 = unchanged, lower keeps more"),
    "mean_sse": ("mean SSE", "per variance; 0 = unchanged, 1 = as good as the mean alone"),
    "mean_sse_published": ("mean SSE, published", "IDP-2025 Eq. 5 as printed; depends on units"),
    "information_loss": ("information loss", "percent of SST; 0 = unchanged, 100 = means alone"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedMeasures:
    """What can be measured where the records of both tables are in the same order.

    Parameters
    ----------
    sse, mean_sse, mean_sse_published, information_loss : float
        As the functions of these names in `microveil.utility.information_loss`.
    n_cells_compared : int
        Number of cells present in both tables.
    n_records_complete : int
        Number of records without a missing cell in either table: those that are linked.
    linkage : dict[str, RecordLinkage or None]
        Under ``record_linkage``, ``record_linkage_standardised`` and
        ``record_linkage_by_rank``; None without a complete record.
    """

    sse: float
    mean_sse: float
    mean_sse_published: float
    information_loss: float
    n_cells_compared: int
    n_records_complete: int
    linkage: dict[str, RecordLinkage | None]
    errors: MeanErrors

    def to_dict(self) -> dict[str, Any]:
        """Return the measures as JSON knows them; what is undefined is None.

        Returns
        -------
        dict
            The measures, each linkage as its percentage, and one chance baseline.
        """
        percents = {
            name: None if linkage is None else linkage.percent
            for name, linkage in self.linkage.items()
        }
        intervals = {
            name: None if linkage is None else list(linkage.interval)
            for name, linkage in self.linkage.items()
        }
        n_linked = self.n_records_complete
        return {
            "n_cells_compared": self.n_cells_compared,
            "n_records_complete": n_linked,
            "sse": _plain(self.sse),
            "mean_sse": _plain(self.mean_sse),
            "mean_sse_published": _plain(self.mean_sse_published),
            "information_loss": _plain(self.information_loss),
            **percents,
            "record_linkage_by_chance": 100.0 / n_linked if n_linked else None,
            "record_linkage_intervals": intervals,
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Assessment:
    """Utility and risk of a protected table, compared with its original.

    It holds figures of the original, so it is for the custodian, not for publication.

    Parameters
    ----------
    n_records : int
        Number of records of either table.
    attributes : tuple[str, ...]
        Names of the attributes compared.
    constant_attributes : tuple[str, ...]
        Those that do not vary in the original: no part of the measures that divide by a
        variance.
    moments : MomentComparison
        Means, variances, covariances and correlations, before and after.
    fits : tuple of GoodnessOfFit
        How well the distribution of each attribute is kept.
    paired : PairedMeasures or None
        What needs records in the same order; None for a shuffled release.
    neighbourhoods : dict of Neighbourhoods or None
        By attribute, where a k was given; constant attributes have none.
    left_out : tuple of str
        Columns of the original that were not compared: not released, no numbers, or not
        asked for.
    categories : dict of CategoryComparison
        By text attribute that was compared.
    """

    n_records: int
    attributes: tuple[str, ...]
    constant_attributes: tuple[str, ...]
    moments: MomentComparison
    fits: tuple[GoodnessOfFit, ...]
    paired: PairedMeasures | None
    neighbourhoods: Mapping[str, Neighbourhoods] | None = None
    left_out: tuple[str, ...] = ()
    categories: Mapping[str, CategoryComparison] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the assessment as JSON knows it: no NaN, no infinity, None instead.

        Returns
        -------
        dict
            Measures by name; those that need pairing only for a paired assessment.
        """
        before, after = self.moments.original, self.moments.protected
        return {
            "schema": 1,
            "n_records": self.n_records,
            "attributes": list(self.attributes),
            "left_out": list(self.left_out),
            "paired": self.paired is not None,
            **({} if self.paired is None else self.paired.to_dict()),
            "constant_attributes": list(self.constant_attributes),
            "categories": {
                name: {
                    **compared.to_dict(),
                    "posterior_odds": posterior_odds(
                        compared.observed_transitions, compared.original
                    ).to_dict(),
                }
                for name, compared in self.categories.items()
            },
            "moments": {
                name: {
                    "mean": {
                        "original": _plain(before.means[a]),
                        "protected": _plain(after.means[a]),
                    },
                    "variance": {
                        "original": _plain(before.variances[a]),
                        "protected": _plain(after.variances[a]),
                    },
                }
                for a, name in enumerate(self.attributes)
            },
            **({} if self.paired is None else {"errors": self._errors(self.paired.errors)}),
            "goodness_of_fit": {
                name: fit.to_dict() for name, fit in zip(self.attributes, self.fits, strict=True)
            },
            **(
                {}
                if self.neighbourhoods is None
                else {
                    "neighbourhoods": {
                        name: counts.to_dict() for name, counts in self.neighbourhoods.items()
                    }
                }
            ),
            "covariances": {
                "original": [[_plain(value) for value in row] for row in before.covariances],
                "protected": [[_plain(value) for value in row] for row in after.covariances],
            },
            "correlations": {
                "original": [[_plain(value) for value in row] for row in before.correlations],
                "protected": [[_plain(value) for value in row] for row in after.correlations],
                "mean_absolute_change": _plain(self.moments.mean_absolute_change),
                "largest_absolute_change": _plain(self.moments.largest_absolute_change),
            },
        }

    def _errors(self, errors: MeanErrors) -> dict[str, Any]:
        """Write bias, MSE and RMSE by attribute."""
        return {
            name: {
                "bias": _plain(errors.bias[a]),
                "mse": _plain(errors.mse[a]),
                "rmse": _plain(errors.rmse[a]),
                "n_cells": int(errors.n_cells[a]),
            }
            for a, name in enumerate(self.attributes)
        }

    def to_text(self) -> str:
        """Write the assessment as an aligned table of at most 100 columns.

        Returns
        -------
        str
            Lines for a terminal, each measure with what it means.
        """
        sections = [
            _title_lines(self),
            *(
                []
                if self.paired is None
                else [_loss_lines(self.paired), _linkage_lines(self.paired)]
            ),
            *([] if self.paired is None else [_error_lines(self, self.paired.errors)]),
            _moment_lines(self),
            _closing_lines(self),
            *([_category_lines(self)] if self.categories else []),
        ]
        return "\n\n".join("\n".join(lines) for lines in sections) + "\n"


def _category_lines(assessment: Assessment) -> list[str]:
    lines = [
        "Categories (posterior odds: how likely a category seen is the original one, at most)",
        f"  {'attribute':<24}{'% unchanged':>14}{'largest odds':>16}",
    ]
    for name, compared in assessment.categories.items():
        odds = posterior_odds(compared.observed_transitions, compared.original).largest
        kept = 100 * compared.share_kept
        lines.append(f"  {_label(name, 22):<24}{kept:>14.4g}{odds:>16.4g}")
    return lines


def _title_lines(assessment: Assessment) -> list[str]:
    count = len(assessment.attributes)
    attributes = "1 attribute" if count == 1 else f"{count} attributes"
    lines = [f"Assessment of {assessment.n_records} records, {attributes}"]
    if assessment.left_out:
        names = ", ".join(_label(name, 24) for name in assessment.left_out)
        lines += textwrap.wrap(f"  Not compared: {names}", TEXT_WIDTH, subsequent_indent="  ")
    return lines


def _error_lines(assessment: Assessment, errors: MeanErrors) -> list[str]:
    """Errors of single values, and how well each distribution is kept."""
    lines = [
        "Errors of values (0 = unchanged) and fit of distributions (statistic, 0 = alike)",
        f"  {'attribute':<24}{'bias':>14}{'RMSE':>14}{'KS':>12}",
    ]
    for a, (name, fit) in enumerate(zip(assessment.attributes, assessment.fits, strict=True)):
        measured = fit.to_dict()["ks"]
        told = "-" if measured is None else f"{measured['statistic']:.4g}"
        bias, rmse = _shown(errors.bias[a]), _shown(errors.rmse[a])
        lines.append(f"  {_label(name, 22):<24}{bias:>14}{rmse:>14}{told:>12}")
    return lines


def assess_matrices(
    original: ArrayLike,
    protected: ArrayLike,
    names: Sequence[str],
    *,
    paired: bool = True,
    k: int | None = None,
) -> Assessment:
    """Measure information loss and record linkage of a protected matrix.

    Parameters
    ----------
    original, protected : array_like, shape (n_records, n_attributes)
        The two tables; NaN is a missing cell.
    names : sequence of str
        Names of the attributes, in the order of the columns.
    paired : bool, default True
        Whether a record is in the same position in both. Where it is not, as in a
        shuffled release, only moments and correlations are compared.
    k : int, optional
        Count neighbours within the intervals that hold k originals.

    Returns
    -------
    Assessment
        Measures that pair cells use the cells present in both tables; linkage uses the
        records complete in both, their ranks and standard deviations included.

    Raises
    ------
    DataError
        If the shapes differ, a table is empty or holds an infinite value.
    RequestError
        If there is not one different name for each attribute.

    Examples
    --------
    >>> import numpy as np
    >>> original = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> figures = assess_matrices(original, [[1.5], [1.5], [3.5], [3.5]], ["age"]).to_dict()
    >>> figures["information_loss"], figures["record_linkage"]
    (20.0, 50.0)
    """
    before = checked_matrix(original, "original data")
    after = checked_matrix(protected, "protected data")
    if before.shape != after.shape:
        raise DataError(
            "original and protected data",
            "both must have the same records and attributes",
            "pass tables of the same shape",
        )
    if len(names) != before.shape[1] or len(set(names)) != len(names):
        raise RequestError(
            "names",
            "every attribute must have one name of its own",
            "pass as many different names as the data have columns",
        )
    constant = constant_attributes(before)
    return Assessment(
        n_records=before.shape[0],
        attributes=tuple(names),
        constant_attributes=tuple(np.asarray(names, dtype=object)[constant]),
        moments=compare_moments(before, after),
        fits=tuple(goodness_of_fit(x, y) for x, y in zip(before.T, after.T, strict=True)),
        paired=_paired_measures(before, after) if paired else None,
        neighbourhoods=None if k is None else _neighbourhoods(before, after, names, k),
    )


def _neighbourhoods(
    original: NDArray[np.float64], protected: NDArray[np.float64], names: Sequence[str], k: int
) -> dict[str, Neighbourhoods]:
    """Count neighbours of each attribute that varies, within the intervals of KNOISE."""
    counted = {}
    for name, before, after in zip(names, original.T, protected.T, strict=True):
        values = before[~np.isnan(before)]
        if len(values) >= k and np.ptp(values) > 0:
            counted[name] = neighbourhoods(
                values,
                delta=intervals(values, k=k).delta,
                k=k,
                protected=after[~np.isnan(after)],
            )
    return counted


def _paired_measures(
    original: NDArray[np.float64], protected: NDArray[np.float64]
) -> PairedMeasures:
    """Measure what needs records in the same order."""
    present = ~(np.isnan(original) | np.isnan(protected))
    complete = present.all(axis=1)
    linkage_forms: dict[str, Callable[..., RecordLinkage]] = {
        "record_linkage": record_linkage,
        "record_linkage_standardised": record_linkage_standardised,
        "record_linkage_by_rank": record_linkage_by_rank,
    }
    originals, protecteds = original[complete], protected[complete]
    return PairedMeasures(
        sse=sum_of_squared_errors(original, protected),
        mean_sse=mean_sse(original, protected),
        mean_sse_published=mean_sse_published(original, protected),
        information_loss=information_loss(original, protected),
        n_cells_compared=int(present.sum()),
        n_records_complete=int(complete.sum()),
        errors=mean_errors(original, protected),
        linkage={
            name: link(originals, protecteds) if complete.any() else None
            for name, link in linkage_forms.items()
        },
    )


def _plain(value: float) -> float | None:
    """Return a Python float, or None for what JSON cannot hold."""
    return float(value) if math.isfinite(value) else None


def _shown(value: float | None) -> str:
    """Write a number in six significant digits, or that there is none."""
    return "-" if value is None or not math.isfinite(value) else f"{value:.6g}"


def _loss_lines(paired: PairedMeasures) -> list[str]:
    """Write the measures of information loss."""
    lines = ["Information loss"]
    for name, (label, meaning) in LOSS_LABELS.items():
        lines.append(f"  {label:<22}{_shown(getattr(paired, name)):>13}  {meaning}")
    return lines


def _linkage_lines(paired: PairedMeasures) -> list[str]:
    """Write record linkage beside its baseline."""
    lines = [
        "Record linkage, percent of records that an intruder who holds the originals finds again",
        f"  ({paired.n_records_complete} records complete in both; lower is safer)",
        f"  {'distance':<22}{'percent':>13}{'by chance':>13}{'95 % interval':>24}",
    ]
    for name, label in LINKAGE_LABELS.items():
        linkage = paired.linkage[name]
        if linkage is None:
            lines.append(f"  {label:<22}{'-':>13}{'-':>13}{'-':>24}")
            continue
        interval = " to ".join(_shown(end) for end in linkage.interval)
        lines.append(
            f"  {label:<22}{_shown(linkage.percent):>13}"
            f"{_shown(linkage.baseline_by_chance):>13}{interval:>24}"
        )
    return lines


def _moment_lines(assessment: Assessment) -> list[str]:
    """Write means and variances before and after, a line to an attribute."""
    before, after = assessment.moments.original, assessment.moments.protected
    lines = [
        "Means and variances (closer is better)",
        f"  {'attribute':<22}{'mean before':>13}{'after':>13}{'variance before':>18}{'after':>13}",
    ]
    for a, name in enumerate(assessment.attributes):
        lines.append(
            f"  {_label(name, 21):<22}{_shown(before.means[a]):>13}{_shown(after.means[a]):>13}"
            f"{_shown(before.variances[a]):>18}{_shown(after.variances[a]):>13}"
        )
    return lines


def _closing_lines(assessment: Assessment) -> list[str]:
    """Write how far the correlations moved, and what was left out."""
    moments = assessment.moments
    lines = [
        "Correlations (0 = unchanged, 2 = reversed)",
        f"  {'mean absolute change':<26}{_shown(moments.mean_absolute_change):>9}",
        f"  {'largest absolute change':<26}{_shown(moments.largest_absolute_change):>9}",
    ]
    if assessment.constant_attributes:
        listed = ", ".join(_label(name, 60) for name in assessment.constant_attributes)
        text = f"Constant in the original, left out of what divides by a variance: {listed}"
        lines += ["", *textwrap.wrap(text, TEXT_WIDTH, subsequent_indent="  ")]
    if assessment.paired is None:
        lines += [
            "",
            "The release is shuffled: information loss and record linkage need records in order.",
        ]
    return lines


def _label(name: str, width: int) -> str:
    """Shorten a name to a width, with nothing in it that moves a terminal's cursor."""
    printable = "".join(letter if letter.isprintable() else "?" for letter in name)
    return printable if len(printable) <= width else printable[: width - 1] + "…"
