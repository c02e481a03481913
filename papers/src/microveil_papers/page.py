"""The page of a reproduction: each claim beside what was measured, then the figures.

What the epsilons take as given comes before any of them is shown.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from microveil.report.shell import page
from microveil.report.wording import number
from microveil_papers.drawing import chart_markup
from microveil_papers.given import TITLE, Given, clauses_of
from microveil_papers.paper import Claim, Figure, Listing, Paper, Reproduction, Verdict

__all__ = ["reproduction_page"]

SIGNS = {Verdict.HOLDS: "\u2713", Verdict.IN_PART: "\u25d0", Verdict.FAILS: "\u2717"}
HOW_TO_READ = (
    "A claim is checked in the cases where it can be. It holds if all of them do, and in part if "
    "some do; what counts as holding is stated beside it. Intervals are of 95 %, by Student, of "
    "means over runs: they cover the luck of the noise, not that of the table. Ratios over k have "
    "an interval over k, which only says whether the ratio is of one kind throughout. A best k was "
    "chosen by the same runs that are reported of it, which flatters it."
)
GIVEN_WORDS = (
    "An epsilon holds at the scope and under the conditions that are named beside it, and says no "
    "more. They are read off the guarantees of what was run, as these are without seeds: what a "
    "seed draws, as it does here, protects nobody. Model and scope are the weakest of a "
    "method\u2019s configurations."
)


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
    claims = {f"claim-{place}": claim for place, claim in enumerate(found.claims, start=1)}
    places = {_identifier(claim): claim.place for claim in found.claims}
    return page(
        "reproduction.html",
        interactive=False,
        package="microveil_papers",
        title=f"{paper.title}, reproduced",
        warning=" ".join(warnings) or None,
        citation=paper.citation,
        contents=[*_contents(found, places)],
        claims=claims,
        places=places,
        cases=_cases,
        signs=SIGNS,
        verdict_words=_verdict_words,
        counted=_counted(found.claims),
        how_to_read=HOW_TO_READ,
        note=found.note,
        given=[
            [one.name, one.model.in_words, one.scope_in_words, clauses_of(one.conditions)]
            for one in found.given
        ],
        given_title=TITLE,
        given_words=GIVEN_WORDS,
        conditions=_meanings(found.given),
        listings=found.listings,
        rows=_rows,
        figures=[(figure, _title(figure), [*_charts(figure)]) for figure in found.figures],
        settings=[*settings.items()],
    )


def _contents(found: Reproduction, places: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield identifiers and titles of the sections."""
    yield "verdicts", "Verdicts"
    if found.given:
        yield "given", TITLE
    yield from ((name, f"Claims of {place}") for name, place in places.items())
    yield from ((listing.identifier, listing.title) for listing in found.listings)
    yield from ((figure.identifier, _title(figure)) for figure in found.figures)
    yield "settings", "What was run"


def _title(figure: Figure) -> str:
    return figure.title + (" (not in the paper)" if figure.ours else "")


def _identifier(claim: Claim) -> str:
    return f"claims-{claim.section.replace('.', '-').replace(' ', '-')}"


def _counted(claims: Sequence[Claim]) -> str:
    counts = Counter(claim.verdict for claim in claims)
    counted = (f"{counts[verdict]} {_plural(verdict, counts[verdict])}" for verdict in Verdict)
    return f"Of {len(claims)} claims of the paper's text {', '.join(counted)}."


def _plural(verdict: Verdict, count: int) -> str:
    words = {Verdict.HOLDS: "hold", Verdict.IN_PART: "hold in part", Verdict.FAILS: "do not hold"}
    return verdict.value if count == 1 else words[verdict]


def _verdict_words(claim: Claim) -> str:
    """Say a verdict in words, which a sign stands beside: it is not shown by colour."""
    holding = sum(case.holds for case in claim.cases)
    cases = f" ({holding} of {len(claim.cases)} cases)" if len(claim.cases) > 1 else ""
    return f"{claim.verdict.value}{cases}"


def _cases(claim: Claim) -> list[list[str]]:
    return [
        [case.where or "all", "yes" if case.holds else "no", case.measured] for case in claim.cases
    ]


def _meanings(given: Sequence[Given]) -> list[list[str]]:
    """Say each condition whole, once, and of which methods: equal words can mean two things."""
    conditions = {one.text: one for method in given for one in method.conditions}
    return [[one.clause, _holders(one.text, given), one.text] for one in conditions.values()]


def _holders(text: str, given: Sequence[Given]) -> str:
    names = [one.name for one in given if any(text == held.text for held in one.conditions)]
    return "all" if len(names) == len(given) else "; ".join(names)


def _rows(listing: Listing) -> list[list[str]]:
    return [[_shown(value) for value in row] for row in listing.table.rows()]


def _shown(value: Any) -> str:
    if value is None:
        return "\u2013"
    return number(value, 4) if isinstance(value, float) else str(value)


def _charts(figure: Figure) -> Iterator[tuple[str, str]]:
    """Yield title and picture of each chart."""
    charts = [chart for row in figure.charts for chart in row]
    for place, chart in enumerate(charts):
        yield chart.title, chart_markup(f"{figure.identifier}-{place}", chart, charts)
