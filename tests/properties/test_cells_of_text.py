"""What a cell of a file of text counts as: the fast rule against one in plain Python."""

import datetime
import itertools
import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microveil.noise.counts import NoisyCounts, gaussian_noise
from microveil.schema import EPOCH, Kind
from microveil.synthesis.kinds import kind_shown
from microveil.table.missing import WORDS
from microveil.table.untyped import CELLS, KINDS, Spelling, kinds_of_cells, values_of_cells

PLAIN = Spelling()
GERMAN = Spelling(decimal=",", thousands=r"\.", dates="DMY")
SWISS = Spelling(thousands="['\N{RIGHT SINGLE QUOTATION MARK}]", dates="YMD")
MARKS = {PLAIN: "", GERMAN: ".", SWISS: "'\N{RIGHT SINGLE QUOTATION MARK}"}
DIGITS = set("0123456789")


def digits(text):
    return bool(text) and set(text) <= DIGITS


def plainly(text):
    """Digits without a zero in front."""
    return digits(text) and (text == "0" or text[0] != "0")


def ungrouped(text, marks, most):
    """A number without what separates its thousands; None where it is not written so."""
    if plainly(text):
        return text
    for mark in marks:
        text = text.replace(mark, "\0")
    first, *groups = text.split("\0")
    fits = plainly(first) and first != "0" and len(first) <= 3 and 1 <= len(groups) <= most
    return (
        first + "".join(groups) if fits and all(digits(g) and len(g) == 3 for g in groups) else None
    )


def whole(cell, spelling):
    """The whole number that a cell is, or None."""
    sign, bare = (-1, cell[1:]) if cell.startswith("-") else (1, cell)
    read = ungrouped(bare, MARKS[spelling], 4)
    if read is None or (digits(bare) and len(bare) > 16):
        return None
    return sign * int(read)


def decimal(cell, spelling):
    """The number with a decimal mark or an exponent that a cell is, or None."""
    sign, bare = ("-", cell[1:]) if cell.startswith("-") else ("", cell)
    bare, e, exponent = bare.replace("E", "e").partition("e")
    if e and not digits(exponent[1:] if exponent[:1] in ("+", "-") and exponent else exponent):
        return None
    before, mark, after = bare.partition(spelling.decimal)
    read = ungrouped(before, MARKS[spelling], 99) if before else ""
    if not (mark or e) or read is None or (after and not digits(after)) or not (before or after):
        return None
    number = float(f"{sign}{read or '0'}.{after or '0'}e{exponent or '0'}")
    return number if math.isfinite(number) else None


def day(cell, spelling):
    """The day that a cell is, or None."""
    ways = [("-", "YMD", (4, 2, 2), (4, 2, 2))]
    sizes = {"D": (1, 2), "M": (1, 2), "Y": (4, 4)}
    for mark in "./-" if spelling.dates else "":
        least, most = zip(*(sizes[letter] for letter in spelling.dates), strict=True)
        ways.append((mark, spelling.dates, least, most))
    for mark, order, least, most in ways:
        parts = cell.split(mark)
        if len(parts) != 3 or not all(map(digits, parts)):
            continue
        if all(a <= len(p) <= b for a, p, b in zip(least, parts, most, strict=True)):
            named = dict(zip(order, map(int, parts), strict=True))
            try:
                return (datetime.date(named["Y"], named["M"], named["D"]) - EPOCH).days
            except ValueError:
                return None
    return None


def oracle(cell, spelling, missing=()):
    """What a cell counts as, and its value."""
    bare = "" if cell is None else cell.strip(" \t")
    number = whole(bare, spelling)
    kind = Kind.WHOLE if number is not None else Kind.DECIMAL
    number = decimal(bare, spelling) if number is None else number
    codes = [
        float(c) for c in missing if whole(c, PLAIN) is not None or decimal(c, PLAIN) is not None
    ]
    if not bare or bare in missing or (number is not None and number in codes):
        return "empty", None
    if number is not None:
        return kind, float(number)
    if day(bare, spelling) is not None:
        return Kind.DATE, day(bare, spelling)
    if bare in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return Kind.BOOLEAN, int(bare.lower() == "true")
    return ("word for nothing" if bare.lower() in WORDS else Kind.OTHER), None


BARS = (
    "0|-0|00|007|-007|+5|5.|.5|-.5|.|-|1.5e3|1,5E-3|1e5|1e|e5|1e400|1e-400|12E3|00.5|0.50|1.2.3|"
    "1_000|inf|NaN|nan|NA|n/a|?|--|refused|1.234|1.234,5|1.234.567|1'234|0.123|12.34.567|"
    "1.234.567.890.123|1.234.567.890.123.456|2020-02-29|2021-02-29|0000-01-01|0001-01-01|"
    "9999-12-31|2020-1-5|5.1.2020|05/01/2020|5-1-2020|2020/01/05|5.1/2020|1.1.20|31.02.2020|true|"
    "TRUE|tRUE|False|yes|0x10|1e+5|-1e5|- 5|-9|-9.0|9,0|text"
)
HARD = [None, "", " ", "\t", "1\n", " 5", "5 ", "\N{ARABIC-INDIC DIGIT ONE}", "\N{KELVIN SIGN}. a.",
        "1\N{RIGHT SINGLE QUOTATION MARK}234", "1\N{NO-BREAK SPACE}000", "Wei\xdf nicht", "9" * 16,
        "9" * 17, "1" + "0" * 40 + ".5", *BARS.split("|")]  # fmt: skip
