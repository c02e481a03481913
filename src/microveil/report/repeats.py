"""Other releases of the same people: what the custodian's ledger counts, or that none does."""

from microveil.report.markup import Child, element
from microveil.report.sections import Section, Subject

__all__ = ["repeats_section"]

UNCOUNTED = (
    "No population was named, so no ledger records this release, and repeats are not counted. "
    "Every further release of the same people adds to what this one reveals, a rerun of the same "
    "recipe included."
)
UNWRITTEN = (
    "The release is not in the ledger yet: that comes with writing it. What it adds to earlier "
    "releases of the same people is not counted here."
)


def repeats_section(subject: Subject) -> Section:
    """Say what the releases of the same people come to, as far as that is known."""
    counted = subject.manifest.get("ledger")
    body: Child
    if counted is not None:
        body = element("ul", (element("li", sentence) for sentence in counted["in_words"]))
    else:
        body = element("p", UNCOUNTED if subject.release.population is None else UNWRITTEN)
    return Section(
        identifier=subject.identify("repeats"),
        title="Other releases of the same people",
        body=body,
    )
