"""The pages: for the custodian, for the public, and for a demonstration of several methods."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from microveil.audit.empirical import EmpiricalAudit
from microveil.errors import DataError, stands_alone
from microveil.guarantee import EVERY_SCOPE, Guarantee
from microveil.measures import Assessment
from microveil.measures.assess import assess
from microveil.measures.attacks import AttackReport
from microveil.measures.distributions import TWO_WAY
from microveil.measures.measuring import measured_publicly
from microveil.measures.promised import codes_in_release
from microveil.protect.release import Release
from microveil.report.attributes import attributes_section, means_table
from microveil.report.columns import Column, NumberColumn, columns_of
from microveil.report.key_figures import key_figures, unpaired_figures
from microveil.report.margins import ColumnMargins, known_of, margins_by_name
from microveil.report.markup import element, fragment
from microveil.report.measures import (
    correlations_section,
    figures_section,
    further_section,
    kept_section,
    loss_section,
    moments_table,
)
from microveil.report.overview import guarantee_section, released_section
from microveil.report.page import Part, page
from microveil.report.pair_tables import measured_tables
from microveil.report.pairs import pairs_section
from microveil.report.provenance import provenance_section
from microveil.report.repeats import repeats_section
from microveil.report.risks import audit_section, risks_section
from microveil.report.sections import Section, Subject
from microveil.report.side_by_side import pictures_section
from microveil.report.tables import definitions, table
from microveil.report.weights import weighted_section
from microveil.report.wording import NOTHING
from microveil.table import Table, open_beside, open_table
from microveil.utility.total_variation import TotalVariation

__all__ = ["custodian_report", "demonstration_report", "publishable_report"]

# What keeps a page under a megabyte: points in pictures of ranks take some 14 letters each, and
# an attribute drawn fully some 15,000 beside.
MOST_POINTS, LEAST_POINTS, POINTS_IN_ALL = 2000, 200, 18_000
MOST_PICTURED = 30
WARNING = (
    "For the custodian only. This page shows figures of the original data: do not publish it, and "
    "keep it as the original is kept."
)
MOST_TABLES = 6
COMPARED = "attributes compared"
SCOPES_WORDS = (
    "An epsilon bounds by how much one person's record, replaced by any other, can change the "
    "probability of anything that is published: at most by a factor of e to the epsilon. How much "
    "of what is published is looked at is its scope. A wider scope covers the narrower ones, and "
    "row scope covers whatever is looked at."
)
INVENTED = (
    "The people on this page are invented. On real data it would be for the custodian only: it "
    "shows figures of the original."
)


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

    Parameters
    ----------
    release : Release
        Digests of files are shown where its manifest holds them.
    original : pandas.DataFrame, polars.DataFrame, pyarrow.Table or dict of numpy arrays
        The table that was protected.
    assessment : Assessment, optional
        Of this release; made here where it is not given.
    attacks : AttackReport, optional
    empirical : sequence of EmpiricalAudit
    units : dict of str, optional
        What an attribute's numbers count, by attribute: "EUR", "years".

    Returns
    -------
    str
        One page of HTML, below a megabyte, that depends on the original.

    Raises
    ------
    MicroveilError
        If the original has other records, columns or missing cells than the table that was
        protected (where they are hidden missing cells are not compared). Whether its values are
        those of that table cannot be known from a release.

    Notes
    -----
    O(n log n) time for each attribute, beside what an assessment takes; a few columns of
    memory.

    Examples
    --------
    >>> import numpy as np
    >>> import microveil as mv
    >>> people = {"AGE": np.array([23, 35, 31, 62, 58, 47])}
    >>> release = mv.protect(people, method="mdav", k=3, attributes="AGE")
    >>> "Information loss" in custodian_report(release, people)
    True
    """
    subject = _subject(
        release, original, assessment, attacks=attacks, empirical=tuple(empirical), units=units
    )
    return page(
        f"Custodian's report on a release by {release.guarantee.method}",
        warning=WARNING,
        parts=[Part(sections=_sections(subject))],
        closing=_made_by(),
    )


