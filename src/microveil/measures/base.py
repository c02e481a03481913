"""What a measure is to assess, compare, report and docs, and how what it found is shown."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import Any, TypeVar

from microveil.measures.values import plain
from microveil.text import listed, shortened
from microveil.text.document import Block, Paragraph, heading, paragraph, tabulated
from microveil.text.figures import figure, figures_to

INTERVAL = "95 % interval"
T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Takes:
    """What a measure's function is given of both tables: float64, NaN where missing."""

    # Of `Tables`, the arguments, None where there is nothing to measure; of each attribute its name
    # and the arguments.
    give: Callable[[Any], Any]
    of_each: bool = False
    fits: Callable[[Any], bool] = lambda _tables: True  # else the measure is left out


def _has_numbers(tables: Any) -> bool:
    return bool(tables.names)


# Two matrices (n_records, n_attributes), and of complete records, without NaN.
NUMBERS = Takes(lambda own: (own.original, own.protected), fits=_has_numbers)
COMPLETE = Takes(lambda own: own.complete if len(own.complete[0]) else None, fits=_has_numbers)
# For each attribute of numbers, or with ranks, two arrays (n_records,).
NUMBER = Takes(lambda own: own.each_number(), of_each=True, fits=_has_numbers)
RANKED = Takes(lambda own: chain(own.each_number(), own.ranks.items()), of_each=True)
# For each attribute of text two arrays of codes, and the categories they stand for.
TEXT = Takes(lambda own: own.texts.items(), of_each=True)
# Two dicts of columns of numbers and text by name; of the release alone one.
COLUMNS = Takes(lambda own: own.columns(own.compared))
RELEASE = Takes(lambda own: own.columns(own.compared)[1:])


class Better(StrEnum):
    """Which figures keep more of the original, or are safer."""

    LOWER = "lower"
    HIGHER = "higher"
    ZERO = "nearer to 0"
    UNCHANGED = "nearer to the original's"


