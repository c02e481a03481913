"""An assessment for a terminal."""

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from microveil.evaluation.measures import By
from microveil.evaluation.measures.categories import CATEGORIES
from microveil.evaluation.measures.goodness_of_fit import DISTANCE, FIT
from microveil.evaluation.measures.information_loss import INFORMATION_LOSS, LOSS
from microveil.evaluation.measures.learning import LEARNING, Learnt
from microveil.evaluation.measures.linkage import RECORD_LINKAGE
from microveil.evaluation.measures.mean_errors import ERRORS
from microveil.evaluation.measures.moments import CORRELATIONS, MOMENTS
from microveil.evaluation.measures.propensity import PROPENSITY
from microveil.evaluation.measures.regression import REGRESSION
from microveil.evaluation.measuring import Measured
from microveil.evaluation.promised import promised
from microveil.text import one_line

if TYPE_CHECKING:
    from microveil.evaluation.assessment import Assessment

__all__ = ["text_of"]

TEXT_WIDTH = 100
# What has lines of its own form; what belongs to no such group has a section under its title.
LAID_OUT = (
    INFORMATION_LOSS,
    RECORD_LINKAGE,
    ERRORS,
    FIT,
    MOMENTS,
    CORRELATIONS,
    CATEGORIES,
    LEARNING,
    REGRESSION,
    PROPENSITY,
)


