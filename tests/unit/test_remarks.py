"""What is said of columns: one remark, as the comment of a recipe and as a sentence by itself."""

import numpy as np

from microveil.commands.proposal import proposed_recipe

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


def test_sentences_hold_no_value_of_the_table_whatever_is_asked_for():
    """Comments do where values are asked for; sentences are read on a page, and do not."""
    proposed = proposed_recipe(TABLE, show_values=True)
    assert SECRET in proposed.text
    assert "99999998" in proposed.text
    said = " ".join(" ".join(sentences) for sentences in proposed.remarks.values())
    assert SECRET not in said
    assert "99999998" not in said
