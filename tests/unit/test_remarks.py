"""What is said of columns: one remark, as the comment of a recipe and as a sentence by itself."""

import re

import numpy as np

from microveil.commands import remarks
from microveil.commands.proposal import proposed_recipe
from microveil.commands.remarks import Remark

N = 60
SECRET = "SECRET77"
TABLE = {
    "ID": np.arange(N),
    "NAME": np.array([f"{SECRET}-{n}" for n in range(N)]),
    "SEX": np.array(["f", SECRET] * (N // 2)),
    "ONE": np.array([SECRET] * N),
    "ZIP": np.array([f"0{n % 7}" for n in range(N)]),
    "WAGE": np.round(np.arange(N) * 1.25, 2),
    "STEPS": np.arange(N) // 2 * 1.0,
    "CODE": np.where(np.arange(N) % 5, np.arange(N) % 40, 99999998),
    "WEIGHT": np.linspace(0.5, 3, N),
}
FIXED = [one for one in vars(remarks).values() if isinstance(one, Remark)]
MADE = [
    remarks.titled("Age in years"),
    remarks.looks_like("its text looks like numbers, and stays text"),
    *(remarks.missing_cells(n, 9) for n in (1, 5)),
    remarks.codes_of_file("-9, -8"),
    *(remarks.likely_codes(n, are_shown=shown) for n in (1, 2) for shown in (False, True)),
    *(remarks.categories_seen_of(n, are_shown=shown) for n in (1, 2) for shown in (False, True)),
    remarks.code_list({1: "male", 2: "female"}),
]


def test_sentences_say_what_the_comments_of_the_recipe_say():
    """Remark by remark: of each column as many, in their order, and each comment stands there."""
    proposed = proposed_recipe(TABLE)
    known = {(remark.sentence, remark.comment) for remark in [*FIXED, *MADE]}
    sections = re.split(r"\n(?=\[attributes)", proposed.text)[1:]
    assert len(sections) == len(proposed.remarks) == len(TABLE)
    n_known = 0
    for section, sentences in zip(sections, proposed.remarks.values(), strict=True):
        comments = [line.partition("# ")[2] for line in section.splitlines() if "# " in line]
        comments = [comment for comment in comments if not comment.startswith("bounds = ")]
        assert len(comments) == len(sentences)
        for comment, sentence in zip(comments, sentences, strict=True):
            said = {written for other, written in known if other == sentence}
            n_known += bool(said)
            assert not said or comment.endswith(tuple(said))
    assert n_known >= 6


def test_sentences_hold_no_value_of_the_table_whatever_is_asked_for():
    """Comments do where values are asked for; sentences are read on a page, and do not."""
    proposed = proposed_recipe(TABLE, show_values=True)
    assert SECRET in proposed.text
    assert "99999998" in proposed.text
    said = " ".join(" ".join(sentences) for sentences in proposed.remarks.values())
    assert SECRET not in said
    assert "99999998" not in said
