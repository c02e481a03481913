"""What the page of a reproduction says that its epsilons take as given, against what they do."""

import html
import re
from dataclasses import replace

import microveil as mv
from microveil.guarantee import EVERY_SCOPE, Condition
from microveil.guarantee.condition import condition_of
from microveil_papers.page import reproduction_page

KNOWN = (
    condition_of("noise-scales"), condition_of("rank-boundaries"), condition_of("cluster-sizes"),
    condition_of("bounds", names=["X"]), condition_of("resolution", names=["X"]),
    condition_of("columns-chosen"), condition_of("parameters-chosen"),
    condition_of("missing-cells"), condition_of("exact-cells"),
    condition_of("kept-columns", names=["X"]), condition_of("seeded"),
)  # fmt: skip


def rows_of(page, identifier):
    """The cells of a table as text, row by row; empty where there is no such table."""
    _, _, after = page.partition(f'id="{identifier}"')
    body = after.partition("<tbody>")[2].partition("</tbody>")[0]
    rows = [re.findall(r"<t[hd].*?</t[hd]>", row) for row in body.split("</tr>")]
    return [
        [html.unescape(re.sub(r"<[^>]+>", "", cell)) for cell in cells] for cells in rows if cells
    ]


def page_without_charts(paper, found):
    """The page with all of its words; drawing takes the most of its time."""
    figures = tuple(replace(figure, charts=()) for figure in found.figures)
    return reproduction_page(paper, replace(found, figures=figures), found.settings, ())


def check_conditions(page, held):
    """Check that a page shows the conditions of each method that spends an epsilon, and no other.

    Parameters
    ----------
    page : str
    held : dict of set of Condition
        By method with its steps.
    """
    rows = rows_of(page, "given-table")
    assert {row[0] for row in rows} == set(held)
    for name, _, _, shown in rows:
        clauses = {one.clause for one in held[name]}
        assert {re.sub(r" \(at .*? scope\)$", "", one) for one in shown.split("; ")} == (
            clauses or {"nothing"}
        ), name
        for one in held[name]:
            scopes = "" if set(one.scopes) == set(EVERY_SCOPE) else " and ".join(one.scopes)
            assert (f"{one.clause} (at {scopes} scope)" in shown) is bool(scopes)
    whole = {text: names for _, names, text in rows_of(page, "conditions-table")}
    texts = {one.text for conditions in held.values() for one in conditions}
    assert len(rows_of(page, "conditions-table")) == len(texts)
    assert set(whole) == texts
    for text, names in whole.items():
        holders = {name for name in held if text in {one.text for one in held[name]}}
        assert (set(held) if names == "all" else {*names.split("; ")}) == holders
    clauses = {one.clause for conditions in held.values() for one in conditions}
    plain = html.unescape(page)
    for one in KNOWN:
        assert one.clause in clauses or one.clause not in plain, one.id


def conditions_compared(monkeypatch):
    """Gather the conditions of all rows that comparisons yield, by method with steps."""
    held, carry_out = {}, mv.compare

    def compare(*args, **asked):
        found = carry_out(*args, **asked)
        for row in found.table.drop_nulls("epsilon").to_dicts():
            name = ":".join(filter(None, [row["method"], row["steps"]]))
            held.setdefault(name, set()).update(map(Condition.from_dict, row["conditions"]))
        return found

    monkeypatch.setattr(mv, "compare", compare)
    return held
