"""The pages: for the custodian, and for the public."""

from collections.abc import Mapping, Sequence
from typing import Any

from microveil.audit.empirical import EmpiricalAudit
from microveil.errors import stands_alone
from microveil.guarantee import Guarantee
from microveil.guarantee.guarantee import statement_of
from microveil.measures.assessment import Assessment
from microveil.measures.attacks.outcome import AttackReport
from microveil.measures.key_figures import promised
from microveil.measures.registry import measured_publicly
from microveil.measures.showing import part_of
from microveil.protect.release import Release
from microveil.report.appendix import appendix_parts, folded, repeats_parts
from microveil.report.charts import columns_chart
from microveil.report.column_parts import (
    column_heads,
    column_rows,
    margins_words,
    means_table,
    numbers_behind,
)
from microveil.report.columns import columns_of
from microveil.report.measured import known_of, margins_by_name, measured_tables
from microveil.report.overlays import distribution_charts
from microveil.report.pair_parts import measured_pairs_parts, moved_pairs_chart, pairs_parts
from microveil.report.risk_parts import found_again_chart, risk_parts
from microveil.report.shell import page
from microveil.report.subject import MOST_PAIR_TABLES, Subject, subject_of
from microveil.report.wording import plural
from microveil.table import open_table
from microveil.text import listed
from microveil.text.document import Block, paragraph

MOST_CHARTED = 30
WARNING = (
    "For the custodian only. This page shows figures of the original data: do not publish it, and "
    "keep it as the original is kept."
)
SEEDED = "This release was drawn from a seed and protects nobody: do not publish it."


@stands_alone
def custodian_report(
    release: Release,
    original: Any,
    assessment: Assessment | None = None,
    *,
    attacks: AttackReport | None = None,
    empirical: Sequence[EmpiricalAudit] = (),
    units: Mapping[str, str] | None = None,
) -> str:
    """Write the page that shows a release's custodian all there is to know of it.

    ``units`` say what an attribute's numbers count, "EUR" for example. An original that cannot be
    the table protected is refused; whether its values are, cannot be known from a release.
    """
    subject = subject_of(
        release, original, assessment, attacks=attacks, empirical=tuple(empirical), units=units
    )
    return page(
        "custodian.html",
        interactive=True,
        title=f"Custodian's report on a release by {release.guarantee.method}",
        warning=WARNING,
        first=first_screen(subject),
        parts=_parts(subject),
    )


def first_screen(subject: Subject) -> dict[str, Any]:
    """Return what is promised, and three charts: columns, pairs, what is found again."""
    _, lost, worst, found, *kept = (one.sentence for one in subject.assessment.key_figures)
    columns = columns_chart(subject.assessment.column_moves, subject.by_sampling)
    near = "Closest records" if subject.assessment.strongest_linkage is None else "Found again"
    return {
        **_promise(subject.release.guarantee, subject.n_released),
        "charts": [
            ("Columns, the worst first", columns, [worst]),
            ("Pairs of columns", moved_pairs_chart(subject), [lost, *kept]),
            (near, found_again_chart(subject.assessment, subject.attacks), [found]),
        ],
    }


def _promise(guarantee: Guarantee, n_released: int) -> dict[str, Any]:
    """Say in a sentence what is promised, with its conditions, and in another what was done."""
    said = promised(guarantee) or ""
    conditions = "" if guarantee.provisos or guarantee.epsilon is None else "; no condition"
    counted = f"{plural(guarantee.n_records, 'record')} of the original"
    deed = f"{guarantee.deed} {counted}, {plural(n_released, 'row')} released."
    return {"promise": f"Promised: {said}{conditions}.", "deed": deed}


def _parts(subject: Subject) -> dict[str, Any]:
    """Return the parts of a custodian's page that fold."""
    release = subject.release
    return {
        "notes": [*release.notes, *release.manifest.custodian_notes],
        "heads": column_heads(subject.columns),
        "rows": column_rows(subject),
        "others": _other_columns(subject),
        "margins": margins_words(subject.columns),
        "pairs": pairs_parts(subject),
        "risk": risk_parts(subject),
        "guarantee": [*folded(statement_of(release.guarantee.to_dict())), *repeats_parts(subject)],
        "appendix": appendix_parts(subject),
    }


def _other_columns(subject: Subject) -> list[Block]:
    """Say what became of the columns that were not protected."""
    kept, left_out = subject.release.guarantee.kept, subject.not_released
    said = {"Released as they are, unprotected": kept, "Not released": left_out}
    return [paragraph(f"{what}: {listed(names)}.") for what, names in said.items() if names]


@stands_alone
def publishable_report(
    release: Release, *, units: Mapping[str, str] | None = None, interactive: bool = False
) -> str:
    """Write the page that may go with a release: its guarantee and its distributions.

    Of a new table also what was measured with noise, and how far that can be off. Nothing is
    taken from the manifest, the notes or the original: whoever has the release, its guarantee and
    its measurements could have written this page. It runs nothing, unless charts are to answer to
    the mouse.
    """
    guarantee = release.guarantee
    table = open_table(release.data, release.codes)
    known = known_of(release)
    margins = margins_by_name(known, declared_only=True)
    columns = columns_of(guarantee.attributes, table, None, units or {}, margins=margins)
    names = [terms.name for terms in guarantee.attributes]
    measured = list(measured_publicly(table, names).values())
    return page(
        "public.html",
        interactive=interactive,
        title=f"A release by {guarantee.method}, and what it guarantees",
        warning=SEEDED if guarantee.randomness == "seeded" else None,
        first=_promise(guarantee, table.n_records),
        columns=[
            (own.name, distribution_charts(own), numbers_behind(own))
            for own in columns[: 2 * MOST_CHARTED]
        ],
        n_skipped=max(0, len(columns) - 2 * MOST_CHARTED),
        margins=[*margins_words(columns), *means_table(columns)],
        guarantee=folded(statement_of(guarantee.to_dict())),
        pairs=measured_pairs_parts(measured_tables(known, table, None, MOST_PAIR_TABLES)),
        measured=[
            block
            for group in dict.fromkeys(one.measure.group for one in measured)
            for block in part_of(group, [one for one in measured if one.measure.group == group])
        ],
    )
