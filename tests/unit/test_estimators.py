"""Estimators are the same if all of their settings are, whatever they show of themselves."""

import ast
import functools
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from microveil.compare.measuring import UNKNOWN, digest_of_estimator
from microveil.measures.learning import text_of_estimator


def voting(depth):
    return VotingClassifier(
        [
            (f"a_rather_long_name_of_member_{i}",
             RandomForestClassifier(n_estimators=5, max_depth=depth if i == 10 else 3))
            for i in range(20)
        ]
    )  # fmt: skip


def shifted_by(shift):
    def shifted(values):
        return values + shift

    return shifted


def through(function):
    return make_pipeline(FunctionTransformer(function), LogisticRegression())


def learnt(n_classes):
    table, classes = np.arange(40.0)[:, np.newaxis], np.arange(40) % n_classes
    return FrozenEstimator(DecisionTreeClassifier(random_state=1).fit(table, classes))


DIFFERENT = {
    "a member in the middle": (lambda: voting(1), lambda: voting(9)),
    "the tenth digit": (
        lambda: GaussianNB(priors=np.array([0.3, 0.7])),
        lambda: GaussianNB(priors=np.array([0.3 + 1e-9, 0.7 - 1e-9])),
    ),
    "the last digit": (
        lambda: LogisticRegression(C=0.3),
        lambda: LogisticRegression(C=0.1 + 0.2),
    ),
    "a type": (lambda: LogisticRegression(C=1), lambda: LogisticRegression(C=1.0)),
    "a class": (LogisticRegression, GaussianNB),
    "a function": (lambda: through(np.log1p), lambda: through(np.sqrt)),
    "what was learnt before": (lambda: learnt(3), lambda: learnt(4)),
    "an argument": (
        lambda: through(functools.partial(np.clip, a_min=0, a_max=1)),
        lambda: through(functools.partial(np.clip, a_min=0, a_max=2)),
    ),
    "an order": (
        lambda: RandomForestClassifier(class_weight={0: 1, 1: 2}),
        lambda: RandomForestClassifier(class_weight={0: 2, 1: 1}),
    ),
    "an object array": (
        lambda: GaussianNB(priors=np.array(["a", 1], dtype=object)),
        lambda: GaussianNB(priors=np.array(["a", 2], dtype=object)),
    ),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_whatever_differs_is_told_apart_and_nothing_else(what):
    """Estimators that differ in one setting differ; made again they are the same."""
    one, other = DIFFERENT[what]
    assert digest_of_estimator(one()) == digest_of_estimator(one())
    assert digest_of_estimator(one()) != digest_of_estimator(other())
    assert not digest_of_estimator(one()).startswith(UNKNOWN)


def test_another_process_finds_the_same():
    """Neither places in memory nor the order of sets enter."""
    # So many words that no two orders of them by chance are one.
    code = (
        "import numpy as np\n"
        "from sklearn.preprocessing import FunctionTransformer\n"
        "from sklearn.pipeline import make_pipeline\n"
        "from sklearn.naive_bayes import GaussianNB\n"
        "from microveil.compare.measuring import digest_of_estimator\n"
        "words = {f'word {number}' for number in range(20)}\n"
        "e = make_pipeline(FunctionTransformer(np.log1p, kw_args={'s': words}),\n"
        "                  GaussianNB())\n"
        "found = digest_of_estimator(e), list(words)\n"
    )
    here = {"__name__": "__main__"}
    exec(code, here)  # noqa: S102 -- ours, and the same as the other process runs
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}print(found)"], check=True, capture_output=True, text=True,
        env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    digest, words = ast.literal_eval(done.stdout)
    assert words != here["found"][1]
    assert digest == here["found"][0]
    assert "0x" not in text_of_estimator(through(shifted_by(1.0)))


def test_what_cannot_be_described_is_never_the_same():
    """A function without a name is told as unknown, another one each time."""

    class Silent(LogisticRegression):
        def get_params(self, **_options):
            raise KeyError("secret 4711")

        def __repr__(self):
            raise KeyError("secret 4711")

    digests = {digest_of_estimator(through(lambda values: values)) for _ in range(2)}
    assert len(digests) == 2
    assert all(digest.startswith(UNKNOWN) for digest in digests)
    assert text_of_estimator(Silent()) == "Silent"
