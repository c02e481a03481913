"""The methods by what a user would choose first: what is released, and what is promised of it."""

from microveil.methods import METHODS, Method
from microveil.text.document import Block, Document, heading, tabulated

PURPOSES = (
    "A new table, in which no row is a person's: an epsilon for everything in it",
    "Every person's row, each value drawn: an epsilon for the rows too",
    "Every person's row, in groups of k with noise: an epsilon for what groups show",
    "Every person's row, as means of groups of k: no epsilon",
    "Every person's row, drawn within groups of k: no formal promise",
)


def methods_listed() -> Document:
    """List the methods, those that are chosen first before the others."""
    by_purpose: dict[int, list[Method]] = {}
    for method in METHODS.values():
        by_purpose.setdefault(_purpose(method), []).append(method)
    blocks: list[Block] = []
    for purpose in sorted(by_purpose):
        rows = ((method.id, _in_words(method)) for method in by_purpose[purpose])
        heads = ("method", "what it is, needs and offers")
        blocks += [heading(2, PURPOSES[purpose]), tabulated(heads, rows)]
    return Document(tuple(blocks))


def _purpose(method: Method) -> int:
    if "new table" in method.can:
        return 0
    if "epsilon" in method.needs:
        return 2 if "k" in method.needs else 1
    return 3 if method.randomness is None else 4


def _in_words(method: Method) -> str:
    entry = method.to_dict()
    least = f" ({entry['smallest_k']} or more)" if method.smallest_k > 1 else ""
    needs = ", ".join(f"{name}{least if name == 'k' else ''}" for name in entry["needs"])
    offers = (
        f"{name} ({', '.join(values)})" if values else name
        for name, values in entry["offers"].items()
    )
    offered = "; ".join(offers)
    return (
        f"{method.title}. Needs {needs or 'nothing'}."
        f"{f' Offers {offered}.' if offered else ''} Source: {method.source}."
    )
