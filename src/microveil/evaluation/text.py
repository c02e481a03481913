"""An assessment for a terminal."""

import math
import textwrap
from typing import TYPE_CHECKING

from microveil.evaluation.promised import promised
from microveil.risk.posterior_odds import posterior_odds
from microveil.text import one_line
from microveil.utility.learning import ClassificationComparison
from microveil.utility.mean_errors import MeanErrors
from microveil.utility.propensity import Propensity
from microveil.utility.regression import RegressionComparison

if TYPE_CHECKING:
    from microveil.evaluation.assessment import Assessment, PairedMeasures

__all__ = ["LINKAGE_LABELS", "LOSS_LABELS", "text_of"]

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


def text_of(assessment: "Assessment") -> str:
    """Write an assessment as an aligned table of at most 100 columns."""
    paired = assessment.paired
    sections = [
        _title_lines(assessment),
        *([] if paired is None else [_loss_lines(paired), _linkage_lines(paired)]),
        *([] if paired is None else [_error_lines(assessment, paired.errors)]),
        _moment_lines(assessment),
        _closing_lines(assessment),
        *([_category_lines(assessment)] if assessment.categories else []),
        *_analyses_lines(assessment),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections) + "\n"


def _category_lines(assessment: "Assessment") -> list[str]:
    lines = [
        "Categories (posterior odds: how likely a category seen is the original one, at most)",
        f"  {'attribute':<24}{'% unchanged':>14}{'largest odds':>16}",
    ]
    for name, compared in assessment.categories.items():
        odds = posterior_odds(compared.observed_transitions, compared.original).largest
        kept = 100 * compared.share_kept
        lines.append(f"  {_label(name, 22):<24}{kept:>14.4g}{odds:>16.4g}")
    return lines


def _title_lines(assessment: "Assessment") -> list[str]:
    count = len(assessment.attributes)
    attributes = "1 attribute" if count == 1 else f"{count} attributes"
    lines = [f"Assessment of {assessment.n_records} records, {attributes}"]
    lines += _key_lines(assessment)
    for told, columns in (
        ("Released as they are", assessment.kept),
        ("Not compared", assessment.left_out),
    ):
        if columns:
            names = ", ".join(_label(name, 24) for name in columns)
            lines += textwrap.wrap(
                f"  {told}: {names}", TEXT_WIDTH, subsequent_indent="  ", break_on_hyphens=False
            )
    return lines


def _key_lines(assessment: "Assessment") -> list[str]:
    """Write the four figures that matter."""
    paired, worst = assessment.paired, assessment.worst_attribute
    lost = found = "not measured: it needs records in the order of the original"
    if paired is not None:
        loss = paired.information_loss
        lost = f"{_shown(loss)} % (0 = unchanged, 100 = means alone)"
        if not math.isfinite(loss):
            lost = "not measured: there is nothing that varies to compare"
        found = "not measured: no record is complete in both tables"
        if paired.strongest is not None:
            form, linked = paired.strongest
            found = (
                f"{linked.percent:.3g} % ({LINKAGE_LABELS[form]}; by chance "
                f"{linked.baseline_by_chance:.2g} %)"
            )
    moved = "not measured: there are no values to compare"
    if worst is not None:
        moved = (
            f"{_label(worst[0], 24)}: distribution moved by {worst[1]:.3g} (KS: 0 = alike, 1 = "
            "apart)"
        )
    figures = {
        "promised": promised(assessment.guarantee) or "not known",
        "information loss": lost,
        "worst attribute": moved,
        "records found again": found,
    }
    return [
        line
        for name, told in figures.items()
        for line in textwrap.wrap(
            f"  {name:<22}{told}", TEXT_WIDTH, subsequent_indent=" " * 24, drop_whitespace=True
        )
    ]


def _error_lines(assessment: "Assessment", errors: MeanErrors) -> list[str]:
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


def _shown(value: float | None) -> str:
    """Write a number in six significant digits, or that there is none."""
    return "-" if value is None or not math.isfinite(value) else f"{value:.6g}"


def _share(value: float) -> str:
    """Write a number between 0 and 1, or that there is none."""
    return "-" if not math.isfinite(value) else f"{value:.4f}"


