"""Where a key drew for each record, the claim is a computational one, and says so everywhere.

Releases of 0.2 in Spark were drawn so; `test_saved.py` reads the certificate of one.
"""

from dataclasses import replace

import numpy as np

import microveil as mv
from microveil.measures.key_figures import promised

PEOPLE = {"AGE": np.array([23, 35, 31, 62, 58, 47]), "SEX": np.array([1, 0, 1, 1, 0, 0])}
AGE = {"attributes": ["AGE"], "bounds": {"AGE": (0, 120)}, "epsilon": 1}
SEX = {"attributes": ["SEX"], "categories": {"SEX": [0, 1]}, "epsilon": 1}
ASKED = {"laplace": AGE, "pram": SEX}
SHORT = "as far as nobody can tell ChaCha20 from chance (a computational claim)"


def keyed(method="laplace", **more):
    planned = mv.plan(PEOPLE, method=method, **{**ASKED[method], **more})
    return planned.claim, replace(planned.claim, randomness="keyed")


def test_summary_line_and_page_say_that_the_claim_is_computational():
    """Those of one stream do not, nor those of a matrix of the data, which promises nothing."""
    claim, by_key = keyed()
    for said in (by_key.summary(), by_key.in_a_line, by_key._repr_html_(), promised(by_key)):
        assert SHORT in said
    assert "The claim is a computational one." in by_key.statement()
    _, without = keyed("pram", matrix={"SEX": "invariant"})
    assert without.epsilon is None
    for own in (claim, without):
        assert "computational" not in own.summary() + own.statement() + promised(own)


def test_of_a_new_table_the_jitter_alone_is_said_to_be_keyed():
    """The statement says whose the jitter is: its cuts and noise are of one stream there too."""
    asked = {**AGE, "method": "dp-synthetic", "epsilon": 50}
    claim = mv.plan({"AGE": np.arange(120)}, **asked).claim
    by_key = replace(claim, randomness="keyed")
    assert "The jitter that spread equal values" in by_key.statement()
    assert "What was drawn for a record" not in by_key.statement()
    assert "What was drawn for a record" in keyed()[1].statement()
