"""An assessment for a terminal."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from microveil.measures.categories import CATEGORIES
from microveil.measures.closest_records import CLOSEST, CLOSEST_RECORDS
from microveil.measures.column_moves import COLUMN_MOVES
from microveil.measures.distributions import DISTRIBUTIONS, ONE_WAY, TWO_WAY
from microveil.measures.goodness_of_fit import FIT
from microveil.measures.information_loss import INFORMATION_LOSS, LOSS
from microveil.measures.layout import INDENT, TEXT_WIDTH, label, share, shown
from microveil.measures.learning import LEARNING, Learnt
from microveil.measures.linkage import MIXED, RECORD_LINKAGE
from microveil.measures.mean_errors import ERRORS
from microveil.measures.measuring import Measured
from microveil.measures.moments import CORRELATIONS, MOMENTS
from microveil.measures.promised import promised
from microveil.measures.propensity import PROPENSITY
from microveil.measures.rank_correlations import RANK_CORRELATIONS
from microveil.measures.registry import By
from microveil.measures.regression import REGRESSION
from microveil.measures.relations import RELATIONS
from microveil.measures.rules import RULES
from microveil.measures.subgroups import SUBGROUPS
from microveil.measures.text_of_distributions import closest_lines, distribution_lines
from microveil.measures.text_of_subgroups import rule_lines, subgroup_lines
from microveil.measures.text_of_weights import weighted_lines
from microveil.measures.weighted import WEIGHTED
from microveil.risk.closest_records import ClosestRecords
from microveil.text import aligned
from microveil.utility.column_moves import HEADS, moved_most, worst_rows

if TYPE_CHECKING:
    from microveil.measures.assessment import Assessment
    from microveil.measures.correcting import CorrectedComparison

__all__ = ["text_of"]

# More categories than a person reads are in the JSON alone.
MOST_CATEGORIES = 20
# What has lines of its own form; what belongs to no such group has a section under its title.
LAID_OUT = (
    INFORMATION_LOSS,
    RECORD_LINKAGE,
    CLOSEST_RECORDS,
    ERRORS,
    FIT,
    DISTRIBUTIONS,
    COLUMN_MOVES,
    RELATIONS,
    MOMENTS,
    CORRELATIONS,
    RANK_CORRELATIONS,
    CATEGORIES,
    WEIGHTED,
    SUBGROUPS,
    RULES,
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
        closest_lines(assessment),
        _error_lines(assessment),
        distribution_lines(assessment),
        _worst_lines(assessment),
        _moment_lines(assessment),
        weighted_lines(assessment),
        subgroup_lines(assessment),
        rule_lines(assessment),
        _correlation_lines(assessment),
        *_closing_lines(assessment),
        _category_lines(assessment),
        _anonymity_lines(assessment),
        *(_corrected_lines(name, found) for name, found in assessment.corrected.items()),
        *_analyses_lines(assessment),
        *_further_lines(assessment),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _category_lines(assessment: "Assessment") -> list[str]:
    found = [one for one in assessment.of(CATEGORIES) if one.figures]
    if not found:
        return []
    rows = [("attribute", *(one.measure.head for one in found))]
    rows += [
        (label(name, 22), *(f"{one.figures[name].value:.4g}" for one in found))
        for name in found[0].figures
    ]
    return [CATEGORIES.title, *aligned(rows, widths=(22, 14, 14), indent=INDENT)]


def _anonymity_lines(assessment: "Assessment") -> list[str]:
    """Write how many records share their values of quasi-identifiers, before and after."""
    found = assessment.anonymity
    if found is None:
        return []
    tables = [("original", found.original), ("release", found.protected)]
    if found.released != found.quasi_identifiers:
        tables.insert(1, ("original, by what is released", found.original_in_released))
    rows: list[tuple[str, ...]] = [
        (
            "records alike",
            "classes",
            "smallest",
            *(f"in < {size}" for size, _ in found.original.below),
        )
    ]
    for table, classes in tables:
        name = table
        if found.unit is not None and not classes.counts_units:
            name = f"{table}, counted in records"
        counts = (classes.n_classes, classes.smallest, *(count for _, count in classes.below))
        rows.append((name, *map(str, counts)))
    names = ", ".join(label(name, 24) for name in found.quasi_identifiers)
    people = "" if found.unit is None else f", counted in people ({label(found.unit, 24)})"
    title = f"k-anonymity by {names}{people} (a missing cell is a value like another)"
    lines = textwrap.wrap(title, TEXT_WIDTH, subsequent_indent=INDENT, break_on_hyphens=False)
    lines += aligned(rows, widths=(30, 9, 9, 9, 9, 9), indent=INDENT)
    if found.released != found.quasi_identifiers:
        missing = [
            label(name, 24) for name in found.quasi_identifiers if name not in found.released
        ]
        note = f"  Not in the release: {', '.join(missing)}"
        lines += textwrap.wrap(note, TEXT_WIDTH, subsequent_indent=2 * INDENT)
    return lines


def _corrected_lines(name: str, found: "CorrectedComparison") -> list[str]:
    """Write shares before, as released, and corrected with their standard errors."""
    shares = found.corrected
    rows: list[tuple[str, ...]] = [("category", "% before", "released", "corrected", "std. error")]
    for place, category in enumerate(shares.categories[:MOST_CATEGORIES]):
        figures = (found.original, shares.released, shares.shares, shares.standard_errors)
        named = "missing" if category is None else str(category)
        rows.append((label(named, 22), *(f"{100 * one[place]:.4g}" for one in figures)))
    title = (
        f"Shares of {label(name, 24)}, corrected for randomisation (total variation "
        f"{found.moved:.3g} as released, {found.moved_corrected:.3g} corrected)"
    )
    lines = textwrap.wrap(title, TEXT_WIDTH, subsequent_indent=INDENT)
    lines += aligned(rows, widths=(22, 12, 12, 12, 12), indent=INDENT)
    if len(shares.categories) > MOST_CATEGORIES:
        lines.append(
            f"  (the first {MOST_CATEGORIES} of {len(shares.categories)} categories; all of them "
            "are in to_dict(), --json)"
        )
    return lines


def _title_lines(assessment: "Assessment") -> list[str]:
    count, of_text = len(assessment.attributes), len(assessment.text_attributes)
    attributes = "1 attribute" if count == 1 else f"{count} attributes"
    if of_text:
        attributes += f" of numbers, {of_text} of text"
    records = f"{assessment.n_records} records"
    if assessment.n_protected != assessment.n_records:
        records = f"{assessment.n_protected} released records against {records} of the original"
    title = f"Assessment of {records}, {attributes} (for the custodian, not for logs)"
    lines = textwrap.wrap(title, TEXT_WIDTH, subsequent_indent=INDENT)
    lines += _key_lines(assessment)
    for title, columns in (
        ("Released as they are", assessment.kept),
        ("Not compared", assessment.left_out),
    ):
        if columns:
            names = ", ".join(label(name, 24) for name in columns)
            lines += textwrap.wrap(
                f"  {title}: {names}", TEXT_WIDTH, subsequent_indent="  ", break_on_hyphens=False
            )
    for name, look in assessment.numeric_looks.items():
        note = f"  Taken as text: {label(name, 24)}; {look}"
        lines += textwrap.wrap(note, TEXT_WIDTH, subsequent_indent=2 * INDENT)
    return lines


def _key_lines(assessment: "Assessment") -> list[str]:
    """Write the four figures that matter, and the relations that are kept."""
    moved, worst = "not measured: there are no values to compare", assessment.worst_attribute
    if worst is not None:
        most = moved_most(assessment.column_moves)
        moved = f"{most}; " if most else ""
        moved += (
            f"{label(worst.attribute, 24)}: distribution moved by {worst.distance:.3g} "
            f"({worst.measure.head}: {worst.measure.explanation})"
        )
    relations = assessment.relations
    kept = () if relations is None else relations.lines
    lost, found = (_lost if assessment.paired else _lost_without_pairs)(assessment)
    figures = [
        ("promised", promised(assessment.guarantee) or "not known"),
        lost,
        ("worst attribute", moved),
        found,
        *((name.lower(), words) for name, _, words in (line.partition(": ") for line in kept)),
    ]
    width = max(22, *(len(name) + 2 for name, _ in figures))
    return [
        line
        for name, figure in figures
        for line in textwrap.wrap(
            f"  {name:<{width}}{figure}",
            TEXT_WIDTH,
            subsequent_indent=" " * (width + 2),
            drop_whitespace=True,
        )
    ]


def _lost(assessment: "Assessment") -> tuple[tuple[str, str], tuple[str, str]]:
    """Say what was lost, and how many records are found again."""
    lost = "not measured: there are no numbers to compare"
    found = "not measured: it was not asked for"
    if LOSS.id in assessment.measured:
        loss = assessment.measured[LOSS.id].value
        lost = f"{shown(loss)} {LOSS.unit} ({LOSS.explanation})"
        if loss is None:
            lost = "not measured: there is nothing that varies to compare"
    if assessment.of(RECORD_LINKAGE):
        found = _strongest_words(assessment)
    return (LOSS.label, lost), ("records found again", found)


def _lost_without_pairs(assessment: "Assessment") -> tuple[tuple[str, str], tuple[str, str]]:
    """Say how far pairs of attributes moved, or single ones, and how near rows come to records."""
    taken = (assessment.measured.get(measure.id) for measure in (TWO_WAY, ONE_WAY))
    variation = next((one for one in taken if one is not None and one.value is not None), None)
    lost = (TWO_WAY.label, "not measured: there are no values to compare")
    if variation is not None:
        lost = (
            variation.measure.label,
            f"{shown(variation.value, 3)} ({variation.measure.meaning})",
        )
    near: ClosestRecords | None = assessment.result(CLOSEST.id)
    found = "not measured: no row, or not even two records, are without a gap"
    if near is not None and near.is_enough:
        found = (
            f"{shown(near.released.value, 3)} standard deviations away in the median of "
            f"{near.basis} rows without gaps; of a person left out {shown(near.left_out.value, 3)}"
        )
    elif near is not None:
        found = f"not measured: {near.basis}"
    return lost, (CLOSEST.head, found)


def _strongest_words(assessment: "Assessment") -> str:
    linked = assessment.strongest_linkage
    if linked is None or linked.figure is None:
        return "not measured: no record is complete in both tables"
    figure = linked.figure
    chance = "" if figure.beside is None else f"; by chance {figure.beside:.2g} %"
    n_sampled, ends = assessment.n_sampled.get(linked.measure.id), figure.interval
    if n_sampled is None or ends is None:
        return f"{figure.value:.3g} % ({linked.measure.head}{chance})"
    return (
        f"{figure.value:.3g} % of {n_sampled:,} sampled, 95 % interval {ends[0]:.4g} to "
        f"{ends[1]:.4g} % ({linked.measure.head}{chance})"
    )


def _error_lines(assessment: "Assessment") -> list[str]:
    """Errors of single values."""
    errors = assessment.of(ERRORS)
    if not errors:
        return []
    rows = [("attribute", *(one.measure.head for one in errors))]
    for name in assessment.attributes:
        of_values = (shown(one.figures[name].value) for one in errors)
        rows.append((label(name, 22), *of_values))
    return [ERRORS.title, *aligned(rows, widths=(22, 14, 12), indent=INDENT)]


def _worst_lines(assessment: "Assessment") -> list[str]:
    """Write the five worst columns, the worst first."""
    rows = worst_rows(assessment.column_moves)
    if not rows:
        return []
    named = ((label(name, 21), *cells) for name, *cells in rows)
    return [COLUMN_MOVES.title, *aligned([HEADS, *named], widths=(22,), indent=INDENT)]


def _loss_lines(assessment: "Assessment") -> list[str]:
    """Write the measures of information loss."""
    found = assessment.of(INFORMATION_LOSS)
    return [INFORMATION_LOSS.title, *_table_figures(found)] if found else []


def _table_figures(found: Sequence[Measured]) -> list[str]:
    """Write figures of the whole table, a line to each with what it means."""
    rows = [(one.measure.label, shown(one.value), one.measure.meaning) for one in found]
    return aligned(rows, widths=(21, 12), left=(0, 2), indent=INDENT)


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
                rows = ((label(n, 30), shown(figure.value)) for n, figure in one.figures.items())
                lines += aligned(rows, widths=(31, 12), indent=2 * INDENT)
        sections += [[group.title, *lines]] if lines else []
    return sections


def _linkage_lines(assessment: "Assessment") -> list[str]:
    """Write record linkage beside its baseline."""
    found = assessment.of(RECORD_LINKAGE)
    if not found:
        return []
    complete = f"{assessment.n_records_complete} records complete in both"
    if sampled := set(assessment.n_sampled.values()):
        complete = f"{max(sampled):,} drawn at random, of {complete}"
    if MIXED.id in assessment.measured:
        complete += "; over all attributes of all records"
    rows = [("distance", "percent", "by chance", "95 % interval")]
    for linked in found:
        figure = linked.figure
        chance = None if figure is None else figure.beside
        ends = None if figure is None else figure.interval
        interval = "-" if ends is None else " to ".join(map(shown, ends))
        rows.append((linked.measure.head, shown(linked.value), shown(chance), interval))
    return [
        RECORD_LINKAGE.title,
        f"  ({complete}; {found[0].measure.explanation})",
        *aligned(rows, widths=(20, 13, 11, 26), indent=INDENT),
    ]


def _moment_lines(assessment: "Assessment") -> list[str]:
    """Write means and variances before and after, a line to an attribute."""
    moments = assessment.moments
    if moments is None:
        return []
    before, after = moments.original, moments.protected
    rows: list[tuple[str, ...]] = [
        ("attribute", "mean before", "after", "variance before", "after")
    ]
    for a, name in enumerate(assessment.attributes):
        found = (before.means[a], after.means[a], before.variances[a], after.variances[a])
        rows.append((label(name, 21), *map(shown, found)))
    return [MOMENTS.title, *aligned(rows, widths=(22, 11, 11, 16, 11), indent=INDENT)]


def _correlation_lines(assessment: "Assessment") -> list[str]:
    """Write how far the correlations moved."""
    found = (*assessment.of(CORRELATIONS), *assessment.of(RANK_CORRELATIONS))
    if not found:
        return []
    rows = ((one.measure.head, shown(one.value)) for one in found)
    return [
        f"{CORRELATIONS.title} ({found[0].measure.explanation})",
        *aligned(rows, widths=(25, 8), indent=INDENT),
    ]


def _closing_lines(assessment: "Assessment") -> list[list[str]]:
    """Write what was left out, a section each."""
    sentences = []
    if assessment.constant_attributes:
        listed = ", ".join(label(name, 60) for name in assessment.constant_attributes)
        sentences.append(
            f"Constant in the original, left out of what divides by a variance: {listed}"
        )
    if not assessment.paired:
        sentences.append(
            "The release is shuffled or synthetic, or leaves records out: information loss and "
            "record linkage need all records in the order of the original."
        )
    return [textwrap.wrap(text, TEXT_WIDTH, subsequent_indent="  ") for text in sentences]


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
    heads = (one.measure.head for one in baselines)
    rows = [("class", measure.measure.head, "95 % interval", *heads)]
    for name, figure in measure.figures.items():
        interval = " to ".join(share(end) for end in figure.interval or ())
        others = (share(one.figures[name].value) for one in baselines)
        rows.append((label(name, 21), share(figure.value), interval, *others))
    return [
        f"Classification by {label(learnt.attribute, 40)}: F-measure, 0 to 1, higher keeps more",
        f"  ({found.n_train} records trained on, {found.n_test} tested, mean over {seeds})",
        *aligned(rows, widths=(21, 12, 20, 11, 11), indent=INDENT),
    ]


def _regression_lines(assessment: "Assessment") -> list[str]:
    """Write every coefficient before and after, and how far the intervals overlap."""
    found = assessment.regression
    if found is None:
        return []
    rows: list[tuple[str, ...]] = [("coefficient", "before", "after", "overlap")]
    for one in found.coefficients:
        figures = (one.original.value, one.protected.value, one.overlap)
        rows.append((label(one.term, 31), *map(shown, figures)))
    rows += [
        ("mean overlap", "", "", shown(found.mean_overlap)),
        ("disjoint counted as 0", "", "", shown(found.mean_overlap_from_zero)),
    ]
    meaning = assessment.of(REGRESSION)[0].measure.explanation
    return [
        f"{REGRESSION.title} {label(str(found.formula), 80)}",
        f"  (confidence-interval overlap, 95 %: {meaning})",
        *aligned(rows, widths=(31, 11, 11, 11), indent=INDENT),
    ]


def _propensity_lines(assessment: "Assessment") -> list[str]:
    """Write the pMSE beside what a correct model of the data would give."""
    found = assessment.propensity
    if found is None:
        return []
    null = "of independent records of one law: a yardstick, no test"
    pmse, *further = (
        (one.measure.head, shown(one.value), one.measure.explanation)
        for one in assessment.of(PROPENSITY)
    )
    rows = [pmse, ("expected under the null", shown(found.expected), null), *further]
    return [PROPENSITY.title, *aligned(rows, widths=(25, 12), left=(0, 2), indent=INDENT)]
