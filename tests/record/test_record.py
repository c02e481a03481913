"""The house does what the record says that it does."""

import pytest

from record.keeping import Record, difference, texts_of
from record.sections import RECORD, SECTIONS

pytestmark = pytest.mark.record


@pytest.mark.parametrize("section", SECTIONS)
def test_the_house_does_what_it_did(section):
    """No release, guarantee, message or text changes unless the record says so."""
    found = difference(Record.read(RECORD), section, texts_of(SECTIONS[section]()))
    if found:
        pytest.fail(found, pytrace=False)
