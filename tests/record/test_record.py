"""The house does what the record says that it does, and the record notices what it does not."""

import numpy as np
import pytest

from record.canonical import digest, text_of
from record.keeping import Case, Record, difference, digests_of, texts_of
from record.sections import RECORD, SECTIONS

IS_REPORTED = IS_DRAWN = True  # the record has what everybody is shown

CASES = {"a release": {"data": "1\n", "notes": "Rows."}, "an error": {"refused": "k: too large."}}


@pytest.mark.record
@pytest.mark.parametrize("section", SECTIONS)
def test_the_house_does_what_it_did(section):
    """No release, guarantee, figure, message or help changes unless the record says so."""
    found = difference(Record.read(RECORD), section, texts_of(SECTIONS[section]()))
    if found:
        pytest.fail(found, pytrace=False)


def test_releases_hold_the_data_that_they_held_before_the_rebuilding():
    """A rebuilt house draws the same cells from the same randomness, whatever it says of them."""
    frozen, now = (
        {case: parts["data"] for case, parts in own.sections["releases"].items() if "data" in parts}
        for own in (Record.read(RECORD.with_name("record-11.json")), Record.read(RECORD))
    )
    assert len(frozen) > 350
    assert {case: now.get(case) for case in frozen} == frozen


@pytest.fixture
def kept(tmp_path):
    """A record of two cases, written and read again."""
    path = tmp_path / "record.json"
    Record.of({"some": CASES}).write(path)
    return Record.read(path)


def test_a_record_is_read_as_it_was_written(kept):
    """Nothing differs from itself; each case has a line, a refusal its message."""
    assert difference(kept, "some", CASES) == ""
    assert kept.sections["some"] == digests_of(CASES)
    assert kept.sections["some"]["an error"]["refused"] == "k: too large."


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        (CASES | {"a release": {"data": "1\n", "notes": "Row."}}, "a release: notes"),
        (CASES | {"a release": {"data": "1\n"}}, "a release: notes"),
        (CASES | {"an error": {"data": "1\n"}}, "an error: refused, data"),
        (CASES | {"a third": {"data": "1\n"}}, "a third: not in the record"),
        ({"a release": CASES["a release"]}, "an error: in the record, and no case any more"),
    ],
)
def test_whatever_differs_is_named_and_alone(kept, changed, named):
    """A word, a part or a case that differs, comes or goes: its line, and how to look."""
    found = difference(kept, "some", changed).splitlines()
    assert found[0].startswith("1 cases of 'some'")
    assert found[1].strip() == named
    assert "make record TEXTS=FOLDER" in found[3]


def test_other_versions_are_reported(kept):
    """A record made with another version of a library says so where something differs."""
    made_with = {**kept.made_with, "typer": "0.0.1"}
    found = difference(Record(made_with=made_with, sections=kept.sections), "some", {})
    assert "made with typer 0.0.1" in found
    assert "numpy" not in found


def test_digits_that_hang_on_the_processor_do_not_enter():
    """The 13th significant digit of a number is no difference, the 12th is one."""
    figure = 1 / 3
    same, other = (digest(text_of({"x": [figure * (1 + part)]})) for part in (1e-14, 1e-11))
    assert digest(text_of({"x": np.array([figure])})) == same != other


def test_a_case_without_a_seed_repeats():
    """What the operating system gives as random is known within a case."""
    import microveil as mv

    ages = {"AGE": np.arange(40)}
    request = {"method": "laplace", "epsilon": 1, "bounds": {"AGE": (0, 50)}, "attributes": "AGE"}
    case = Case(name="laplace", parts=lambda: {"data": mv.protect(ages, **request).data["AGE"]})
    assert case.texts() == case.texts()
