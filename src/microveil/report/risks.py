"""What an intruder could still find, never without a baseline; and the audit."""

from typing import Any

from microveil.measures.attacks import AttackOutcome
from microveil.measures.categories import POSTERIOR_ODDS, SHARE_KEPT
from microveil.measures.closest_records import CLOSEST, ClosestRecords
from microveil.measures.linkage import MIXED, RECORD_LINKAGE
from microveil.measures.neighbourhoods import NEIGHBOURHOODS
from microveil.measures.registry import Figure
from microveil.measures.text_of_findings import linkage_in_words
from microveil.protect.release import Release
from microveil.report.axes import Axis, linear_axis
from microveil.report.chart import Chart, Ranges, Rows, Spread, Ticks, room_across
from microveil.report.markup import Markup, element, fragment
from microveil.report.sections import Section, Subject
from microveil.report.svg import picture
from microveil.report.tables import table
from microveil.report.wording import NOTHING, number, percent, rounded_up
from microveil.schema import Kind

__all__ = ["audit_section", "risks_section"]

LEFT, ROW = 96.0, 34.0


def risks_section(subject: Subject) -> Section:
    """Tabulate linkage, odds of categories, neighbours and attacks, each beside its baseline."""
    assessment = subject.assessment
    linkage = () if assessment is None else assessment.of(RECORD_LINKAGE)
    found = {one.measure.head: one.figure for one in linkage if one.figure is not None}
    return Section(
        identifier=subject.identify("risks"),
        title="Risks, beside what chance would find",
        body=fragment(
            element(
                "p",
                "A low figure is no promise: it speaks of one attack, and another may do better. "
                "What is promised stands in the guarantee.",
            ),
            _linkage(subject, found) if found else _without_linkage(subject),
            _closest(subject),
            _odds_table(subject),
            _neighbours_table(subject),
            _attacks(subject),
        ),
    )


def _without_linkage(subject: Subject) -> Markup:
    if subject.is_synthetic:
        return element(
            "p",
            "No row follows a person, so there is nobody to find again in it. What can be asked is "
            "whether rows lie nearer to people than people lie to one another.",
        )
    if (found := _linked_in_place(subject.release)) is not None:
        return element(
            "p",
            f"Rows of one part or another are in an order of their own. Where they stand still, "
            f"records are found again: {found}.",
        )
    return element(
        "p",
        "Record linkage was not measured: it was not asked for, or there are no complete records "
        "in the order of the original.",
    )


def _linked_in_place(release: Release) -> str | None:
    """Return what was found of the parts whose rows stand still, when they were released."""
    found = (release.manifest.contents or {}).get("findings")
    if release.guarantee.shuffle != "parts" or found is None:
        return None
    linked = found["linkage"]
    return None if linked is None else linkage_in_words(linked)


def _closest(subject: Subject) -> Markup | None:
    """Set the distance to the closest record beside that of people who were left out."""
    assessment = subject.assessment
    found: ClosestRecords | None = None if assessment is None else assessment.result(CLOSEST.id)
    if found is None:
        return None
    if not found.is_enough:
        return element("p", f"Distances to the closest record are not shown: {found.basis}.")
    sides = {"released rows": (found.released, found.equal)}
    sides["people left out"] = (found.left_out, found.equal_left_out)
    return fragment(
        element(
            "p",
            "The yardstick is a person who was left out: their distance to the closest of all "
            "others, as if the table had been made without them. Rows that lie as far away or "
            "farther follow nobody that closely. The figures rest on "
            f"{found.basis} released rows without gaps.",
        ),
        element(
            "div",
            element(
                "figure",
                picture(subject.identify("closest"), _closest_chart(found)),
                element("figcaption", "Medians; bars are 95 % intervals"),
            ),
            class_="pictures",
        ),
        table(
            "Distance to the closest record of the original, in standard deviations; a category "
            "that differs weighs as much as one",
            ("who", "median", "95 % interval", "equal to a record, %", "95 % interval"),
            (
                [
                    who,
                    number(median.value, 4),
                    " to ".join(number(end, 4) for end in median.interval),
                    percent(equal.value),
                    " to ".join(percent(end) for end in equal.interval),
                ]
                for who, (median, equal) in sides.items()
            ),
            identifier=subject.identify("closest-table"),
        ),
    )


