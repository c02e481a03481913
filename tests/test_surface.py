"""Whatever a user can name has a test that holds it, and goes only if a page for users says so."""

import pytest

from surface import HERE, has_test, listed, of_the_code

LISTED = listed()


def test_the_code_has_what_is_listed_and_nothing_else():
    """Names, attributes, arguments, flags, methods, engines and formats stand in surface.json."""
    assert sorted(of_the_code() - {*LISTED["code"]}) == []
    assert sorted({*LISTED["code"]} - of_the_code()) == []


@pytest.mark.parametrize("part", ["code", "features"])
def test_whatever_is_listed_names_a_test_that_is_there(part):
    """By file and name."""
    assert {entry: test for entry, test in LISTED[part].items() if not has_test(test)} == {}


def test_a_test_that_is_not_there_is_seen():
    """Neither one of another name nor one of another file will do."""
    here = "tests/test_surface.py::test_a_test_that_is_not_there_is_seen"
    assert has_test(here)
    assert not has_test(f"{here}_")
    assert not has_test(here.replace("test_surface", "test_docs"))


def test_what_is_gone_is_told_to_users_and_no_longer_in_the_code():
    """An entry that is taken out names the words of the changelog or of Upgrading that say so."""
    pages = [HERE.parent / "CHANGELOG.md", HERE.parent / "docs" / "upgrading.md"]
    said = " ".join(word for page in pages for word in page.read_text("utf-8").split())
    assert [entry for entry, words in LISTED["gone"].items() if words not in said] == []
    assert not {*LISTED["gone"]} & {*LISTED["code"], *LISTED["features"]}


def test_no_line_went_without_a_word():
    """As many lines as were ever listed, a number that only grows, are there or among the gone."""
    assert sum(len(LISTED[part]) for part in ("code", "features", "gone")) == LISTED["ever"]
