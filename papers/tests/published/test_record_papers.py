"""Reproduced papers, held to their record."""

import pytest

from record.keeping import Record, difference, texts_of
from record_papers import RECORD, cases

pytestmark = [pytest.mark.reference, pytest.mark.slow]


def test_the_papers_come_out_as_they_did():
    """No table of a reproduced paper changes unless the record says so."""
    found = difference(Record.read(RECORD), "papers", texts_of(cases()), target="record-papers")
    if found:
        pytest.fail(found, pytrace=False)