class By(StrEnum):
    """What there is one figure of."""

    TABLE = "table"
    ATTRIBUTE = "attribute"
    PAIR = "pair of attributes"
    CLASS = "class"
    RULE = "rule"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """What a measure found."""

    value: float  # NaN where it is undefined
    interval: tuple[float, float] | None = None  # of 95 %, where there is one
    beside: float | None = None  # what chance would find, or the original's own figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Measures that are shown together."""

    title: str
    beside: str = "held against"  # what heads the figures that theirs are held against
    # Of what was found of them, blocks of a document, charts among them; by default
    # `figures`: tables with a figure, or an attribute, to a row.
    show: "Callable[[Sequence[Measured]], tuple[Block, ...]] | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """How a comparison of methods uses a measure: every run has its figure as a column."""

    on_frontier: bool = False  # a risk that a loss is held against, on Pareto frontiers and maps
    in_answer: bool = False  # whether the answer says what does best by it
    # Whether risks are held against it, in place of the information loss, where rows of some
    # method follow nobody: of those that do the last with a figure. Elsewhere it is left out.
    stands_for_loss: bool = False
    tabulated: bool = True  # in the report
    varies: bool = True  # from run to run, so that there is a mean with an interval
    seeded: bool = False  # each run has a seed of its own for it, also where nothing is drawn
    counted: bool = False  # a release may not allow it, so that the runs that have it are counted
    baseline: str | None = None  # the measure that it is drawn beside
    level: tuple[str, float] | None = None  # what one of its values stands for


# Of what belongs to no other group.
FURTHER = Group(title="Further measures")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A figure of utility or risk: how it is found, what it means and who may see it.

    Measures of the same function and the same part of the tables have it called once.

    Examples
    --------
    >>> import numpy as np
    >>> moved = Measure(
    ...     id="median_change",
    ...     label="change of the median",
    ...     explanation="0 = unchanged",
    ...     function=lambda before, after: np.nanmedian(after) - np.nanmedian(before),
    ...     takes=NUMBER,
    ...     needs_pairs=False,
    ...     by=By.ATTRIBUTE,
    ...     better=Better.ZERO,
    ...     lowest=-math.inf,
    ... )
    >>> moved.head, moved.is_public, moved.meaning
    ('change of the median', False, '0 = unchanged')
    """

    id: str  # its entry in `Assessment.to_dict`, and its column in a comparison
    label: str
    explanation: str  # how a figure is read, in a few words
    function: Callable[..., Any]
    takes: Takes  # what the function is given
    needs_pairs: bool  # the same order of records: where they are not, it is left out
    # Whether the function reads matrices a block of records, or a column, at a time: it may then
    # be given an `AttributeMatrix`.
    in_blocks: bool = False
    scale: str = ""  # what is counted, where the label does not say it
    short: str = ""  # what heads a narrow column; by default the label
    unit: str = ""  # of every figure: "%", or none
    lowest: float = 0.0  # what it cannot be beyond
    highest: float = math.inf
    better: Better = Better.LOWER
    custodian: bool = True  # a public one sees the release alone, and shows nothing beyond it
    by: By = By.TABLE  # what there is a figure of
    of_dates: Callable[[float | None], str] = figure  # writes one of an attribute of dates
    # Of what the function returned, a number or a `Figure`; where it returns those of several
    # attributes of numbers, an array; of several classes, rules or other attributes, a dict.
    figure: Callable[[Any], Any] = lambda result: result
    group: Group = FURTHER
    tabulated: bool = True  # whether tables of the assessment show it
    entry: str = ""  # where `Assessment.to_dict` has its result, once for several measures
    # Of the result and the names of the attributes of numbers, plain values for an entry.
    write: Callable[[Any, Sequence[str]], Any] = lambda found, _names: plain(found)
    asked_by: str = ""  # the argument that it is measured for; without one it always is
    arguments: tuple[str, ...] = ()  # that the function takes by name, with a default for each
    # None where comparisons do without it, but for those with a method whose rows follow nobody:
    # these take every figure of the table that needs neither pairs nor asking.
    compared: Compared | None = None

    def __post_init__(self) -> None:
        if not self.custodian and self.takes is not RELEASE:
            raise ValueError(f"measure {self.id}: what sees the original is the custodian's")
        use = self.compared
        if use is None:
            return
        if self.by not in {By.TABLE, By.CLASS}:
            raise ValueError(f"measure {self.id}: a comparison has one figure to a column")
        if use.on_frontier and (self.better is not Better.LOWER or self.lowest != 0):
            raise ValueError(f"measure {self.id}: a risk is 0 or more, and lower is better")
        if use.in_answer and self.better is Better.UNCHANGED:
            raise ValueError(f"measure {self.id}: the answer ranks by what has a best")
        is_loss = not self.needs_pairs and self.better is Better.LOWER and self.lowest == 0
        if use.stands_for_loss and not is_loss:
            raise ValueError(
                f"measure {self.id}: a loss without pairs is 0 or more, the less the better"
            )

    @property
    def use(self) -> Compared:
        """How a comparison uses it."""
        return self.compared or Compared()

    @property
    def is_public(self) -> bool:
        """Whether the page that goes with a release may show it."""
        return not self.custodian

    @property
    def head(self) -> str:
        """What heads a narrow column."""
        return self.short or self.label

    @property
    def title(self) -> str:
        """The label with its unit, as axes and wide columns have it."""
        return f"{self.label}, {self.unit}" if self.unit else self.label

    @property
    def meaning(self) -> str:
        """What is counted, and how it is read."""
        return "; ".join(part for part in (self.scale, self.explanation) if part)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """A measure, and what it found."""

    measure: Measure
    # What its function returned; by attribute where it was called for each; None where there was
    # nothing to measure.
    result: Any
    names: tuple[str, ...]  # of the attributes of numbers
    dates: frozenset[str] = frozenset()  # which of them are days since 1970-01-01

    def __repr__(self) -> str:
        """Name the measure without its figures: notebooks print it."""
        return f"Measured({self.measure.id})"

    @property
    def figure(self) -> Figure | None:
        """The figure of the table; None where there was nothing to measure."""
        return None if self.result is None else _as_figure(self.measure.figure(self.result))

    @property
    def value(self) -> float | None:
        """The figure as a number, None where it is undefined."""
        return None if self.figure is None else plain(self.figure.value)

    @property
    def figures(self) -> Mapping[str, Figure]:
        """The figures by attribute or class."""
        if self.result is None:
            return {}
        if self.measure.takes.of_each:
            found = {name: self.measure.figure(part) for name, part in self.result.items()}
        else:
            found = self.measure.figure(self.result)
        if not isinstance(found, Mapping):
            found = dict(zip(self.names, found, strict=True))
        return {name: _as_figure(figure) for name, figure in found.items()}

    def written(self) -> Any:
        """Return what was found as JSON knows it; what is undefined is None."""
        if self.measure.entry:
            return self.measure.write(self.result, self.names)
        if self.measure.by is By.TABLE:
            return self.value
        return {name: plain(found.value) for name, found in self.figures.items()}


def _as_figure(found: Any) -> Figure:
    return found if isinstance(found, Figure) else Figure(value=float(found))


def result_in(found: Iterable[Measured], kind: type[T]) -> T | None:
    """Return the result of a kind among what was measured, None where there is none."""
    return next((one.result for one in found if isinstance(one.result, kind)), None)


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
        written = [one.measure.of_dates if name in one.dates else figure for name in names]
        head = one.measure.head
        values = [write(each.value) for write, each in zip(written, own, strict=True)]
        beside = [write(each.beside) for write, each in zip(written, own, strict=True)]
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
