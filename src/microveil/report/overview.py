"""What was released and what it guarantees: the first that the page says."""

from microveil.guarantee import Guarantee
from microveil.guarantee.guarantee import statement_of
from microveil.report.documents import written
from microveil.report.key_figures import KeyFigure, key_figures
from microveil.report.markup import Markup, element, fragment
from microveil.report.sections import Section, Subject
from microveil.report.tables import table
from microveil.report.wording import NOTHING, plural

__all__ = ["figures_list", "guarantee_section", "released_section"]


def released_section(subject: Subject) -> Section:
    """Say what was released, by four figures and column by column."""
    release = subject.release
    guarantee = release.guarantee
    identifier = subject.identify("released")
    method = element("code", guarantee.method)
    intro = (
        element(
            "p",
            f"A new table of {plural(subject.n_released, 'record')} that are nobody's, drawn by ",
            method,
            f" from noisy counts of {plural(guarantee.n_records, 'record')} of the original.",
        )
        if guarantee.is_synthetic
        else element(
            "p",
            f"A table of {plural(guarantee.n_records, 'record')}, protected by ",
            method,
            f", {guarantee.title}.",
        )
    )
    shown = (*release.notes, *release.manifest.custodian_notes)
    notes = [
        element(f"h{subject.level + 1}", "Before it is published"),
        element("ul", (element("li", note) for note in shown)),
    ]
    return Section(
        identifier=identifier,
        title="What was released",
        body=fragment(
            intro,
            figures_list(key_figures(release, subject.assessment)),
            notes if shown else None,
            _columns_table(subject),
        ),
    )


def figures_list(figures: tuple[KeyFigure, ...]) -> Markup:
    """Write figures large, each with its name and its meaning."""
    return element(
        "dl",
        (
            element(
                "div",
                element("dt", figure.name),
                element("dd", element("strong", figure.value)),
                element("dd", figure.meaning),
            )
            for figure in figures
        ),
        class_="figures",
    )


def _columns_table(subject: Subject) -> Markup:
    guarantee = subject.release.guarantee
    became = "drawn anew" if guarantee.is_synthetic else "protected"
    protected = [(terms.name, became, terms.kind.value) for terms in guarantee.attributes]
    kept = [(name, "released as it is, unprotected", NOTHING) for name in guarantee.kept]
    left_out = [(name, "not released", NOTHING) for name in subject.not_released]
    return table(
        "Columns of the original, and what became of them",
        ("column", "what became of it", "kind of values"),
        [*protected, *kept, *left_out],
        identifier=subject.identify("columns-table"),
        words=True,
    )


def guarantee_section(guarantee: Guarantee, *, level: int, prefix: str) -> Section:
    """Say what the guarantee says, in its own words."""
    return Section(
        identifier=f"{prefix}guarantee1",
        title="What this release guarantees",
        body=written(statement_of(guarantee.to_dict()), level=level, prefix=f"{prefix}guarantee"),
        heads_itself=True,
    )
