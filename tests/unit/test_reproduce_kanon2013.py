"""KANON-2013 on invented people, and its verdicts on numbers made up for them."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from microveil.errors import DataError
from microveil.files import SourceFile
from microveil.reproduce import PAPERS
from microveil.reproduce.kanon2013.error_claims import error_claims
from microveil.reproduce.kanon2013.experiments import ATTRIBUTES, EPSILONS, READINGS, Measured
from microveil.reproduce.kanon2013.figures import figures_of
from microveil.reproduce.kanon2013.linkage_claims import linkage_claims
from microveil.reproduce.paper import Experiment, Verdict

PAPER = PAPERS["kanon-2013"]
SIZES = (1, 2, 5, 10, 15, 20, 25, 50, 100)
CHANCE = 0.1


def people(n_records):
    generator = np.random.default_rng(7)
    wealth = generator.lognormal(8, 1, n_records)
    columns = {name: np.floor(wealth * generator.uniform(0, 1, n_records)) for name in ATTRIBUTES}
    return pl.DataFrame(columns).cast(pl.Int64)


def experiment(frame, folder, **more):
    source = SourceFile(
        path=Path("census.csv"), format="csv", frame=frame, text=None, digest="0" * 64
    )
    folder.mkdir(exist_ok=True)
    told = {"runs": 2, "quick": True, "progress": lambda *_: None, **more}
    return Experiment(tables={"census": source}, folder=folder, **told)


# A world in which everything is as the paper says: errors of clusters, noise, and linkage.


def clusters(k):
    return 100 * k**0.3


def noise(epsilon, k):
    if epsilon < 1:
        return 1e9 / epsilon / k**2
    return (5e4 if epsilon == 1 else 4e4) / k**4


def linked(epsilon, k):
    if epsilon < 1:
        return CHANCE
    if epsilon == 10:
        return 30 / k
    return {1: 1.5, 25: 3.4}.get(k, 2 if k < 25 else 10 / k)


def row(k, sse, linkage, **more):
    figures = {"sse": sse, "mean_sse": sse / 100, "record_linkage": linkage}
    ends = {
        f"{name}{end}": figure * factor
        for name, figure in figures.items()
        for end, factor in (("_low", 0.99), ("_high", 1.01))
    }
    return {"k": k, "record_linkage_by_chance": CHANCE, **figures, **ends, **more}


def world(*, noise=noise, linked=linked, loss=1.0, mdav=0.95, mdav_linked=90, insensitive=30):
    published = [
        row(k, clusters(k) * (k > 1) + noise(epsilon, k), linked(epsilon, k),
            name="kanon-dp:composition=parallel", reading=reading.name, paper_epsilon=epsilon,
            epsilon=epsilon * reading.attributes_each,
            vector_loss=loss * epsilon * reading.attributes_each)
        for reading in READINGS for epsilon in EPSILONS for k in SIZES
    ]  # fmt: skip
    baselines = [
        row(k, clusters(k) * factor, share / k, name=name)
        for name, factor, share in (
            ("mdav", mdav, mdav_linked),
            ("mdav-insensitive", 1, insensitive),
        )
        for k in SIZES[1:]
    ]
    nothing = pl.DataFrame()
    return Measured(
        published=pl.DataFrame(published), baselines=pl.DataFrame(baselines),
        sequential=nothing, vector=nothing,
    )  # fmt: skip


def verdicts(found):
    return {c.text: c.verdict for c in (*error_claims(found), *linkage_claims(found))}


def test_where_all_is_as_told_every_claim_holds():
    """Numbers made as the paper tells them give 22 claims that hold."""
    found = verdicts(world())
    assert len(found) == 22
    assert {text: verdict for text, verdict in found.items() if verdict is not Verdict.HOLDS} == {}


@pytest.mark.parametrize(
    ("changed", "failing"),
    [
        ({"loss": 1.01}, ["gives epsilon-differential"]),
        (
            {"noise": lambda epsilon, k: noise(epsilon, 1) if epsilon < 1 else noise(epsilon, k)},
            ["is the smaller, the larger k", "lowers the SSE", "What insensitive MDAV loses"],
        ),
        (
            {"noise": lambda epsilon, k: min(noise(epsilon, k), 50 * (100 / k))},
            ["lowers the SSE", "is the smaller, the larger k", "about two orders"],
        ),
        (
            {"noise": lambda epsilon, k: noise(epsilon, k) + 1e4 * (epsilon == 10 and k == 100)},
            ["rises again, slowly"],
        ),
        (
            {"noise": lambda epsilon, k: noise(epsilon, k) + 500 * (epsilon == 1 and k == 100)},
            ["nearly constant", "is similar to that of microaggregation"],
        ),
        (
            {"noise": lambda epsilon, k: noise(epsilon, k) + 900 * (epsilon == 1 and k >= 25)},
            ["is similar to that of microaggregation"],
        ),
        ({"mdav": 1.05}, ["has a higher SSE"]),
        ({"mdav_linked": 110}, ["needs a k of 20"]),
        ({"mdav_linked": 60}, ["needs a k of 20", "has the highest"]),
        ({"insensitive": 60}, ["noticeably more private", "very similar"]),
        (
            {"linked": lambda epsilon, k: linked(epsilon, k) * (0.3 if epsilon == 10 else 1)},
            ["very similar"],
        ),
        (
            {"linked": lambda epsilon, k: linked(epsilon, k) * (2 if epsilon < 1 and k > 1 else 1)},
            ["hardly varies", "near that of chance", "costs no privacy"],
        ),
        (
            {"linked": lambda epsilon, k: linked(epsilon, k) * (0.9 if epsilon < 1 < k else 1)},
            ["hardly varies"],
        ),
        (
            {"linked": lambda epsilon, k: linked(epsilon, k) * (0 if epsilon == 1 else 1)},
            ["the linkage rises"],
        ),
        (
            {"linked": lambda epsilon, k: 0.01 if (epsilon, k) == (1, 1) else linked(epsilon, k)},
            ["the linkage rises", "makes up for"],
        ),
        (
            {"noise": lambda epsilon, k: noise(epsilon, k) * (1e-9 if epsilon < 1 else 1)},
            ["hardly useful", "is the smaller", "lowers the SSE", "What insensitive MDAV loses"],
        ),
        (
            {"noise": lambda epsilon, k: noise(epsilon, k) * (0.01 if epsilon == 10 else 1)},
            ["falls sharply", "lowers the SSE", "What insensitive MDAV loses"],
        ),
        (
            {"noise": lambda epsilon, k: noise(epsilon, k) * (0.01 if epsilon == 1 else 1)},
            ["falls substantially", "lowers the SSE", "two orders", "What insensitive MDAV loses",
             "makes up for"],
        ),
        (
            {"linked": lambda epsilon, k: 1.5 if epsilon == 1 else linked(epsilon, k)},
            ["the linkage rises", "far fewer", "has the highest"],
        ),
    ],
)  # fmt: skip
def test_a_claim_fails_where_its_numbers_are_otherwise(changed, failing):
    """Each change takes away the claims it concerns, in whole or in part, and no others."""
    found = verdicts(world(**changed))
    wrong = [text for text, verdict in found.items() if verdict is not Verdict.HOLDS]
    for part in failing:
        assert any(part in text for text in wrong), (part, wrong)
    for text in wrong:
        assert any(part in text for part in failing), text


def test_readings_are_cases_of_their_own():
    """A claim that is so in one reading alone holds in part."""
    found = world()
    changed = found.published.with_columns(
        sse=pl.when((pl.col("reading") == "split") & (pl.col("k") == 1)).then(1.0)
        .otherwise("sse")
    )  # fmt: skip
    claims = error_claims(Measured(
        published=changed, baselines=found.baselines, sequential=pl.DataFrame(),
        vector=pl.DataFrame(),
    ))  # fmt: skip
    claim = next(claim for claim in claims if "about two orders" in claim.text)
    assert claim.verdict is Verdict.IN_PART
    assert [case.holds for case in claim.cases] == [False, True]


def test_it_is_carried_out_on_a_table(tmp_path):
    """Claims, figures, listings and settings come out, the same once more from kept runs."""
    first, again = (PAPER.reproduce(experiment(people(240), tmp_path / "runs")) for _ in range(2))
    assert len(first.claims) == 22
    assert [figure.identifier for figure in first.figures] == [
        "figure-1", "figure-2", "figure-sequential", "figure-vector",
    ]  # fmt: skip
    assert [figure.ours for figure in first.figures] == [False, False, True, True]
    losses = first.listings[1].table
    assert losses["k"].to_list() == list(SIZES)
    assert losses["clusters"].to_list() == [240 // k for k in SIZES]
    assert first.claims == again.claims
    for one, other in zip(first.figures, again.figures, strict=True):
        assert one.table.equals(other.table)


def test_both_readings_spend_what_they_say(tmp_path):
    """The second one spends the paper's epsilon on each attribute, four times as much in all."""
    table = PAPER.reproduce(experiment(people(240), tmp_path / "runs", runs=1)).figures[0].table
    noisy = table.drop_nulls("paper_epsilon")
    spent = (noisy["epsilon"] / noisy["paper_epsilon"]).round(9)
    assert set(spent.filter(noisy["reading"] == "split")) == {1.0}
    assert set(spent.filter(noisy["reading"] == "each")) == {4.0}
    assert set(noisy["k"]) == set(SIZES)
    assert table.filter(pl.col("method") == "mdav")["k"].min() == 2