@stands_alone
def publishable_report(release: Release, *, units: Mapping[str, str] | None = None) -> str:
    """Write the page that may go with a release: its guarantee and its distributions.

    Of a new table also what was measured with noise, and how far that can be off. Nothing is
    taken from the manifest, the notes or the original: whoever has the release, its guarantee and
    its measurements could have written this page.

    Parameters
    ----------
    release : Release
    units : dict of str, optional
        What an attribute's numbers count, by attribute.

    Returns
    -------
    str
        One page of HTML, below a megabyte.

    Examples
    --------
    >>> import numpy as np
    >>> import microveil as mv
    >>> people = {"AGE": np.array([23, 35, 31, 62, 58, 47])}
    >>> release = mv.protect(people, method="mdav", k=3, attributes="AGE")
    >>> "for the custodian" in publishable_report(release).lower()
    False
    """
    guarantee = release.guarantee
    table = open_table(release.data, release.codes)
    known = known_of(release)
    margins = margins_by_name(known, declared_only=True)
    columns = columns_of(guarantee.attributes, table, None, units or {}, margins=margins)
    pairs = measured_tables(known, table, None, MOST_TABLES)
    names = [terms.name for terms in guarantee.attributes]
    measured = figures_section(tuple(measured_publicly(table, names).values()), "measured")
    return page(
        f"A release by {guarantee.method}, and what it guarantees",
        warning=_unpublishable(guarantee),
        parts=[
            Part(
                sections=(
                    guarantee_section(guarantee, level=2, prefix=""),
                    attributes_section(
                        columns,
                        n_records=guarantee.n_records,
                        most_pictured=2 * MOST_PICTURED,
                        most_points=None,
                        summary=means_table(columns, "means-table"),
                    ),
                    *([] if pairs is None else [pairs_section(pairs, prefix="")]),
                    *([] if measured is None else [measured]),
                )
            )
        ],
        closing=_made_by(),
    )


@stands_alone
def demonstration_report(
    releases: Mapping[str, tuple[Release, Assessment]],
    original: Any,
    *,
    lead: str,
    invented: bool = False,
    units: Mapping[str, str] | None = None,
) -> str:
    """Write a page on several releases of one table, side by side, and each folded by itself.

    Parameters
    ----------
    releases : dict of (Release, Assessment)
        By title, in the order in which they are shown; at least one.
    original : data frame
        As for `custodian_report`.
    lead : str
        What the table is, and what is shown.
    invented : bool
        Whether nobody in the table exists, so that there is nothing to keep from anybody.
    units : dict of str, optional

    Returns
    -------
    str
        One page of HTML, below a megabyte, that depends on the original.
    """
    subjects = {
        title: _subject(
            release, original, assessment, units=units, among=len(releases), prefix=f"r{place}-"
        )
        for place, (title, (release, assessment)) in enumerate(releases.items())
    }
    columns = {title: subject.columns for title, subject in subjects.items()}
    parts = [Part(sections=(_side_by_side(releases), pictures_section(columns)))]
    parts += [
        Part(
            title=title,
            identifier=f"r{place}",
            sections=_sections(subject),
            folded=f"All of {title}: its guarantee, each attribute, what was lost, and the risks",
        )
        for place, (title, subject) in enumerate(subjects.items())
    ]
    return page(
        "A demonstration: one table, protected in several ways",
        warning=INVENTED if invented else WARNING,
        lead=lead,
        parts=parts,
        closing=_made_by(),
    )


