"""What an intruder could still find, never without a baseline."""

from collections.abc import Iterator
from typing import Any

from microveil.measures import Assessment
from microveil.measures.attacks import AttackOutcome, AttackReport
from microveil.measures.categories import POSTERIOR_ODDS, SHARE_KEPT
from microveil.measures.closest_records import CLOSEST, ClosestRecords
from microveil.measures.findings import linkage_found
from microveil.measures.linkage import MIXED, RECORD_LINKAGE
from microveil.measures.neighbourhoods import NEIGHBOURHOODS
from microveil.report.charts import Found, found_chart
from microveil.report.subject import Subject
from microveil.report.wording import NOTHING, number, percent
from microveil.text.document import Block, Chart, heading, items, paragraph, tabulated

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
    linked = assessment.strongest_linkage
    found = []
    if linked is not None and linked.figure is not None:
        figure = linked.figure
        found.append(
            Found(
                name=linked.measure.head,
                value=figure.value,
                interval=figure.interval,
                beside=figure.beside,
            )
        )
    outcomes = () if attacks is None else attacks.outcomes
    found += [one for one in map(_attacked, outcomes) if one is not None]
    if found:
        return found_chart(found, "found again, % (tick: by chance)")
    closest: ClosestRecords | None = assessment.result(CLOSEST.id)
    if closest is None or not closest.is_enough:
        return None
    row = Found(
        name="released rows",
        value=closest.released.value,
        interval=closest.released.interval,
        beside=closest.left_out.value,
    )
    return found_chart(
        [row], "distance to the closest record (tick: of people left out)", most=None
    )


def _attacked(outcome: AttackOutcome) -> Found | None:
    figures = outcome.to_dict()
    success, base = figures["success"], figures["control"] or figures["baseline"]
    if success is None or success["rate"] is None:
        return None
    low, high = success["interval"]
    return Found(
        name=_name(outcome),
        value=100 * success["rate"],
        interval=(100 * low, 100 * high),
        beside=None if base is None or base["rate"] is None else 100 * base["rate"],
    )


def _name(outcome: AttackOutcome) -> str:
    return outcome.attack + ("" if outcome.secret is None else f" of {outcome.secret}")


def risk_parts(subject: Subject) -> list[Block]:
    """Tabulate linkage, odds of categories, neighbours and attacks, each beside its baseline."""
    return [
        paragraph(NO_PROMISE),
        *_linkage(subject),
        *_closest(subject),
        *_odds(subject),
        *_neighbours(subject),
        *_attacks(subject),
    ]


def _linkage(subject: Subject) -> Iterator[Block]:
    assessment = subject.assessment
    found = {
        one.measure.head: one.figure
        for one in assessment.of(RECORD_LINKAGE)
        if one.figure is not None
    }
    if not found:
        yield paragraph(_why_not_linked(subject))
        return
    sampled = max(assessment.n_sampled.values(), default=0)
    drawn = f"{sampled:,} records drawn at random among " if sampled else ""
    mixed = " (over all attributes, missing values too, of all records)"
    yield paragraph(
        "An intruder who knows the original values of all protected attributes takes each released "
        f"record to the nearest original. Of {drawn}{assessment.n_records_complete:,} complete "
        f"records{mixed if MIXED.head in found else ''} so many are found again:"
    )
    yield tabulated(
        ["record linkage, distance", "found, %", "95 % interval", "by chance, %"],
        [
            [
                name,
                number(linked.value, 3),
                " to ".join(number(end, 3) for end in linked.interval or ()) or NOTHING,
                number(linked.beside, 2),
            ]
            for name, linked in found.items()
        ],
    )


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


def _closest(subject: Subject) -> Iterator[Block]:
    found: ClosestRecords | None = subject.assessment.result(CLOSEST.id)
    if found is None:
        return
    if not found.is_enough:
        yield paragraph(f"Distances to the closest record are not shown: {found.basis}.")
        return
    yield paragraph(f"{LEFT_OUT} The figures rest on {found.basis} released rows without gaps.")
    sides = {"released rows": (found.released, found.equal)}
    sides["people left out"] = (found.left_out, found.equal_left_out)
    yield tabulated(
        [
            "who",
            "median distance to the closest record, in standard deviations",
            "95 % interval",
            "equal to a record, %",
            "95 % interval",
        ],
        [
            [
                who,
                number(median.value, 4),
                " to ".join(number(end, 4) for end in median.interval),
                percent(equal.value),
                " to ".join(percent(end) for end in equal.interval),
            ]
            for who, (median, equal) in sides.items()
        ],
    )


def _odds(subject: Subject) -> Iterator[Block]:
    """Tabulate posterior odds: those observed, or else those that the method's matrix gives."""
    compared = subject.assessment.to_dict().get("categories") or {
        name: figures
        for name, figures in subject.manifest.get("attributes", {}).items()
        if "posterior_odds" in figures
    }
    if compared:
        yield tabulated(
            ["categories of", SHARE_KEPT.label, POSTERIOR_ODDS.label],
            [
                [
                    name,
                    percent(figures.get("share_kept")),
                    "unbounded: some category is certain"
                    if figures["posterior_odds"]["largest_infinite"]
                    else number(figures["posterior_odds"]["largest"], 4),
                ]
                for name, figures in compared.items()
            ],
        )


def _neighbours(subject: Subject) -> Iterator[Block]:
    counted = subject.assessment.to_dict().get("neighbourhoods")
    if counted:
        yield heading(3, NEIGHBOURHOODS.title)
        yield tabulated(
            ["attribute", "delta", "in the original", "expected", "in the release"],
            [
                [
                    name,
                    number(figures["delta"]),
                    *(
                        number((figures.get(side) or {}).get("min"), 3)
                        for side in ("original", "expected", "observed")
                    ),
                ]
                for name, figures in counted.items()
            ],
        )


def _attacks(subject: Subject) -> Iterator[Block]:
    report = subject.attacks
    if report is None:
        yield paragraph("No further attacks were carried out for this page.")
        return
    yield paragraph(
        f"Attacks, percent of those tried with {number(100 * report.confidence)} % intervals; "
        "risk is what goes beyond the control, or the baseline where there is none."
    )
    yield tabulated(
        ["attack", "tried", "success", "baseline", "control", "risk", "beats its baseline"],
        [_attack_row(outcome) for outcome in report.outcomes],
    )
    notes = [*report.notes]
    notes += [f"Not carried out: {name}: {why}" for name, why in report.not_carried_out.items()]
    if notes:
        yield items(notes)


def _attack_row(outcome: AttackOutcome) -> list[str]:
    figures = outcome.to_dict()
    return [
        _name(outcome),
        f"{outcome.n_attacks:,}",
        *(_rate(figures[name]) for name in ("success", "baseline", "control", "risk")),
        "yes" if outcome.beats_baseline else "no: no better than guessing",
    ]


def _rate(figures: dict[str, Any] | None) -> str:
    if figures is None or figures["rate"] is None:
        return NOTHING
    low, high = figures["interval"]
    exact = figures["n"] is None
    shown = percent(figures["rate"])
    return shown if exact else f"{shown} ({percent(low)} to {percent(high)})"
