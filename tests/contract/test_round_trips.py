"""What each format keeps of a column, as the docs have it."""

import pytest

from microveil.files import FORMATS
from round_trips import COLUMNS, fate

TYPED = [name for name, form in FORMATS.items() if not form.is_text]
TEXT = [name for name, form in FORMATS.items() if form.is_text]
LOST_IN_TEXT = {
    "whole numbers beyond 2^63": "refused",
    "whole numbers of 8 bits": "as whole numbers of 64 bits",
    "decimal numbers of 32 bits": "as decimal numbers of 64 bits",
    "database decimals": "as decimal numbers of 64 bits",
    "moments, some missing": "as text",
    "empty text": "as missing",
    "text that looks like whole numbers": "as whole numbers of 64 bits",
    "categories with a list": "as text",
    "categories without a list": "as text",
    "a column without values": "as text",
}


@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("shown", COLUMNS)
def test_a_typed_format_keeps_every_column(name, shown):
    """To the last bit, the type included."""
    assert fate(COLUMNS[shown], FORMATS[name]) == "kept"


@pytest.mark.parametrize("name", TEXT)
@pytest.mark.parametrize("shown", COLUMNS)
def test_a_format_of_text_loses_what_the_docs_say_and_nothing_else(name, shown):
    """What is lost is the type, or what no cell of text can be told from."""
    assert fate(COLUMNS[shown], FORMATS[name]) == LOST_IN_TEXT.get(shown, "kept")
