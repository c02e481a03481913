"""KANON-2013 reproduced on Census with few runs: verdicts that hang on no noise, and files."""

import polars as pl
import pytest

from microveil_papers import reproduce

pytestmark = pytest.mark.reference


@pytest.fixture(scope="module")
def written(reference_data, tmp_path_factory):
    """A folder with a quick reproduction, and what was found."""
    folder = tmp_path_factory.mktemp("kanon") / "out"
    data = {"census": reference_data / "census.csv"}
    return folder, reproduce("kanon-2013", data, folder, quick=True)


def verdict(found, part):
    return next(claim.verdict.value for claim in found.claims if part in claim.text)


def test_claims_without_noise_come_out_as_told(written):
    """MDAV loses less, links more and needs k of 20; parallel composition does not hold epsilon."""
    _, found = written
    assert verdict(found, "Insensitive MDAV has a higher SSE") == "holds"
    assert verdict(found, "MDAV needs a k of 20") == "holds"
    assert verdict(found, "has the highest percentage") == "holds"
    assert verdict(found, "gives epsilon-differential privacy") == "does not hold"


def test_the_linkage_of_the_text_does_not_come_out(written):
    """Far below 1.5 % and 5 % at epsilon 1, in both readings."""
    claim = next(c for c in written[1].claims if "linkage after noise rises" in c.text)
    assert not any(case.holds for case in claim.cases if case.where.startswith("k "))


def test_losses_of_parallel_composition(written):
    """At k 2 twenty-five times epsilon, above it even at k 100; sequential far below 1."""
    losses = {row[0]: row[2:] for row in written[1].listings[1].table.rows()}
    assert losses[2][0] == pytest.approx(25.2, abs=0.1)
    assert losses[100][0] == pytest.approx(1.32, abs=0.01)
    assert all(sequential < 0.15 for _, sequential in losses.values())


def test_everything_is_written(written):
    """A CSV, SVG and PNG for each figure, the listings, the claims and the page."""
    folder, found = written
    for figure in found.figures:
        for kind in ("csv", "svg", "png"):
            assert (folder / f"{figure.identifier}.{kind}").stat().st_size
    assert pl.read_csv(folder / "claims.csv")["claim"].n_unique() == len(found.claims) == 25
    assert "reproduced" in (folder / "report.html").read_text(encoding="utf-8")