def text_of(assessment: "Assessment") -> str:
    """Write an assessment as an aligned table of at most 100 columns."""
    sections = [
        _title_lines(assessment),
        _loss_lines(assessment),
        _linkage_lines(assessment),
        _error_lines(assessment),
        _moment_lines(assessment),
        _closing_lines(assessment),
        _category_lines(assessment),
        *_analyses_lines(assessment),
        *_further_lines(assessment),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _category_lines(assessment: "Assessment") -> list[str]:
    found = [one for one in assessment.of(CATEGORIES) if one.figures]
    heads = [f"{one.measure.head:>{14 + 2 * place}}" for place, one in enumerate(found)]
    lines = [CATEGORIES.title, f"  {'attribute':<24}{''.join(heads)}"]
    for name in found[0].figures if found else ():
        cells = [one.figures[name].value for one in found]
        written = [f"{cell:>{len(head)}.4g}" for cell, head in zip(cells, heads, strict=True)]
        lines.append(f"  {_label(name, 22):<24}{''.join(written)}")
    return lines if found else []


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
    lost = found = "not measured: it needs records in the order of the original"
    if LOSS.id in assessment.measured:
        loss = assessment.measured[LOSS.id].value
        lost = f"{_shown(loss)} {LOSS.unit} ({LOSS.explanation})"
        if loss is None:
            lost = "not measured: there is nothing that varies to compare"
    if assessment.of(RECORD_LINKAGE):
        found = _strongest_words(assessment)
    moved, worst = "not measured: there are no values to compare", assessment.worst_attribute
    if worst is not None:
        moved = (
            f"{_label(worst[0], 24)}: distribution moved by {worst[1]:.3g} "
            f"({DISTANCE.head}: {DISTANCE.explanation})"
        )
    figures = {
        "promised": promised(assessment.guarantee) or "not known",
        LOSS.label: lost,
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


def _strongest_words(assessment: "Assessment") -> str:
    linked = assessment.strongest_linkage
    if linked is None or linked.figure is None:
        return "not measured: no record is complete in both tables"
    figure = linked.figure
    chance = "" if figure.beside is None else f"; by chance {figure.beside:.2g} %"
    return f"{figure.value:.3g} % ({linked.measure.head}{chance})"


def _error_lines(assessment: "Assessment") -> list[str]:
    """Errors of single values, and how well each distribution is kept."""
    errors, fits = assessment.of(ERRORS), assessment.of(FIT)
    if not errors:
        return []
    heads = [f"{one.measure.head:>14}" for one in errors]
    heads += [f"{one.measure.head:>12}" for one in fits]
    lines = [ERRORS.title, f"  {'attribute':<24}{''.join(heads)}"]
    for name in assessment.attributes:
        cells = [f"{_shown(one.figures[name].value):>14}" for one in errors]
        cells += [f"{_shown(one.figures[name].value, 4):>12}" for one in fits]
        lines.append(f"  {_label(name, 22):<24}{''.join(cells)}")
    return lines


def _shown(value: float | None, digits: int = 6) -> str:
    """Write a number in so many significant digits, or that there is none."""
    return "-" if value is None or not math.isfinite(value) else f"{value:.{digits}g}"


def _share(value: float) -> str:
    """Write a number between 0 and 1, or that there is none."""
    return "-" if not math.isfinite(value) else f"{value:.4f}"


def _loss_lines(assessment: "Assessment") -> list[str]:
    """Write the measures of information loss."""
    found = assessment.of(INFORMATION_LOSS)
    return [INFORMATION_LOSS.title, *_table_figures(found)] if found else []


def _table_figures(found: Sequence[Measured]) -> list[str]:
    """Write figures of the whole table, a line to each with what it means."""
    width = max([22, *(len(one.measure.label) for one in found)])
    return [
        f"  {one.measure.label:<{width}}{_shown(one.value):>13}  {one.measure.meaning}"
        for one in found
    ]


def _further_lines(assessment: "Assessment") -> list[list[str]]:
    """Write what belongs to no group with a form of its own, a section to each group."""
    groups = dict.fromkeys(one.measure.group for one in assessment.measured.values())
    sections = []
    for group in groups:
        found = [] if group in LAID_OUT else assessment.of(group)
        lines = _table_figures([one for one in found if one.measure.by is By.TABLE])
        for one in found:
            if one.measure.by is not By.TABLE:
                lines += [f"  {one.measure.label} ({one.measure.meaning})"]
                lines += [
                    f"    {_label(name, 30):<32}{_shown(figure.value):>13}"
                    for name, figure in one.figures.items()
                ]
        sections += [[group.title, *lines]] if lines else []
    return sections


def _linkage_lines(assessment: "Assessment") -> list[str]:
    """Write record linkage beside its baseline."""
    found = assessment.of(RECORD_LINKAGE)
    if not found:
        return []
    complete = f"{assessment.n_records_complete} records complete in both"
    lines = [
        RECORD_LINKAGE.title,
        f"  ({complete}; {found[0].measure.explanation})",
        f"  {'distance':<22}{'percent':>13}{'by chance':>13}{'95 % interval':>28}",
    ]
    for linked in found:
        figure = linked.figure
        chance = None if figure is None else figure.beside
        ends = None if figure is None else figure.interval
        interval = "-" if ends is None else " to ".join(map(_shown, ends))
        lines.append(
            f"  {linked.measure.head:<22}{_shown(linked.value):>13}{_shown(chance):>13}"
            f"{interval:>28}"
        )
    return lines


def _moment_lines(assessment: "Assessment") -> list[str]:
    """Write means and variances before and after, a line to an attribute."""
    before, after = assessment.moments.original, assessment.moments.protected
    lines = [
        MOMENTS.title,
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
    found = assessment.of(CORRELATIONS)
    lines = [
        f"{CORRELATIONS.title} ({found[0].measure.explanation})",
        *(f"  {one.measure.head:<26}{_shown(one.value):>9}" for one in found),
    ]
    if assessment.constant_attributes:
        listed = ", ".join(_label(name, 60) for name in assessment.constant_attributes)
        text = f"Constant in the original, left out of what divides by a variance: {listed}"
        lines += ["", *textwrap.wrap(text, TEXT_WIDTH, subsequent_indent="  ")]
    if not assessment.paired:
        lines += [
            "",
            "The release is shuffled: information loss and record linkage need records in order.",
        ]
    return lines


def _analyses_lines(assessment: "Assessment") -> list[list[str]]:
    """Write the analyses that were asked for, a section each."""
    return [
        lines
        for lines in (
            _learnt_lines(assessment),
            _regression_lines(assessment),
            _propensity_lines(assessment),
        )
        if lines
    ]


def _learnt_lines(assessment: "Assessment") -> list[str]:
    """Write the F-measure of every class between its two baselines."""
    learnt: Learnt | None = assessment.result("f_measure")
    if learnt is None:
        return []
    found = learnt.comparison
    seeds = "1 seed" if len(found.seeds) == 1 else f"{len(found.seeds)} seeds"
    measure, *baselines = assessment.of(LEARNING)
    heads = "".join(f"{one.measure.head:>13}" for one in baselines)
    lines = [
        f"Classification by {_label(learnt.attribute, 40)}: F-measure, 0 to 1, higher keeps more",
        f"  ({found.n_train} records trained on, {found.n_test} tested, mean over {seeds})",
        f"  {'class':<22}{measure.measure.head:>13}{'95 % interval':>22}{heads}",
    ]
    for label, figure in measure.figures.items():
        interval = " to ".join(_share(end) for end in figure.interval or ())
        others = "".join(f"{_share(one.figures[label].value):>13}" for one in baselines)
        lines.append(f"  {_label(label, 21):<22}{_share(figure.value):>13}{interval:>22}{others}")
    return lines


def _regression_lines(assessment: "Assessment") -> list[str]:
    """Write every coefficient before and after, and how far the intervals overlap."""
    found = assessment.regression
    if found is None:
        return []
    overlap, from_zero = _shown(found.mean_overlap), _shown(found.mean_overlap_from_zero)
    meaning = assessment.of(REGRESSION)[0].measure.explanation
    return [
        f"{REGRESSION.title} {_label(str(found.formula), 80)}",
        f"  (overlap of 95 % intervals: {meaning})",
        f"  {'coefficient':<32}{'before':>13}{'after':>13}{'overlap':>13}",
        *(
            f"  {_label(compared.term, 31):<32}{_shown(compared.original.value):>13}"
            f"{_shown(compared.protected.value):>13}{_shown(compared.overlap):>13}"
            for compared in found.coefficients
        ),
        f"  {'mean overlap':<58}{overlap:>13}",
        f"  {'disjoint counted as 0':<58}{from_zero:>13}",
    ]


def _propensity_lines(assessment: "Assessment") -> list[str]:
    """Write the pMSE beside what a correct model of the data would give."""
    found = assessment.propensity
    if found is None:
        return []
    null = "of independent records of one law: a yardstick, no test"
    pmse, *further = (
        f"  {one.measure.head:<26}{_shown(one.value):>13}  {one.measure.explanation}"
        for one in assessment.of(PROPENSITY)
    )
    expected = f"  {'expected under the null':<26}{_shown(found.expected):>13}  {null}"
    return [PROPENSITY.title, pmse, expected, *further]


def _label(name: str, width: int) -> str:
    """Shorten a name to a width."""
    shown = one_line(name)
    return shown if len(shown) <= width else shown[: width - 1] + "…"
