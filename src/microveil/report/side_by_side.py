"""Several releases of one table: the original against each, attribute by attribute."""

from collections.abc import Mapping

from microveil.report.attribute_charts import category_chart, histogram_chart
from microveil.report.columns import CategoryColumn, Column
from microveil.report.distributions import histogram
from microveil.report.markup import Markup, element, fragment
from microveil.report.sections import Section
from microveil.report.svg import picture
from microveil.report.wording import plural

__all__ = ["pictures_section"]

# What keeps the page short, and small: a picture has some 4,000 letters.
MOST_ATTRIBUTES = 10
MOST_PICTURES = 48
DRAWN = (
    "Each row is an attribute, each picture a release: what the values are in it, against those of "
    "the original. The numbers behind a picture stand below, where its release is unfolded."
)


def pictures_section(columns: Mapping[str, tuple[Column, ...]]) -> Section:
    """Draw the original against each release, the releases of an attribute beside one another.

    Parameters
    ----------
    columns : dict of tuple of Column
        By the title of the release: its attributes, which need not be those of the others.
    """
    names = list(dict.fromkeys(column.name for own in columns.values() for column in own))
    most = max(1, min(MOST_ATTRIBUTES, MOST_PICTURES // len(columns)))
    skipped = len(names) - most
    return Section(
        identifier="pictures",
        title="The original against each release",
        body=fragment(
            element("p", DRAWN),
            (_attribute(name, place, columns) for place, name in enumerate(names[:most])),
            element("p", f"{plural(skipped, 'attribute')} more not drawn, to keep this page small.")
            if skipped > 0
            else None,
        ),
    )


def _attribute(name: str, place: int, columns: Mapping[str, tuple[Column, ...]]) -> Markup:
    pictures = []
    for number, (title, own) in enumerate(columns.items()):
        column = next((column for column in own if column.name == name), None)
        identifier = f"s{place}-{number}"
        drawn = None if column is None else _picture(identifier, column)
        pictures.append(
            element("p", f"{title}: not released")
            if drawn is None
            else element("figure", element("figcaption", title, class_="above"), drawn)
        )
    return fragment(element("h3", name, id=f"s{place}"), element("div", pictures, class_="ways"))


def _picture(identifier: str, column: Column) -> Markup | None:
    if isinstance(column, CategoryColumn):
        return picture(identifier, category_chart(column))
    bins = histogram(column)
    return None if bins is None else picture(identifier, histogram_chart(column, bins))
