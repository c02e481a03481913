"""Figures, names and cells as people read them."""

import math

import pytest

from microveil.measures.values import plain
from microveil.text import enumerated, listed, one_line, readable, shortened, typed, wrapped
from microveil.text.aligned import lines_of_heads
from microveil.text.document import Document, heading, tabulated
from microveil.text.figures import figure, figures_to, signed_percent
from microveil.text.notebook import as_html


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.123456, "0.123"),
        (40068.6, "40,069"),
        (3.83e10, "3.83e10"),
        (12_345_678, "12,345,678"),
        (math.nan, "-"),
        (None, "-"),
    ],
)
def test_a_figure_has_three_digits_and_a_count_all(value, written):
    """Digits before the decimal mark are all written."""
    assert figure(value) == written


def test_intervals_and_changes_are_written_by_their_figures():
    """What is not there is a dash."""
    assert (figures_to((0.25, 12.3456)), figures_to(None)) == ("0.25 to 12.3", "-")
    assert (signed_percent(-0.0123), signed_percent(math.nan)) == ("-1.23 %", "-")


def test_text_of_a_table_does_nothing_where_it_is_shown():
    """Controls, marks that turn the direction of text, and lines of its own."""
    assert readable("AGE\u202e\x00\n") == "AGE\ufffd\ufffd "
    assert one_line("AGE\n\n# of people") == "AGE # of people"
    assert listed(["AGE\n# of people", "SEX"]) == "AGE # of people, SEX"
    assert enumerated(["bounds", "sizes", "labels"]) == "bounds, sizes and labels"
    assert shortened("AGE OF THE PERSON", 8) == "AGE OF \u2026"


def test_a_command_is_typed_as_its_shell_takes_it(monkeypatch):
    """Names of two words stand in the quotes of the system."""
    monkeypatch.setattr("os.name", "posix")
    assert typed(["microveil", "inspect", "my people.csv"]) == "microveil inspect 'my people.csv'"
    monkeypatch.setattr("os.name", "nt")
    assert typed(["microveil", "my people.csv"]) == 'microveil "my people.csv"'


def test_without_a_terminal_heads_and_sentences_are_one_line():
    """A file has no width."""
    assert lines_of_heads(["a", "mean before"], [["AGE", "31"]]) == [("a", "mean before")]
    assert wrapped("Nothing moved.", "  ") == "  Nothing moved."


def test_a_document_is_written_for_a_terminal_and_for_a_notebook():
    """A heading stands directly above what it heads; tags in names are no tags."""
    errors = tabulated(["attribute", "bias"], [["AGE", "0.25"]])
    lines = ["Errors", "  attribute  bias", "  AGE        0.25", ""]
    assert Document((heading(2, "Errors"), errors)).to_text() == "\n".join(lines)
    shown = as_html([heading(1, "<b>"), tabulated(["k"], [["5"]])], "<svg></svg>")
    table = "<table><tr><th>k</th></tr><tr><td>5</td></tr></table>"
    assert shown == f"<p><strong>&lt;b&gt;</strong></p><svg></svg>{table}"


def test_values_of_measures_are_plain_for_json():
    """What is undefined is None, at any depth."""
    assert plain({"AGE": (1.5, math.nan)}) == {"AGE": [1.5, None]}
