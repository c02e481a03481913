"""The claims of promises.toml: each names tests that exist, and every promise has a claim."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

import microveil as mv

ROOT = Path(__file__).parent.parent
PROMISES = tomllib.loads((ROOT / "tests" / "promises.toml").read_text())["promise"]
CLAIMS = " ".join(promise["claim"] for promise in PROMISES)


@cache
def defined_in(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise["claim"][:60])
def test_every_claim_is_held_by_tests_that_exist(promise):
    """A test can only be renamed or deleted together with its claim."""
    assert promise["tests"]
    for test in promise["tests"]:
        path, name = test.split("::")
        assert name in defined_in(path), test


def test_every_method_that_spends_epsilon_has_a_claim():
    """A method cannot promise an epsilon without naming the test that holds it."""
    spending = {method["id"] for method in mv.methods() if "epsilon" in method["needs"]}
    assert len(spending) >= 9
    assert {name for name in spending if name not in CLAIMS} == set()


def test_every_condition_has_a_claim():
    """A condition of the page on the privacy promise names the test that holds it."""
    page = (ROOT / "docs" / "privacy-promise.md").read_text()
    listed = page.partition("made by make docs: conditions")[2].partition("<!-- made -->")[0]
    conditions = re.findall(r"^\|`([a-z-]+)`", listed, re.MULTILINE)
    assert len(conditions) >= 13
    assert {one for one in conditions if not re.search(rf"\b{one}\b", CLAIMS)} == set()