def _closest_chart(found: ClosestRecords) -> Chart:
    medians = (found.released, found.left_out)
    spreads = tuple(
        Spread(value=one.value, lower=one.interval[0], upper=one.interval[1]) for one in medians
    )
    most = max(spread.upper for spread in spreads)
    return Chart(
        title="Median distance to the closest record, of released rows and of people left out",
        description=(
            f"Of released rows {number(found.released.value, 3)}, of people left out "
            f"{number(found.left_out.value, 3)} standard deviations."
        ),
        across=linear_axis(
            "standard deviations", 0.0, most or 1.0, Kind.DECIMAL, room_across(LEFT)
        ),
        upward=Rows(labels=("released rows", "left out"), height=ROW),
        series=(Ranges(name="median distance", look="protected", spreads=spreads),),
        left=LEFT,
    )


def _linkage(subject: Subject, found: dict[str, Figure]) -> Markup:
    n_records = subject.measured["n_records_complete"]
    n_sampled = max(subject.measured.get("record_linkage_sampled", {}).values(), default=0)
    drawn = element(
        "figure",
        picture(subject.identify("linkage"), _linkage_chart(found)),
        element("figcaption", "Record linkage by each distance; bars are 95 % intervals"),
    )
    return fragment(
        element(
            "p",
            "An intruder who knows the original values of all protected attributes takes each "
            "released record to the nearest original. Of "
            + (f"{n_sampled:,} records drawn at random among " if n_sampled else "")
            + f"{n_records:,} complete records "
            + (
                "(over all attributes, missing values too, of all records) "
                if MIXED.head in found
                else ""
            )
            + "so many are found again:",
        ),
        element("div", drawn, class_="pictures"),
        table(
            "Record linkage, percent of the records",
            ("distance", "found", "95 % interval", "by chance"),
            (
                [
                    label,
                    number(linked.value, 3),
                    " to ".join(number(end, 3) for end in linked.interval or ()) or NOTHING,
                    number(linked.beside, 2),
                ]
                for label, linked in found.items()
            ),
            identifier=subject.identify("linkage-table"),
        ),
    )


def _linkage_chart(found: dict[str, Figure]) -> Chart:
    spreads = tuple(
        Spread(value=linked.value, lower=low, upper=high)
        for linked in found.values()
        for low, high in [linked.interval or (linked.value, linked.value)]
    )
    by_chance = tuple(linked.beside or 0.0 for linked in found.values())
    return Chart(
        title="Records found again by record linkage, and by chance",
        description=" ".join(
            f"By distances {label}: {number(linked.value, 3)} %, by chance "
            f"{number(linked.beside, 2)} %."
            for label, linked in found.items()
        ),
        across=Axis(
            title="records found again, %",
            lower=0.0,
            upper=100.0,
            ticks=tuple((float(at), str(at)) for at in range(0, 101, 20)),
        ),
        upward=Rows(labels=tuple(found), height=ROW),
        series=(
            Ranges(name="found", look="protected", spreads=spreads),
            Ticks(name="by chance", look="original", values=by_chance),
        ),
        left=LEFT,
    )


def _odds_table(subject: Subject) -> Markup | None:
    """Tabulate posterior odds: those observed, or else those that the method's matrix gives."""
    compared = subject.measured.get("categories") or {
        name: figures
        for name, figures in subject.manifest.get("attributes", {}).items()
        if "posterior_odds" in figures
    }
    if not compared:
        return None
    return table(
        "Categories: how many are unchanged, and the posterior odds that a category seen is the "
        "original one",
        ("attribute", SHARE_KEPT.label, POSTERIOR_ODDS.label),
        (
            [
                name,
                percent(figures.get("share_kept")),
                "unbounded: some category is certain"
                if figures["posterior_odds"]["largest_infinite"]
                else number(figures["posterior_odds"]["largest"], 4),
            ]
            for name, figures in compared.items()
        ),
        identifier=subject.identify("odds-table"),
    )


def _neighbours_table(subject: Subject) -> Markup | None:
    counted = subject.measured.get("neighbourhoods")
    if not counted:
        return None
    return table(
        NEIGHBOURHOODS.title,
        ("attribute", "delta", "in the original", "expected", "in the release"),
        (
            [
                name,
                number(figures["delta"]),
                *(
                    number((figures.get(side) or {}).get("min"), 3)
                    for side in ("original", "expected", "observed")
                ),
            ]
            for name, figures in counted.items()
        ),
        identifier=subject.identify("neighbours-table"),
    )


