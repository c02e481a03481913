"""What measures found as blocks of a document, for groups that do not `show` it in their way."""

import math
from collections.abc import Iterable, Sequence

from microveil.measures.base import Better, By, Figure, Group, Measured
from microveil.text import listed, shortened
from microveil.text.document import Block, Paragraph, heading, paragraph, tabulated
from microveil.text.figures import figure, figures_to

INTERVAL = "95 % interval"


def part_of(group: Group, found: Sequence[Measured]) -> tuple[Block, ...]:
    """Show what was found of a group under its title; nothing where nothing was found."""
    blocks = (group.show or figures)(found)
    return (heading(2, group.title), *blocks) if blocks else ()


def figures(found: Sequence[Measured], intro: str = "") -> tuple[Block, ...]:
    """Show figures, after a sentence, as tables: of the table, then by attribute, class or rule."""
    blocks = _of_table([one for one in found if one.measure.by is By.TABLE])
    for by in (By.ATTRIBUTE, By.CLASS, By.RULE):
        blocks += _keyed([one for one in found if one.measure.by is by and one.figures])
    if intro and blocks and isinstance(blocks[0], Paragraph):
        return paragraph(f"{intro} ", *blocks[0].text), *blocks[1:]
    return (paragraph(intro), *blocks) if intro else blocks


def _of_table(found: Sequence[Measured]) -> tuple[Block, ...]:
    """Tabulate figures of the whole table: interval, what each is held against, what it means."""
    taken = [(one.measure, one.figure) for one in found if one.figure is not None]
    if not taken:
        return ()
    has_interval, has_beside = _has(own for _, own in taken)
    means_the_same = len(taken) > 1 and len({measure.meaning for measure, _ in taken}) == 1
    heads = ["measure", "figure"]
    heads += [INTERVAL] if has_interval else []
    heads += [_beside(found[0])] if has_beside else []
    heads += [] if means_the_same else ["what it means"]
    rows = []
    for measure, own in taken:
        is_defined = math.isfinite(own.value)
        cells = [measure.label, f"{figure(own.value)}{f' {measure.unit}' * is_defined}".rstrip()]
        cells += [figures_to(own.interval)] if has_interval else []
        cells += [figure(own.beside)] if has_beside else []
        rows.append([*cells, *([] if means_the_same else [measure.meaning])])
    table = tabulated(heads, rows)
    return (paragraph(_sentence(taken[0][0].meaning)), table) if means_the_same else (table,)


def _keyed(found: Sequence[Measured]) -> tuple[Block, ...]:
    """Tabulate figures by attribute, class or rule, one to a row, and say what they mean."""
    if not found:
        return ()
    names = _worst_first(found)
    heads, columns = [str(found[0].measure.by)], [list(map(shortened, names))]
    for one in found:
        own = [one.figures.get(name, Figure(value=math.nan)) for name in names]
        has_interval, has_beside = _has(own)
        head, values = one.measure.head, [figure(each.value) for each in own]
        beside = [figure(each.beside) for each in own]
        if has_beside and one.measure.better is Better.UNCHANGED:
            heads, columns = [*heads, f"{head} before", "after"], [*columns, beside, values]
        else:
            heads, columns = [*heads, head], [*columns, values]
        if has_interval:
            heads, columns = [*heads, INTERVAL], [*columns, [figures_to(e.interval) for e in own]]
        if has_beside and one.measure.better is not Better.UNCHANGED:
            heads, columns = [*heads, _beside(one)], [*columns, beside]
    return paragraph(_meanings(found)), tabulated(heads, zip(*columns, strict=True))


def _has(figures: Iterable[Figure]) -> tuple[bool, bool]:
    """Say whether any figure has an interval, and whether any has what it is held against."""
    known = [(each.interval is not None, each.beside is not None) for each in figures]
    return any(interval for interval, _ in known), any(beside for _, beside in known)


def _beside(found: Measured) -> str:
    return "before" if found.measure.better is Better.UNCHANGED else found.measure.group.beside


def _worst_first(found: Sequence[Measured]) -> list[str]:
    """Name attributes, the worst first where a figure is on one scale; else in their order."""
    names = list(dict.fromkeys(name for one in found for name in one.figures))
    ranked = [
        one
        for one in found
        if one.measure.by is By.ATTRIBUTE
        and math.isfinite(one.measure.highest)
        and one.measure.better is not Better.UNCHANGED
    ]
    if not ranked:
        return names
    most = max(ranked, key=lambda one: len(one.figures))
    sign = -1 if most.measure.better is Better.HIGHER else 1

    def badness(name: str) -> float:
        value = most.figures[name].value if name in most.figures else math.nan
        return -math.inf if math.isnan(value) else sign * value

    return sorted(names, key=badness, reverse=True)


def _meanings(found: Sequence[Measured]) -> str:
    """Say what the columns are and mean, those that mean the same together."""
    by_meaning: dict[str, list[str]] = {}
    for one in found:
        head, label = one.measure.head, one.measure.title
        named = head if head == label else f"{head} ({label})"
        by_meaning.setdefault(one.measure.meaning, []).append(named)
    if len(by_meaning) == 1 and all(one.measure.head == one.measure.title for one in found):
        return _sentence(next(iter(by_meaning)))
    return _sentence(
        "; ".join(f"{listed(heads)}: {meaning}" for meaning, heads in by_meaning.items())
    )


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."
