"""What each format keeps of a column, as the docs have it."""

import pytest

from microveil.files import FORMATS, written_formats
from round_trips import COLUMNS, LABELS, fate, fate_of_labels

FLOATS = ["sav", "zsav", "dta"]
TYPED = ["parquet", "arrow"]
LOST_IN_EXCEL = {
    "decimal numbers of 17 digits": "to 16 digits",
    "whole numbers beyond 2^53, to the limits of 64 bits": "refused",
    "whole numbers beyond 2^63": "refused",
    "the largest and the smallest decimal numbers": "refused",
    "dates before 1900": "refused",
    "moments, some missing": "refused",
    "whole numbers of 8 bits": "as whole numbers of 64 bits",
    "decimal numbers, all of them whole": "as whole numbers of 64 bits",
    "decimal numbers of 32 bits": "as decimal numbers of 64 bits",
    "database decimals": "as decimal numbers of 64 bits",
    "empty text": "as missing",
    "text that looks like whole numbers": "as whole numbers of 64 bits",
    "categories with a list": "as text",
    "categories without a list": "as text",
    "a column without values": "as text",
}
LOST_IN_FLOATS = {
    "whole numbers beyond 2^53, to the limits of 64 bits": "refused",
    "whole numbers beyond 2^63": "refused",
    "the largest and the smallest decimal numbers": "refused",
    "whole numbers of 8 bits": "as whole numbers of 64 bits",
    "decimal numbers of 32 bits": "as decimal numbers of 64 bits",
    "database decimals": "as decimal numbers of 64 bits",
    "yes and no, one missing": "as whole numbers of 64 bits",
    "empty text": "as missing",
    "categories with a list": "as text",
    "categories without a list": "as text",
    "a column without values": "kept",
}
LOST_IN_SQLITE = {
    "whole numbers beyond 2^63": "refused",
    "whole numbers of 8 bits": "as whole numbers of 64 bits",
    "the largest and the smallest decimal numbers": "without the sign of 0",
    "decimal numbers of 32 bits": "as decimal numbers of 64 bits",
    "database decimals": "as decimal numbers of 64 bits",
    "categories with a list": "as text",
    "categories without a list": "as text",
}
TRIMMED = "text with separators, quotes, line ends and letters of any script"
TEXT = [name for name, form in FORMATS.items() if form.is_text]


def plain_first(names):
    """Leave compressed formats to the slow tests: unpacked they are the plain ones, to the byte."""
    marks = {True: pytest.mark.slow, False: ()}
    packed = {name: FORMATS[name].compression is not None for name in names}
    return [pytest.param(name, marks=marks[packed[name]]) for name in names]


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


@pytest.mark.parametrize("name", plain_first(TEXT))
@pytest.mark.parametrize("shown", COLUMNS)
def test_a_format_of_text_loses_what_the_docs_say_and_nothing_else(name, shown):
    """What is lost is the type, or what no cell of text can be told from."""
    assert fate(COLUMNS[shown], FORMATS[name]) == LOST_IN_TEXT.get(shown, "kept")


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("shown", COLUMNS)
def test_a_format_of_floats_loses_what_the_docs_say_and_nothing_else(name, shown):
    """A number that it cannot hold to the last bit is refused, never changed."""
    lost = LOST_IN_FLOATS | ({} if name == "dta" else {TRIMMED: "without spaces at the end"})
    assert fate(COLUMNS[shown], FORMATS[name]) == lost.get(shown, "kept")


@pytest.mark.parametrize("name", plain_first(written_formats()))
@pytest.mark.parametrize("shown", LABELS)
def test_labels_are_kept_in_the_file_or_beside_it(name, shown):
    """In whatever format a release is written, its labels come back."""
    _, labels = LABELS[shown]
    wanted = "kept" if labels.parts <= FORMATS[name].carries.labels.keys() else "in schema.json"
    assert fate_of_labels(*LABELS[shown], FORMATS[name]) == wanted


@pytest.mark.parametrize("shown", COLUMNS)
def test_excel_loses_what_the_docs_say_and_nothing_else(shown):
    """A number or a date that a sheet cannot hold is refused, never changed."""
    assert fate(COLUMNS[shown], FORMATS["xlsx"]) == LOST_IN_EXCEL.get(shown, "kept")


@pytest.mark.parametrize("shown", COLUMNS)
def test_sqlite_loses_what_the_docs_say_and_nothing_else(shown):
    """Declared types bring back what its storage has no place for: truth values, dates, moments."""
    assert fate(COLUMNS[shown], FORMATS["sqlite"]) == LOST_IN_SQLITE.get(shown, "kept")
