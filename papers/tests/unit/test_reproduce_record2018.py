"""RECORD-2018 on invented people, and its verdicts on numbers made up for them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microveil.files import FORMATS
from microveil.files.reading import SourceFile
from microveil_papers import PAPERS
from microveil_papers.paper import Experiment, Verdict
from microveil_papers.record2018 import clusters
from microveil_papers.record2018.claims import claims_of
from microveil_papers.record2018.clusters import (
    Anonymity,
    Stability,
    anonymity_of,
    changed_clusters,
    stability_of,
)
from microveil_papers.record2018.experiments import EPSILONS, SETTINGS, Measured
from reproduced import check_conditions, conditions_compared, page_without_charts

PAPER = PAPERS["record-2018"]
SIZES = (2, 10, 25, 33, 50, 70, 100)
N_RECORDS = 1080
PARALLEL, SEQUENTIAL = "kanon-dp:composition=parallel", "kanon-dp:composition=sequential"
OURS = [f"record-dp:partition={partition}" for partition in ("mdav", "ranking", "optimal")]


def people(n_records):
    generator = np.random.default_rng(8)
    wealth = generator.lognormal(8, 1, n_records)
    names = PAPER.data[0].columns
    columns = {name: np.floor(wealth * generator.uniform(0, 1, n_records)) for name in names}
    return pl.DataFrame(columns).cast(pl.Int64)


def row(setting, name, k, error, epsilon=None, loss=1.0):
    return {
        "setting": setting.name, "name": name, "k": k, "epsilon": epsilon, "mean_sse": error,
        "mean_sse_low": error * 0.99, "mean_sse_high": error * 1.01,
        "vector_loss": None if epsilon is None else loss * epsilon,
    }  # fmt: skip


# A world in which everything is as the paper says.
NOISY = {
    "laplace": 50.0,
    PARALLEL: 1600.0,
    SEQUENTIAL: 1700.0,
    **dict.fromkeys(OURS, 100.0),
}
PARTITIONS = {"mdav": 1.0, "mdav-insensitive": 2.0, "ranking": 0.5, "optimal": 0.4}


def world(noisy=None, partitions=None, changed=0.8, moved=0.0, spared=0, loss=1.0, resized=0.0):
    errors = NOISY | (noisy or {})
    plain = PARTITIONS | (partitions or {})
    return Measured(
        noisy=pl.DataFrame([
            row(setting, name, None if name == "laplace" else k,
                error if name == "laplace" else error / k, epsilon, loss)
            for setting in SETTINGS for epsilon in EPSILONS for name, error in errors.items()
            for k in (SIZES if name != "laplace" else (0,))
        ]),
        partitions=pl.DataFrame([
            row(setting, name, k, error * k)
            for setting in SETTINGS for name, error in plain.items() for k in SIZES
        ]),
        vector=pl.DataFrame(),
        stability=tuple(
            Stability(where=setting.title, name=name, shares=(0.0, share))
            for setting in SETTINGS
            for name, share in (
                ("mdav", changed), ("mdav-insensitive", moved), ("optimal", resized)
            )
        ),
        anonymity=tuple(
            Anonymity(where=setting.title, name=name, groups=((2, 2), (10, 10 - spared)))
            for setting in SETTINGS for name in ("mdav", "mdav-insensitive", OURS[0])
        ),
        promises=(),
        n_records=N_RECORDS,
    )  # fmt: skip


def wrong(found):
    return [claim.text for claim in claims_of(found) if claim.verdict is not Verdict.HOLDS]


def test_where_all_is_as_told_every_claim_holds():
    """Numbers made as the paper tells them give nine claims that hold."""
    found = world()
    assert len(claims_of(found)) == 9
    assert wrong(found) == []


@pytest.mark.parametrize(
    ("changed", "failing"),
    [
        ({"noisy": {OURS[2]: 1000.0}}, ["leaves substantially more utility"]),
        ({"noisy": {PARALLEL: 110.0}}, ["leaves substantially", "The gain in utility"]),
        ({"noisy": {PARALLEL: 300.0}}, ["The gain in utility"]),
        ({"noisy": {"laplace": 15.0}}, ["Composed in sequence"]),
        ({"noisy": {"laplace": 200.0}}, ["Composed in sequence"]),
        ({"partitions": {"mdav": 2.1}}, ["loses more information"]),
        ({"partitions": {"ranking": 2.1}}, ["Individual ranking avoids"]),
        ({"changed": 0.4}, ["may give unrelated clusters"]),
        ({"moved": 0.01}, ["differ in one record"]),
        ({"spared": 1}, ["k-anonymous"]),
        ({"loss": 1.001}, ["to the individuals"]),
        ({"resized": 0.01}, ["to the individuals"]),
    ],
)
def test_a_claim_fails_where_its_numbers_are_otherwise(changed, failing):
    """Each change takes away the claims it concerns and no others."""
    texts = wrong(world(**changed))
    assert len(texts) == len(failing)
    for part in failing:
        assert any(part in text for text in texts), (part, texts)


@pytest.mark.parametrize(
    ("part", "inside", "outside"),
    [
        ("leaves substantially", {"noisy": {OURS[2]: 800.0}}, {"noisy": {OURS[2]: 801.0}}),
        ("The gain in utility", {"noisy": {PARALLEL: 413.0}}, {"noisy": {PARALLEL: 412.0}}),
        ("Composed in sequence", {"noisy": {"laplace": 69.3}}, {"noisy": {"laplace": 69.5}}),
        ("Composed in sequence", {"noisy": {"laplace": 24.8}}, {"noisy": {"laplace": 24.7}}),
        ("loses more information", {"partitions": {"mdav": 1.999}}, {"partitions": {"mdav": 2.0}}),
        ("ranking avoids", {"partitions": {"ranking": 1.999}}, {"partitions": {"ranking": 2.0}}),
        ("unrelated clusters", {"changed": 0.501}, {"changed": 0.5}),
    ],
)
def test_thresholds_lie_where_the_criteria_say(part, inside, outside):
    """A world just inside leaves the claim, one just outside takes it away."""
    assert not any(part in text for text in wrong(world(**inside)))
    assert any(part in text for text in wrong(world(**outside)))


def test_a_gain_must_be_of_one_kind_over_k():
    """A mean ratio that hangs on one k, with an interval over k down to 1, is no gain."""
    found = world()
    alone = pl.when((pl.col("name") == OURS[0]) & (pl.col("k") > 2)).then(pl.col("mean_sse") * 20)
    noisy = found.noisy.with_columns(
        mean_sse=pl.when((pl.col("name") == OURS[0]) & (pl.col("k") == 2))
        .then(pl.col("mean_sse") * 1e-12)
        .otherwise(pl.coalesce(alone, "mean_sse"))
    )
    assert any("leaves substantially" in text for text in wrong(replace(found, noisy=noisy)))


def test_a_loss_that_nothing_bounds_protects_nobody():
    """By MDAV there is no loss to state, and that counts against the claim."""
    found = world()
    nothing = pl.when(pl.col("name") != OURS[0]).then("vector_loss").alias("vector_loss")
    claim = claims_of(replace(found, noisy=found.noisy.with_columns(nothing)))[0]
    assert claim.verdict is Verdict.IN_PART
    told = {case.where: (case.holds, case.measured) for case in claim.cases}
    assert told["record-dp, mdav, four attributes"] == (
        False, f"nothing bounds the loss in {len(EPSILONS) * len(SIZES)} of 21 configurations",
    )  # fmt: skip
    assert told["record-dp, ranking, nine attributes"][0]


def test_univariate_partitions_are_not_held_to_k_anonymity():
    """The claim is on multivariate microaggregation alone."""
    found = world()
    alone = Anonymity(where="four attributes", name=OURS[1], groups=((2, 1), (10, 1)))
    assert wrong(replace(found, anonymity=(*found.anonymity, alone))) == []


partitions = st.lists(st.integers(0, 4), min_size=1, max_size=40).map(
    lambda labels: np.unique(labels, return_inverse=True)[1].astype(np.int64)
)


@given(partitions, st.randoms(use_true_random=False))
def test_the_names_of_clusters_do_not_matter(labels, random):
    """The same clusters under other numbers have not changed, and neither with one record moved."""
    names = list(range(labels.max() + 1))
    random.shuffle(names)
    renamed = np.array(names)[labels]
    assert changed_clusters(labels, renamed) == 0
    renamed[random.randrange(len(renamed))] = random.choice(names)
    assert changed_clusters(labels, renamed) == 0


@given(partitions, partitions)
def test_changed_clusters_are_those_of_the_plain_count(before, after):
    """A cluster has changed if every new cluster lacks two of its records or more."""
    n_records = min(len(before), len(after))
    old, new = ([set(np.flatnonzero(labels[:n_records] == c)) for c in range(5)]
                for labels in (before, after))  # fmt: skip
    old = [cluster for cluster in old if cluster]
    plain = [all(len(cluster - other) > 1 for other in new) for cluster in old]
    _, kept = np.unique(before[:n_records], return_inverse=True)
    told = changed_clusters(kept.astype(np.int64), after[:n_records])
    assert told == pytest.approx(np.mean(plain))


def test_insensitive_clusters_change_by_one_record_where_mdav_s_do_not():
    """On invented people: never by more, and by more under MDAV."""
    by_mdav, insensitive, optimal = stability_of(people(300), "here", 20, seed=1)
    assert insensitive.shares == (0.0,) * 20
    assert max(by_mdav.shares) > 0.3
    assert [by_mdav.name, insensitive.name] == ["mdav", "mdav-insensitive"]
    assert max(optimal.shares) > 0


def test_records_are_alike_in_groups_of_k():
    """For whole records grouped together; not for attributes one by one."""
    found = {a.name: a.groups for a in anonymity_of(people(60), "here", (3, 10), seed=1)}
    for name in ("mdav", "mdav-insensitive", OURS[0]):
        assert all(smallest >= k for k, smallest in found[name])
    assert found[OURS[1]][0] == (3, 1)


def test_it_is_carried_out_on_a_table(tmp_path):
    """Claims, figures, the table of guarantees and settings; no loss at vector scope by MDAV."""
    source = SourceFile(
        path=Path("census.csv"),
        format=FORMATS["csv"],
        frame=people(200),
        text=None,
        digest="0" * 64,
        labels={},
    )
    told = []
    (tmp_path / "runs").mkdir()
    found = PAPER.reproduce(
        Experiment(
            tables={"census": source}, runs=1, quick=True, folder=tmp_path / "runs",
            progress=lambda what, *_: told.append(what),
        )
    )  # fmt: skip
    assert len(found.claims) == 9
    assert all(claim.cases for claim in found.claims)
    assert all(figure.ours for figure in found.figures)
    assert [figure.identifier for figure in found.figures] == [
        "figure-partitions", "figure-noisy", "figure-vector",
    ]  # fmt: skip
    assert {what.split(", ")[0] for what in told} == {"four attributes", "nine attributes"}
    guarantees = {row[0]: row for row in found.listings[0].table.rows()}
    assert guarantees[OURS[0]][1:5] == (1, None, None, None)
    assert guarantees[OURS[1]][1:4] == (1, 1, None)
    assert guarantees[PARALLEL][1:4] == (1, 20, None)
    assert guarantees[SEQUENTIAL][1:4] == (0.05, 1, None)
    assert "nine attributes" in found.figures[1].charts[0][1].title
    assert found.figures[0].table["setting"].unique().sort().to_list() == ["four", "nine"]


def test_the_page_shows_what_each_epsilon_takes_as_given(monkeypatch, tmp_path):
    """The clause of each condition in the rows, by method, each text once, and no other."""
    held = conditions_compared(monkeypatch)
    source = SourceFile(
        path=Path("census.csv"),
        format=FORMATS["csv"],
        frame=people(120),
        text=None,
        digest="0" * 64,
        labels={},
    )
    (tmp_path / "runs").mkdir()
    asked = Experiment(
        tables={"census": source}, runs=1, quick=True, folder=tmp_path / "runs",
        progress=lambda *_: None,
    )  # fmt: skip
    found = PAPER.reproduce(asked)
    check_conditions(page_without_charts(PAPER, found), held)
    ids = {condition.id for own in held.values() for condition in own}
    assert ids >= {"noise-scales", "rank-boundaries", "cluster-sizes", "bounds"}
    # The table of guarantees is of declared domains: the conditions of those plans.
    for name, *_, shown in found.listings[0].table.rows():
        for condition in held[name]:
            declared = condition.id != "bounds"
            assert (condition.clause in shown) is declared, (name, condition.id)
        assert shown != "nothing" or {condition.id for condition in held[name]} == {"bounds"}


def test_one_value_of_one_record_is_drawn_anew_from_its_domain():
    """Of every attribute at some time, and never two at once."""
    values = np.arange(12.0).reshape(6, 2) + 1
    bounds = np.array([[0.0, 100.0], [200.0, 300.0]])
    places = set()
    for changed in clusters._changed(values, bounds, 60, 1):
        ((record, attribute),) = np.argwhere(changed != values)
        assert bounds[attribute, 0] <= changed[record, attribute] < bounds[attribute, 1]
        places.add((int(record), int(attribute)))
    assert {attribute for _, attribute in places} == {0, 1}
    assert {record for record, _ in places} == set(range(6))