def _attacks(subject: Subject) -> Markup:
    report = subject.attacks
    if report is None:
        return element("p", "No further attacks were carried out for this page.")
    notes = [*report.notes]
    notes += [f"Not carried out: {name}: {why}" for name, why in report.not_carried_out.items()]
    return fragment(
        table(
            f"Attacks, percent of those tried with {number(100 * report.confidence)} % intervals; "
            "risk is what goes beyond the control, or the baseline where there is none",
            ("attack", "tried", "success", "baseline", "control", "risk", "beats its baseline"),
            (_attack_row(outcome) for outcome in report.outcomes),
            identifier=subject.identify("attacks-table"),
        ),
        element("ul", (element("li", note) for note in notes)) if notes else None,
    )


def _attack_row(outcome: AttackOutcome) -> list[str]:
    figures = outcome.to_dict()
    about = "" if outcome.secret is None else f" of {outcome.secret}"
    return [
        outcome.attack + about,
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


def audit_section(subject: Subject) -> Section | None:
    """Tabulate what the release really spends at vector scope, and what runs have shown.

    None for a new table without runs: there are no centroids, and what it spends is promised.
    """
    shown = _empirical(subject)
    if subject.is_synthetic:
        identifier, title = subject.identify("audit"), "Audit: what runs have shown"
        return None if shown is None else Section(identifier=identifier, title=title, body=shown)
    audit = subject.manifest.get("audit")
    body = (
        element("p", "This release carries no audit.")
        if not audit
        else fragment(_audit_words(subject, audit), _audit_table(subject, audit))
    )
    return Section(
        identifier=subject.identify("audit"),
        title="Audit: what is really spent at vector scope",
        body=fragment(body, shown),
    )


def _audit_words(subject: Subject, audit: dict[str, Any]) -> Markup:
    vector = subject.release.guarantee.scopes.vector
    published = f"an epsilon of {rounded_up(vector.epsilon)}" if vector.covered else "nothing"
    total = audit["vector_scope"]
    found = "finds no bound" if total is None else f"finds {rounded_up(total)}"
    unit = subject.release.guarantee.unit
    loss = "what one record, replaced by any other, can change with the clusters formed anew"
    if unit.column is not None and not subject.release.guarantee.has_clusters:
        loss = f"at most what {unit.in_words} can change, replaced by any others"
    return element(
        "p",
        f"The true loss is {loss}; it depends on the data, so it is not published. The guarantee "
        "publishes "
        f"{published} at vector scope; the audit {found} for this table. Exact cells are those "
        "that noise was due for and that come out as they are.",
    )


def _audit_table(subject: Subject, audit: dict[str, Any]) -> Markup:
    entries = audit["attributes"]
    shares = [entry["share"] for entry in entries.values() if entry["share"] is not None]
    in_parts = any("method" in entry for entry in entries.values())
    # What one part spends is no bound on a release whose other parts spend none.
    whole = len(shares) == len(entries) or not in_parts
    rows = [
        [
            name,
            *([entry["method"]] if in_parts else []),
            _share(entry["share"]),
            _loss(entry["vector_scope"]),
            f"{entry['clusters']:,}",
            f"{entry['exact_cells']:,}",
        ]
        for name, entry in entries.items()
    ]
    rows.append(
        [
            "all together",
            *([""] if in_parts else []),
            _share(sum(shares) if shares and whole else None),
            _loss(audit["vector_scope"]),
            "",
            f"{sum(entry['exact_cells'] for entry in entries.values()):,}",
        ]
    )
    return table(
        "Share of epsilon and true loss, by attribute",
        (
            "attribute",
            *(["method"] if in_parts else []),
            "share of epsilon",
            "true loss",
            "clusters",
            "exact cells",
        ),
        rows,
        identifier=subject.identify("audit-table"),
    )


def _share(share: float | None) -> str:
    return "none" if share is None else rounded_up(share)


def _loss(loss: float | None) -> str:
    return "no bound" if loss is None else rounded_up(loss)


def _empirical(subject: Subject) -> Markup | None:
    if not subject.empirical:
        return None
    rows = [
        [
            f"{found.attribute}, {scope} scope",
            "not covered" if finding.claimed is None else rounded_up(finding.claimed),
            _loss(finding.exact),
            f"at least {number(finding.lower_bound, 4)}",
            f"{found.runs:,}",
            "CONTRADICTED" if finding.contradicts else "not contradicted, which proves nothing",
        ]
        for found in subject.empirical
        for scope, finding in found.scopes.items()
    ]
    return table(
        "Lower bounds on epsilon that runs have shown, each at the confidence of "
        f"{number(100 * subject.empirical[0].confidence)} %",
        ("attribute and scope", "claimed", "exact audit", "shown", "runs", "the claim is"),
        rows,
        identifier=subject.identify("empirical-table"),
    )
