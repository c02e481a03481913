"""The page of a reproduction: each claim beside what was measured, then the figures.

What the epsilons take as given comes before any of them is shown.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from microveil.report.wording import number
from microveil_papers.drawing import chart_markup
from microveil_papers.given import TITLE, Given, clauses_of
from microveil_papers.html.markup import Child, Markup, element, fragment
from microveil_papers.html.page import Part, page
from microveil_papers.html.sections import Section
from microveil_papers.html.tables import definitions, table
from microveil_papers.paper import (
    Case,
    Claim,
    Figure,
    Listing,
    Paper,
    Reproduction,
    Verdict,
)

__all__ = ["reproduction_page"]

SIGNS = {Verdict.HOLDS: "\u2713", Verdict.IN_PART: "\u25d0", Verdict.FAILS: "\u2717"}


def reproduction_page(
    paper: Paper, found: Reproduction, settings: Mapping[str, str], warnings: Sequence[str]
) -> str:
    """Write the page.

    Parameters
    ----------
    paper : Paper
    found : Reproduction
    settings : dict of str to str
        Names and values of what was run, with digests and versions.
    warnings : sequence of str
        Why the verdicts may not be those of the paper's own experiments.

    Returns
    -------
    str
        HTML without reference to anything outside.
    """
    sections = (
        _verdicts(found.claims, found.note),
        *([_given(found.given)] if found.given else []),
        *(_claims(found.claims, section) for section in dict.fromkeys(_sections(found.claims))),
        *(_listing(listing) for listing in found.listings),
        *(_figure(figure) for figure in found.figures),
        Section(
            identifier="settings",
            title="What was run",
            body=definitions(
                "Data, parameters and versions, and how the paper was read",
                settings.items(),
                heads=("what", "value"),
                identifier="settings-table",
            ),
        ),
    )
    return page(
        f"{paper.title}, reproduced",
        warning=" ".join(warnings) or None,
        lead=paper.citation,
        parts=[Part(sections=sections)],
        closing="Made by microveil. The page needs no network and may be passed on with its data.",
    )


def _sections(claims: Iterable[Claim]) -> list[str]:
    return [claim.section for claim in claims]


def _verdicts(claims: tuple[Claim, ...], note: str) -> Section:
    """Say what became of the claims, all in one table."""
    counts = Counter(claim.verdict for claim in claims)
    counted = ", ".join(
        f"{counts[verdict]} {_plural(verdict, counts[verdict])}" for verdict in Verdict
    )
    body = fragment(
        element("p", f"Of {len(claims)} claims of the paper's text {counted}."),
        element(
            "p",
            "A claim is checked in the cases where it can be. It holds if all of them do, and in "
            "part if some do; what counts as holding is stated beside it. Intervals are of 95 %, "
            "by Student, of means over runs: they cover the luck of the noise, not that of the "
            "table. Ratios over k have an interval over k, which only says whether the ratio is "
            "of one kind throughout. A best k was chosen by the same runs that are reported of it, "
            "which flatters it.",
        ),
        element("p", note) if note else None,
        table(
            "The claims and their verdicts",
            ("section", "claim", "verdict"),
            (
                [claim.section, element("a", claim.text, href=f"#{_name(claims, claim)}"),
                 _verdict_words(claim)]
                for claim in claims
            ),
            identifier="verdicts-table",
            words=True,
        ),
    )  # fmt: skip
    return Section(identifier="verdicts", title="Verdicts", body=body)


def _plural(verdict: Verdict, count: int) -> str:
    words = {Verdict.HOLDS: "hold", Verdict.IN_PART: "hold in part", Verdict.FAILS: "do not hold"}
    return verdict.value if count == 1 else words[verdict]


def _name(claims: tuple[Claim, ...], claim: Claim) -> str:
    return f"claim-{claims.index(claim) + 1}"


def _verdict_words(claim: Claim) -> Markup:
    """Write a verdict by a sign and in words: it is not shown by colour."""
    holding = sum(case.holds for case in claim.cases)
    cases = f" ({holding} of {len(claim.cases)} cases)" if len(claim.cases) > 1 else ""
    sign = element("span", SIGNS[claim.verdict], aria_hidden="true")
    return fragment(sign, f" {claim.verdict.value}{cases}")


def _given(given: Sequence[Given]) -> Section:
    """Say of each method what its epsilon hangs on, and then what each condition means."""
    body = fragment(
        element(
            "p",
            "An epsilon holds at the scope and under the conditions that are named beside it, and "
            "says no more. They are read off the guarantees of what was run, as these are without "
            "seeds: what a seed draws, as it does here, protects nobody. Model and scope are the "
            "weakest of a method\u2019s configurations.",
        ),
        table(
            "Each method, and what its epsilon takes as given or leaves out",
            ("method", "privacy model", "keeps its epsilon at", "takes as given or leaves out"),
            (
                [one.name, one.model.in_words, one.scope_in_words, clauses_of(one.conditions)]
                for one in given
            ),
            identifier="given-table",
            words=True,
        ),
        _meanings(given),
    )
    return Section(identifier="given", title=TITLE, body=body)


def _meanings(given: Sequence[Given]) -> Markup | None:
    """Say each condition whole, once, and of which methods: equal words can mean two things."""
    conditions = {one.text: one for method in given for one in method.conditions}
    if not conditions:
        return None
    return table(
        "What that means",
        ("condition", "methods", "in whole"),
        ([one.clause, _holders(one.text, given), one.text] for one in conditions.values()),
        identifier="conditions-table",
        words=True,
    )


def _holders(text: str, given: Sequence[Given]) -> str:
    names = [one.name for one in given if any(text == held.text for held in one.conditions)]
    return "all" if len(names) == len(given) else "; ".join(names)


def _claims(claims: tuple[Claim, ...], section: str) -> Section:
    own = [claim for claim in claims if claim.section == section]
    return Section(
        identifier=f"claims-{section.replace('.', '-').replace(' ', '-')}",
        title=f"Claims of {own[0].place}",
        body=fragment(_claim(claim, _name(claims, claim)) for claim in own),
    )


def _claim(claim: Claim, name: str) -> Markup:
    return fragment(
        element("h3", claim.text, id=name),
        element("p", element("strong", _verdict_words(claim)), f". Counts as holding: "
                f"{claim.criterion}."),
        element("p", claim.remark) if claim.remark else None,
        table(
            f"What was measured: {claim.text}",
            ("case", "holds", "measured"),
            ([case.where or "all", _case_words(case), case.measured] for case in claim.cases),
            identifier=f"{name}-table",
            words=True,
            captioned=False,
        ),
    )  # fmt: skip


def _case_words(case: Case) -> str:
    return "yes" if case.holds else "no"


def _listing(listing: Listing) -> Section:
    return Section(
        identifier=listing.identifier,
        title=listing.title,
        body=fragment(
            table(
                listing.caption,
                listing.table.columns,
                ([_shown(value) for value in row] for row in listing.table.rows()),
                identifier=f"{listing.identifier}-table",
            ),
            element("p", listing.note) if listing.note else None,
        ),
    )


def _shown(value: Any) -> Child:
    if value is None:
        return "\u2013"
    return number(value, 4) if isinstance(value, float) else str(value)


def _figure(figure: Figure) -> Section:
    charts = [chart for row in figure.charts for chart in row]
    drawn = [
        element(
            "figure",
            chart_markup(f"{figure.identifier}-{place}", chart, charts),
            element("figcaption", chart.title),
        )
        for place, chart in enumerate(charts)
    ]
    files = [
        fragment(element("code", f"{figure.identifier}.{kind}"), separator)
        for kind, separator in (("csv", ", "), ("svg", " and "), ("png", ""))
    ]
    return Section(
        identifier=figure.identifier,
        title=figure.title + (" (not in the paper)" if figure.ours else ""),
        body=fragment(
            element("p", figure.caption),
            element("div", drawn, class_="pictures"),
            element("p", "Numbers and pictures: ", files, "."),
        ),
    )
