"""What an intruder could still find, never without a baseline."""

from collections.abc import Iterator
from typing import Any

from microveil.measures.assessment import Assessment
from microveil.measures.attacks.outcome import AttackReport
from microveil.measures.base import Figure
from microveil.measures.categories import POSTERIOR_ODDS, SHARE_KEPT
from microveil.measures.closest_records import CLOSEST, CLOSEST_RECORDS, ClosestRecords
from microveil.measures.estimates import in_percent
from microveil.measures.findings import linkage_found
from microveil.measures.linkage import RECORD_LINKAGE
from microveil.measures.neighbourhoods import NEIGHBOURHOODS
from microveil.measures.showing import figures, part_of
from microveil.report.charts import found_chart
from microveil.report.subject import Subject
from microveil.report.wording import number, percent
from microveil.text.document import Block, Chart, heading, paragraph, tabulated

NO_PROMISE = (
    "A low figure is no promise: it speaks of one attack, and another may do better. What is "
    "promised stands in the guarantee."
)
LEFT_OUT = (
    "The yardstick is a person who was left out: their distance to the closest of all others, as "
    "if the table had been made without them. Rows that lie as far away or farther follow nobody "
    "that closely."
)


def found_again_chart(assessment: Assessment, attacks: AttackReport | None) -> Chart | None:
    """Chart the strongest linkage, and attacks, beside chance; else the closest records."""
    linked, found = assessment.strongest_linkage, dict[str, Figure]()
    if linked is not None and linked.figure is not None:
        found[linked.measure.head] = linked.figure
    for outcome in () if attacks is None else attacks.outcomes:
        if outcome.n_attacks:
            base = outcome.control or outcome.baseline
            found[outcome.name] = in_percent(outcome.success, base)
    if found:
        return found_chart(found, "found again, % (tick: by chance)")
    closest = assessment.measured.get(CLOSEST.id)
    if closest is None or closest.value is None or closest.figure is None:
        return None
    title = "distance to the closest record (tick: of people left out)"
    return found_chart({"released rows": closest.figure}, title, most=None)


def risk_parts(subject: Subject) -> list[Block]:
    """Show linkage, odds of categories, neighbours and attacks, each beside its baseline."""
    return [
        paragraph(NO_PROMISE),
        *_linkage(subject),
        *_closest(subject.assessment),
        *_odds(subject),
        *_neighbours(subject.assessment),
        *_attacks(subject.attacks),
    ]


def _linkage(subject: Subject) -> tuple[Block, ...]:
    linked = [one for one in subject.assessment.of(RECORD_LINKAGE) if one.figure is not None]
    return part_of(RECORD_LINKAGE, linked)[1:] or (paragraph(_why_not_linked(subject)),)


def _why_not_linked(subject: Subject) -> str:
    guarantee = subject.release.guarantee
    if guarantee.is_synthetic:
        return (
            "No row follows a person, so there is nobody to find again in it. What can be asked is "
            "whether rows lie nearer to people than people lie to one another."
        )
    # What was found of the parts whose rows stand still, when they were released.
    findings = subject.manifest.get("findings")
    if guarantee.shuffle == "parts" and findings is not None and findings["linkage"] is not None:
        return (
            "Rows of one part or another are in an order of their own. Where they stand still, "
            f"records are found again: {linkage_found(findings).words}."
        )
    return (
        "Record linkage was not measured: it was not asked for, or there are no complete records "
        "in the order of the original."
    )


def _closest(assessment: Assessment) -> tuple[Block, ...]:
    found: ClosestRecords | None = assessment.result(CLOSEST.id)
    if found is None:
        return ()
    if not found.is_enough:
        return (paragraph(f"Distances to the closest record are not shown: {found.basis}."),)
    said = f"{LEFT_OUT} The figures rest on {found.basis} released rows without gaps."
    return figures(assessment.of(CLOSEST_RECORDS), said)


def _odds(subject: Subject) -> Iterator[Block]:
    """Tabulate posterior odds: those observed, or else those that the method's matrix gives."""
    compared: dict[str, Any] = subject.assessment.to_dict().get("categories") or {
        name: figures
        for name, figures in subject.manifest.get("attributes", {}).items()
        if "posterior_odds" in figures
    }
    rows = []
    for name, own in compared.items():
        odds = own["posterior_odds"]
        largest = "unbounded: some category is certain"
        if not odds["largest_infinite"]:
            largest = number(odds["largest"], 4)
        rows.append([name, percent(own.get("share_kept")), largest])
    if rows:
        yield tabulated(["categories of", SHARE_KEPT.label, POSTERIOR_ODDS.label], rows)


def _neighbours(assessment: Assessment) -> Iterator[Block]:
    counted = assessment.to_dict().get("neighbourhoods")
    if counted:
        yield heading(3, NEIGHBOURHOODS.title)
        sides = {
            "original": "in the original",
            "expected": "expected",
            "observed": "in the release",
        }
        rows = [
            [
                name,
                number(own["delta"]),
                *(number((own.get(side) or {}).get("min"), 3) for side in sides),
            ]
            for name, own in counted.items()
        ]
        yield tabulated(["attribute", "delta", *sides.values()], rows)


def _attacks(report: AttackReport | None) -> tuple[Block, ...]:
    if report is None:
        return (paragraph("No further attacks were carried out for this page."),)
    return report.document().blocks[1:]