def _subject(
    release: Release,
    original: Any,
    assessment: Assessment | None,
    *,
    attacks: AttackReport | None = None,
    empirical: tuple[EmpiricalAudit, ...] = (),
    units: Mapping[str, str] | None,
    among: int = 1,
    prefix: str = "",
) -> Subject:
    codes = release.codes_of_original()
    after = open_table(release.data, codes_in_release(codes, release.guarantee))
    before = open_beside(original, after, codes)
    terms = release.guarantee.attributes
    known = known_of(release)
    columns = _columns_of_both(release, before, after, units or {}, margins_by_name(known))
    pictured = max(1, min(MOST_PICTURED // among, len(terms)))
    points = max(LEAST_POINTS, min(MOST_POINTS, POINTS_IN_ALL // (pictured * among)))
    return Subject(
        release=release,
        columns=columns,
        assessment=assessment or assess(original, release, [attribute.name for attribute in terms]),
        attacks=attacks,
        empirical=empirical,
        not_released=tuple(name for name in before.names if name not in after.names),
        prefix=prefix,
        level=2 if among == 1 else 3,
        most_points=points,
        most_pictured=pictured,
        pairs=measured_tables(known, after, before, max(1, MOST_TABLES // among)),
    )


def _columns_of_both(
    release: Release,
    before: Table,
    after: Table,
    units: Mapping[str, str],
    margins: Mapping[str, ColumnMargins],
) -> tuple[Column, ...]:
    """Read the columns of both tables, and refuse an original that cannot be the one protected."""
    remedy = "pass the table that was protected"
    if before.n_records != release.guarantee.n_records:
        raise DataError("original table", "it must have as many records as were protected", remedy)
    manifest = release.manifest.to_dict()
    figures = manifest.get("attributes", {})
    steps = {name: entry["resolution"] for name, entry in figures.items()}
    columns = columns_of(release.guarantee.attributes, after, before, units, steps, margins)
    if not set(after.names) <= set(before.names):
        raise DataError("original table", "it must have every column of the release", remedy)
    handled = _missing_by_name(release)
    for column in columns:
        missing = handled[column.name]
        if missing == "protect" or not isinstance(column, NumberColumn) or column.original is None:
            continue
        lacking, released = (np.isnan(x).sum() for x in (column.original, column.protected))
        # A method over records leaves the cells of one that lacks a value of its block empty.
        if lacking > released or (lacking < released and missing != "keep"):
            raise DataError(
                f"attribute '{column.name}'",
                "the original must have no more missing cells than the release",
                remedy,
            )
    return columns


def _missing_by_name(release: Release) -> dict[str, str | None]:
    """Return what was asked of the missing cells of each attribute; all are a new table's own."""
    names = [terms.name for terms in release.guarantee.attributes]
    if release.guarantee.is_synthetic:
        return dict.fromkeys(names, "protect")
    parameters = release.manifest.to_dict().get("parameters", {})
    asked = parameters.get("parts") or [{"attributes": names, "missing": parameters.get("missing")}]
    return {name: part.get("missing") for part in asked for name in part["attributes"]}


def _sections(subject: Subject) -> tuple[Section, ...]:
    paired = subject.assessment is not None and subject.assessment.paired
    sections = (
        released_section(subject),
        kept_section(subject),
        guarantee_section(subject.release.guarantee, level=subject.level, prefix=subject.prefix),
        repeats_section(subject),
        attributes_section(
            subject.columns,
            n_records=subject.release.guarantee.n_records,
            most_pictured=subject.most_pictured,
            most_points=subject.most_points if paired else None,
            prefix=subject.prefix,
            level=subject.level,
            summary=fragment(
                moments_table(subject),
                means_table(subject.columns, subject.identify("means-table")),
            ),
        ),
        _pairs(subject),
        correlations_section(subject),
        weighted_section(subject),
        None if subject.is_synthetic else loss_section(subject),
        further_section(subject),
        risks_section(subject),
        audit_section(subject),
        provenance_section(subject),
    )
    return tuple(section for section in sections if section is not None)


def _pairs(subject: Subject) -> Section | None:
    """Show the measured pairs, and how far each moved from the original to the release."""
    if subject.pairs is None:
        return None
    variation: TotalVariation | None = (
        None if subject.assessment is None else subject.assessment.result(TWO_WAY.id)
    )
    moved = {}
    if variation is not None:
        places = {name: place for place, name in enumerate(variation.names)}
        for edge in subject.pairs.edges:
            if set(edge.names) <= set(places):
                one, other = (places[name] for name in edge.names)
                moved[frozenset(edge.names)] = float(variation.of_pairs[one, other])
    return pairs_section(subject.pairs, prefix=subject.prefix, moved=moved)


def _side_by_side(releases: Mapping[str, tuple[Release, Assessment]]) -> Section:
    """Set the figures of all releases beside one another, those that all have first."""
    names: dict[str, None] = {}
    found: list[dict[str, str]] = []
    for release, assessment in releases.values():
        promised, *others = key_figures(release, assessment)
        own = (promised, *unpaired_figures(assessment), *others)
        found.append({figure.name: f"{figure.value} ({figure.meaning})" for figure in own})
        found[-1][COMPARED] = ", ".join((*assessment.attributes, *assessment.text_attributes))
        names |= dict.fromkeys(found[-1])
    return Section(
        identifier="side-by-side",
        title="Side by side",
        body=fragment(
            element("p", SCOPES_WORDS),
            definitions(
                "The scopes, the least first",
                ((f"{scope} scope", scope.meaning) for scope in EVERY_SCOPE),
                heads=("scope", "what is compared"),
                identifier="scopes-table",
            ),
            table(
                "The figures that matter, and what they mean; "
                f"{NOTHING} where one needs each person's own row and there is none, or where "
                "it stands in for such a figure",
                ("figure", *releases),
                ([name, *(own.get(name, NOTHING) for own in found)] for name in names),
                identifier="side-by-side-table",
                words=True,
            ),
        ),
    )


def _unpublishable(guarantee: Guarantee) -> str | None:
    if guarantee.randomness == "seeded":
        return "This release was drawn from a seed and protects nobody: do not publish it."
    return None


def _made_by() -> str:
    return f"Made by microveil {version('microveil')}. This page loads nothing and runs nothing."
