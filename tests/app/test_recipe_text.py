"""A recipe is the same in the page and in its file."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microveil.app.drafts import recipe_text
from microveil.app.pages import parsed_recipe
from microveil.errors import FileError

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
numbers = st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False))
entries = st.fixed_dictionaries(
    {"role": st.sampled_from(["confidential", "identifier"]), "type": st.just("whole number")},
    optional={"bounds": st.lists(numbers, min_size=2, max_size=2), "resolution": numbers},
)
OPENED = '# mine\nk = 5 # people\n[attributes."a.b"]\nrole = "identifier"\ntype = "text"\n'


@given(st.dictionaries(names, entries, max_size=4), st.integers(1, 99))
def test_a_recipe_that_is_written_is_read_as_it_was(attributes, k):
    """Whatever columns are called, the file says what the page says."""
    recipe = {"microveil": "0.2", "k": k, "attributes": attributes}
    assert tomllib.loads(recipe_text(recipe)) == recipe


def test_a_recipe_that_was_opened_and_not_changed_comes_back_letter_by_letter():
    """Comments and order are its owner's; once something is changed, all that it says stays."""
    opened = parsed_recipe("mine.toml", OPENED.encode())
    assert recipe_text(opened[1], opened) == OPENED
    changed = {**opened[1], "k": 6}
    assert tomllib.loads(recipe_text(changed, opened)) == changed


@pytest.mark.parametrize("text", [b"\xff\xfe", b"k =", b"= 5"])
def test_what_is_no_recipe_is_refused(text):
    """With the place and what to open instead, and none of what it holds."""
    with pytest.raises(FileError, match=r"mine\.toml: a recipe must be a TOML file"):
        parsed_recipe("mine.toml", text)
