"""Where a key draws for each record, the claim is a computational one, and says so everywhere."""

import json

import numpy as np
import pytest

import microveil as mv
from microveil.errors import FileError
from microveil.evaluation.promised import promised

PEOPLE = {"AGE": np.array([23, 35, 31, 62, 58, 47]), "SEX": np.array([1, 0, 1, 1, 0, 0])}
ASKED = {
    "laplace": {"attributes": ["AGE"], "bounds": {"AGE": (0, 120)}, "epsilon": 1},
    "pram": {"attributes": ["SEX"], "categories": {"SEX": [0, 1]}, "epsilon": 1},
}
SHORT = "as far as nobody can tell ChaCha20 from chance (a computational claim)"


def keyed(method="laplace", **more):
    planned = mv.plan(PEOPLE, method=method, **{**ASKED[method], **more})
    return planned.claim, planned.claim.drawn_by_key()


@pytest.mark.parametrize("method", ASKED)
def test_nothing_but_the_randomness_and_what_is_said_of_it_differs(method):
    """Model, scopes, conditions and everything else are as in memory."""
    claim, by_key = keyed(method)
    one, other = claim.to_dict(), by_key.to_dict()
    assert (one.pop("randomness"), other.pop("randomness")) == ("os", "keyed")
    differing = [pair for pair in zip(one.pop("notes"), other.pop("notes"), strict=True)
                 if pair[0] != pair[1]]  # fmt: skip
    assert one == other
    ((in_one_stream, of_records),) = differing
    assert "an AES-256 stream" in in_one_stream
    assert "a ChaCha20 stream for each record" in of_records


def test_summary_line_and_page_say_that_the_claim_is_computational():
    """And those of a release from one stream do not."""
    claim, by_key = keyed()
    for said in (by_key.summary(), by_key.in_a_line, by_key._repr_html_(), promised(by_key)):
        assert SHORT in said
    assert "The claim is a computational one." in by_key.statement()
    of_one_stream = (claim.summary(), claim.statement(), promised(claim))
    assert not any("computational" in said for said in of_one_stream)


def test_rows_that_are_not_covered_are_still_said_to_follow_people():
    """The warnings of a release are those of one that was drawn from one stream."""
    claim, by_key = keyed(bounds=mv.bounds_from_data(PEOPLE))
    first = "The rows of this release are not covered."
    assert first in claim.statement()
    assert first in by_key.statement()
    assert "Row scope is not covered: rows" not in claim.statement()  # no clusters


def test_where_no_epsilon_is_spent_nothing_is_claimed_by_computation():
    """A matrix made from the data promises nothing, whoever draws by it."""
    _, by_key = keyed("pram", matrix={"SEX": "invariant"})
    assert by_key.epsilon is None
    assert "computational" not in by_key.summary() + by_key.statement()


def test_it_is_read_back_from_its_file(tmp_path):
    """Equal to the last word; a randomness of another name is no guarantee of ours."""
    _, by_key = keyed()
    path = tmp_path / "guarantee.json"
    path.write_text(json.dumps(by_key.to_dict()), encoding="utf-8")
    read = mv.Guarantee.read(path)
    assert read == by_key
    assert read.statement() == by_key.statement()
    for other in ("aes", None, ["keyed"]):
        path.write_text(json.dumps({**by_key.to_dict(), "randomness": other}), encoding="utf-8")
        with pytest.raises(FileError, match=r"must be the guarantee\.json"):
            mv.Guarantee.read(path)


def test_a_seed_still_covers_nothing():
    """Whatever would have drawn: of a seed the key could be derived."""
    _, by_key = keyed()
    of_seed = by_key.drawn_from_seed(())
    assert of_seed.randomness == "seeded"
    assert not any(cover.covered for cover in of_seed.scopes.by_scope.values())
    assert of_seed.summary() == "drawn from a seed: protects nobody"
    assert "computational" not in of_seed.statement()


def test_of_a_new_table_the_jitter_alone_is_said_to_be_keyed():
    """Its cuts and noise are of one stream there too; the statement says whose the jitter is."""
    ages = {"AGE": np.arange(120)}
    claim = mv.plan(ages, method="dp-synthetic", epsilon=50, **{
        name: ASKED["laplace"][name] for name in ("attributes", "bounds")
    }).claim  # fmt: skip
    by_key = claim.drawn_by_key()
    (said,) = [note for note in by_key.remarks if note not in claim.remarks]
    assert said.startswith("Cuts and noise on counts are drawn exactly")
    assert "from an AES-256 stream" in said
    assert "The jitter that spreads equal values before they are cut comes from a ChaCha20" in said
    assert "The jitter that spread equal values" in by_key.statement()
    assert "What was drawn for a record" not in by_key.statement()
    assert "What was drawn for a record" in keyed()[1].statement()
