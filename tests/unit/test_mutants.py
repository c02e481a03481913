"""The mutants of the core: each is still there to be made, and has tests to notice it."""

import re

import pytest

from mutants import ROOT, read

MUTANTS = read()


def test_none_was_taken_out():
    """Fixed ones: the same places are broken after each rewriting, and those that came with it."""
    assert len(MUTANTS) == 89


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_can_be_made_and_has_tests(name):
    """Its text stands in its file once, and is replaced by another; its tests are there."""
    mutant = MUTANTS[name]
    assert set(mutant) == {"place", "claim", "file", "find", "replace", "tests"}
    source = (ROOT / "src" / mutant["file"]).read_text("utf-8")
    assert source.count(mutant["find"]) == 1
    assert mutant["find"] != mutant["replace"]
    assert mutant["tests"]
    for test in mutant["tests"]:
        path, _, function = test.partition("::")
        assert re.search(rf"^def {function}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE)
