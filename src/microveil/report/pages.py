"""The pages: for the custodian, and for the public."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from microveil.errors import stands_alone
from microveil.guarantee import Guarantee
from microveil.guarantee.guarantee import statement_of
from microveil.measures.assessment import Assessment
from microveil.measures.base import part_of
from microveil.measures.key_figures import promised
from microveil.measures.registry import measured_publicly
from microveil.protect.release import Release
from microveil.report.charts import columns_chart
from microveil.report.column_parts import (
    MOST_CHARTED,
    column_heads,
    column_rows,
    margins_words,
    means_table,
    numbers_behind,
)
from microveil.report.measured import known_of, measured_tables
from microveil.report.overlays import distribution_charts
from microveil.report.parts import (
    found_again_chart,
    measured_pairs_parts,
    moved_pairs_chart,
    pairs_parts,
    risk_parts,
)
from microveil.report.shell import page
from microveil.report.subject import MOST_PAIR_TABLES, Subject, columns_of, subject_of
from microveil.report.wording import NOTHING, number, plural, rounded_up
from microveil.table import open_table
from microveil.text import listed
from microveil.text.document import (
    Block,
    Document,
    Fold,
    Heading,
    fold,
    paragraph,
    tabulated,
)
from microveil.text.templates import document_of

TOP = 2


@stands_alone
def custodian_report(
    release: Release,
    original: Any,
    assessment: Assessment | None = None,
    *,
    units: Mapping[str, str] | None = None,
) -> str:
    """Write the page that shows a release's custodian all there is to know of it.

    ``units`` say what an attribute's numbers count, "EUR" for example. An original that cannot be
    the table protected is refused; whether its values are, cannot be known from a release.
    """
    subject = subject_of(release, original, assessment, units)
    return page(
        "custodian.html",
        interactive=True,
        title=f"Custodian's report on a release by {release.guarantee.method}",
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
            (near, found_again_chart(subject.assessment), [found]),
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
        "guarantee": folded(statement_of(release.guarantee.to_dict())),
        "is_counted": release.population is not None,
        "counted": (subject.manifest.get("ledger") or {}).get("in_words"),
        "appendix": appendix_parts(subject),
    }


def _other_columns(subject: Subject) -> list[Block]:
    """Say what became of the columns that were not protected."""
    kept, left_out = subject.release.guarantee.kept, subject.not_released
    said = {"Released as they are, unprotected": kept, "Not released": left_out}
    return [paragraph(f"{what}: {listed(names)}.") for what, names in said.items() if names]


@stands_alone
def publishable_report(release: Release) -> str:
    """Write the page that may go with a release: its guarantee and its distributions.

    Of a new table also what was measured with noise, and how far that can be off. Nothing is
    taken from the manifest, the notes or the original: whoever has the release, its guarantee and
    its measurements could have written this page. It runs nothing.
    """
    guarantee = release.guarantee
    table = open_table(release.data, release.codes)
    columns = columns_of(release, table)
    measured = list(measured_publicly(table, [column.name for column in columns]).values())
    return page(
        "public.html",
        interactive=False,
        title=f"A release by {guarantee.method}, and what it guarantees",
        is_seeded=guarantee.randomness == "seeded",
        first=_promise(guarantee, table.n_records),
        columns=[
            (own.name, distribution_charts(own), numbers_behind(own))
            for own in columns[: 2 * MOST_CHARTED]
        ],
        n_skipped=max(0, len(columns) - 2 * MOST_CHARTED),
        margins=[*margins_words(columns), *means_table(columns)],
        guarantee=folded(statement_of(guarantee.to_dict())),
        pairs=measured_pairs_parts(
            measured_tables(known_of(release), table, None, MOST_PAIR_TABLES)
        ),
        measured=[
            block
            for group in dict.fromkeys(one.measure.group for one in measured)
            for block in part_of(group, [one for one in measured if one.measure.group == group])
        ],
    )


def folded(document: Document) -> list[Block]:
    """Return what a document holds below its title: its sections fold, each under its heading."""
    blocks: list[Block] = []
    for block in document.blocks[1:]:
        if isinstance(block, Heading) and block.level == TOP:
            blocks.append(fold(block.text, ()))
        elif blocks and isinstance(blocks[-1], Fold):
            blocks[-1] = fold(blocks[-1].title, (*blocks[-1].blocks, block))
        else:
            blocks.append(block)
    return blocks


def appendix_parts(subject: Subject) -> list[Block]:
    """Return the parts, each folded."""
    parts = {
        "Every measure, and what it means": _measures,
        "Audit: what is really spent": _audit,
        "Parameters, versions, digests": _provenance,
    }
    folds = (fold(title, blocks_of(subject)) for title, blocks_of in parts.items())
    return [own for own in folds if own.blocks]


def _measures(subject: Subject) -> Iterator[Block]:
    yield from folded(subject.assessment.document())
    measured = subject.assessment.measured
    if "mse" in measured and measured["mse"].figures:
        expected, rows = subject.manifest.get("expected_error") or {}, []
        for name, figure in measured["mse"].figures.items():
            variance = measured["variance"].figures[name].beside
            foreseen = (expected.get(name) or {}).get("over_variance")
            relative = figure.value / variance if variance else None
            rows.append([name, number(relative, 3), number(foreseen, 3)])
        yield paragraph(
            "The mean squared error over the variance of the original: 1 is as good as publishing "
            "the mean."
        )
        yield tabulated(["attribute", "over variance", "as expected"], rows)


def _audit(subject: Subject) -> Sequence[Block]:
    """Tabulate what the release really spends at vector scope."""
    guarantee, audit = subject.release.guarantee, subject.manifest.get("audit") or {}
    if guarantee.is_synthetic:  # there are no centroids, and what it spends is promised
        return ()
    entries = list(audit.get("attributes", {}).values())
    shares = [entry["share"] for entry in entries if entry["share"] is not None]
    in_parts = any("method" in entry for entry in entries)
    # What one part spends is no bound on a release whose other parts spend none.
    whole = sum(shares) if shares and (len(shares) == len(entries) or not in_parts) else None

    def loss(own: float | None, otherwise: str = NOTHING) -> str:
        return otherwise if own is None else rounded_up(own)

    said = {"audit": audit, "promised": guarantee, "in_parts": in_parts, "whole": whole}
    return document_of("report/audit.jinja", **said, loss=loss).blocks


def _provenance(subject: Subject) -> Sequence[Block]:
    """Tabulate what was asked for, with what software, on and into which files."""
    manifest = subject.manifest
    given = {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in manifest.get("parameters", {}).items()
        if value not in (None, [], {})
    }
    found = document_of(
        "report/provenance.jinja",
        given=given,
        unused=manifest.get("unused_parameters"),
        created=manifest.get("created", ""),
        files=[
            ("original", manifest.get("input"), "not a file"),
            ("release", manifest.get("output"), "in manifest.json, once it is written"),
        ],
        versions=manifest.get("versions", {}),
    )
    return found.blocks