SIGNS = st.text(alphabet="0123456789.,-+eE'/ \ttrufalsNA", max_size=12)


@pytest.mark.parametrize("spelling", [PLAIN, GERMAN, SWISS], ids=["plain", "german", "swiss"])
@given(st.lists(st.one_of(SIGNS, st.sampled_from(HARD)), max_size=30),
       st.sampled_from([[], ["-9"], ["-9", "x", "0", "5.1.2020"]]))  # fmt: skip
def test_every_cell_counts_as_the_plain_rule_says(spelling, cells, missing):
    """Kind and value, cell by cell, however they are spelt."""
    cells = [*cells, *HARD]
    column = pl.Series(cells, dtype=pl.String)
    found = kinds_of_cells(column, spelling, missing)
    due = [oracle(cell, spelling, missing) for cell in cells]
    assert [CELLS[one] for one in found] == [kind for kind, _ in due]
    for kind in (Kind.WHOLE, Kind.DECIMAL, Kind.DATE, Kind.BOOLEAN):
        fits = {Kind.WHOLE, Kind.DECIMAL} if kind in (Kind.WHOLE, Kind.DECIMAL) else {kind}
        numbers = values_of_cells(column, found, kind, spelling)
        absent = [False] * len(cells) if numbers.missing is None else numbers.missing.tolist()
        assert absent == [own not in fits for own, _ in due]
        values = [v for v, gone in zip(numbers.values.tolist(), absent, strict=True) if not gone]
        assert values == [value for own, value in due if own in fits]


@given(st.lists(st.sampled_from(HARD), min_size=2, max_size=9), st.data())
def test_one_record_moves_two_counts_by_one_and_no_other_cell(cells, data):
    """So the histogram costs what a table of counts does: the squares add up to 2 at most."""
    at = data.draw(st.integers(0, len(cells) - 1))
    other = [*cells[:at], data.draw(st.sampled_from(HARD)), *cells[at + 1 :]]
    columns = [pl.Series(one, dtype=pl.String) for one in (cells, other)]
    kinds = [kinds_of_cells(column, PLAIN) for column in columns]
    counts = [np.bincount(own, minlength=len(CELLS)) for own in kinds]
    assert ((counts[0] - counts[1]) ** 2).sum() in (0, 2)
    rest = np.arange(len(cells)) != at
    assert (kinds[0][rest] == kinds[1][rest]).all()
    for kind in KINDS[:-1]:
        read = [values_of_cells(*pair, kind, PLAIN) for pair in zip(columns, kinds, strict=True)]
        assert (read[0].values[rest] == read[1].values[rest]).all()


def least_general(there, largest):
    """The kind by its definition: of all that hold every kind that is there, the first."""
    there = there | ({largest} if largest else set())
    if not there or Kind.OTHER in there or len(there - {Kind.WHOLE, Kind.DECIMAL}) > 1:
        return Kind.OTHER
    numbers, others = there & {Kind.WHOLE, Kind.DECIMAL}, there - {Kind.WHOLE, Kind.DECIMAL}
    if numbers and others:
        return Kind.OTHER
    return Kind.DECIMAL if Kind.DECIMAL in numbers else Kind.WHOLE if numbers else others.pop()


def test_the_kind_is_the_least_general_beyond_which_nothing_stands_out():
    """Of every table of counts that stand out, hardly do, or are noise: noise of deviation 10."""
    noise = gaussian_noise(Fraction(1, 100))
    for counts in itertools.product((-35, 29, 30, 39, 40, 900), repeat=len(KINDS)):
        steps = np.array([500, 500, *counts])  # empty cells, and words for nothing, say nothing
        own = dict(zip(KINDS, counts, strict=True))
        there = {kind for kind, count in own.items() if count >= 40}
        largest = max(own, key=own.get) if max(counts) >= 30 else None
        assert kind_shown(NoisyCounts(steps=steps, noise=noise)) == least_general(there, largest)


def test_bounds_of_numbers_leave_numbers_alone():
    """What is no number is missing, however many cells hold it."""
    noise = gaussian_noise(Fraction(1, 100))
    kinds = (Kind.WHOLE, Kind.DECIMAL)
    for counts, due in (
        ([0, 0, 90, 5, 0, 0, 10**6], Kind.WHOLE),
        ([0, 0, 90, 50, 10**6, 0, 0], Kind.DECIMAL),
        ([0, 0, 2, 5, 0, 0, 10**6], Kind.DECIMAL),
    ):
        assert kind_shown(NoisyCounts(steps=np.array(counts), noise=noise), kinds) == due