def _loss_lines(paired: "PairedMeasures") -> list[str]:
    """Write the measures of information loss."""
    lines = ["Information loss"]
    for name, (label, meaning) in LOSS_LABELS.items():
        lines.append(f"  {label:<22}{_shown(getattr(paired, name)):>13}  {meaning}")
    return lines


def _linkage_lines(paired: "PairedMeasures") -> list[str]:
    """Write record linkage beside its baseline."""
    lines = [
        "Record linkage, percent of records that an intruder who holds the originals finds again",
        f"  ({paired.n_records_complete} records complete in both; lower is safer)",
        f"  {'distance':<22}{'percent':>13}{'by chance':>13}{'95 % interval':>28}",
    ]
    for name, label in LINKAGE_LABELS.items():
        linkage = paired.linkage[name]
        if linkage is None:
            lines.append(f"  {label:<22}{'-':>13}{'-':>13}{'-':>28}")
            continue
        interval = " to ".join(_shown(end) for end in linkage.interval)
        lines.append(
            f"  {label:<22}{_shown(linkage.percent):>13}"
            f"{_shown(linkage.baseline_by_chance):>13}{interval:>28}"
        )
    return lines


def _moment_lines(assessment: "Assessment") -> list[str]:
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


def _closing_lines(assessment: "Assessment") -> list[str]:
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


def _analyses_lines(assessment: "Assessment") -> list[list[str]]:
    """Write the analyses that were asked for, a section each."""
    sections = []
    if assessment.classification is not None:
        sections.append(_learnt_lines(assessment.classification, assessment.class_attribute or ""))
    if assessment.regression is not None:
        sections.append(_regression_lines(assessment.regression))
    if assessment.propensity is not None:
        sections.append(_propensity_lines(assessment.propensity))
    return sections


def _learnt_lines(found: ClassificationComparison, attribute: str) -> list[str]:
    """Write the F-measure of every class between its two baselines."""
    seeds = "1 seed" if len(found.seeds) == 1 else f"{len(found.seeds)} seeds"
    lines = [
        f"Classification by {_label(attribute, 40)}: F-measure, 0 to 1, higher keeps more",
        f"  ({found.n_train} records trained on, {found.n_test} tested, mean over {seeds})",
        f"  {'class':<22}{'protected':>13}{'95 % interval':>22}{'original':>13}{'majority':>13}",
    ]
    for compared in found.classes:
        interval = " to ".join(_share(end) for end in compared.protected.interval)
        lines.append(
            f"  {_label(compared.label, 21):<22}{_share(compared.protected.value):>13}"
            f"{interval:>22}{_share(compared.original.value):>13}{_share(compared.majority):>13}"
        )
    return lines


def _regression_lines(found: RegressionComparison) -> list[str]:
    """Write every coefficient before and after, and how far the intervals overlap."""
    overlap, from_zero = _shown(found.mean_overlap), _shown(found.mean_overlap_from_zero)
    return [
        f"Regression {_label(str(found.formula), 80)}",
        "  (overlap of 95 % intervals: 1 = equal, below 0 = disjoint)",
        f"  {'coefficient':<32}{'before':>13}{'after':>13}{'overlap':>13}",
        *(
            f"  {_label(compared.term, 31):<32}{_shown(compared.original.value):>13}"
            f"{_shown(compared.protected.value):>13}{_shown(compared.overlap):>13}"
            for compared in found.coefficients
        ),
        f"  {'mean overlap':<58}{overlap:>13}",
        f"  {'disjoint counted as 0':<58}{from_zero:>13}",
    ]


def _propensity_lines(found: Propensity) -> list[str]:
    """Write the pMSE beside what a correct model of the data would give."""
    null = "of independent records of one law: a yardstick, no test"
    return [
        "Propensity: whether a logistic regression tells protected from original records",
        f"  {'pMSE':<26}{_shown(found.pmse):>13}  0 = it sees no difference",
        f"  {'expected under the null':<26}{_shown(found.expected):>13}  {null}",
        f"  {'ratio':<26}{_shown(found.ratio):>13}  pMSE over expected",
    ]


def _label(name: str, width: int) -> str:
    """Shorten a name to a width."""
    shown = one_line(name)
    return shown if len(shown) <= width else shown[: width - 1] + "…"