def test_a_table_with_too_few_records_is_refused(tmp_path):
    """With the k that cannot be had: a line with holes would mislead."""
    with pytest.raises(DataError, match="k 100"):
        PAPER.reproduce(experiment(people(60), tmp_path / "runs"))


def test_lines_leave_out_what_a_log_scale_cannot_show():
    """A mean of 0 is left out, and an interval ends at the least mean that is shown."""
    found = world(linked=lambda epsilon, k: 0.0 if k == 2 else linked(epsilon, k))
    tables = {
        "published": found.published.with_columns(
            record_linkage_low=pl.lit(0.0), runs=1, scope=pl.lit("cluster"), exact_cells=0
        ),
        "baselines": found.baselines.with_columns(
            epsilon=pl.lit(None, pl.Float64), runs=1, scope=pl.lit("none"),
            vector_loss=pl.lit(None, pl.Float64), exact_cells=0,
        ),
    }  # fmt: skip
    sequential = (
        tables["published"].drop("reading", "paper_epsilon").select(*tables["baselines"].columns)
    )
    found = Measured(**tables, sequential=sequential, vector=sequential)
    line = figures_of(found)[1].charts[0][0].series[0]
    assert 2.0 not in line.x
    assert len(line.x) == len(SIZES) - 1
    assert min(line.low) == min(line.y)


def test_the_guarantee_is_not_checked_without_clusters():
    """At k 1 every row follows one record, and what moves between clusters is not released."""
    found = world()
    lost = pl.when(pl.col("k") == 1).then(1e3).otherwise("vector_loss").alias("vector_loss")
    changed = Measured(
        published=found.published.with_columns(lost), baselines=found.baselines,
        sequential=pl.DataFrame(), vector=pl.DataFrame(),
    )  # fmt: skip
    assert verdicts(changed) == verdicts(found)
