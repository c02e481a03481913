"""The empirical audit: bounds that hold at the rate stated, neighbours that hurt, scores that tell.

Runs are few here; what the audit finds of each method is in test_empirical_audit_slow.py.
"""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

import microveil as mv
from microveil.audit.empirical import audit as verb
from microveil.audit.empirical.bounds import least_proportion, lower_bound
from microveil.audit.empirical.experiments import (
    CERTAIN,
    CentroidExperiment,
    cells_experiment,
)
from microveil.audit.empirical.neighbours import (
    Clustered,
    far_neighbour,
    near_loss,
    near_neighbour,
    tuned_to,
)
from microveil.noise.noise import RandomSource
from microveil.protect.opening import prepare
from microveil.protect.planning import plan_of
from microveil.protect.request import Request

LOWER, UPPER = 0, 12
ALONE, BOTH = {"A": (LOWER, UPPER)}, {"A": (LOWER, UPPER), "B": (0, 4)}
RANKED = [
    ("dp-um", {}),
    ("idp-ls", {}),
    ("idp-cbls", {}),
    ("idp-vector", {}),
    ("idp-vector", {"partition": "noise-aware"}),
    ("record-dp", {"partition": "ranking"}),
    ("record-dp", {"partition": "optimal"}),
    ("record-dp", {"partition": "noise-aware"}),
]
JOINT = [
    ("kanon-dp", {}),
    ("kanon-dp", {"composition": "parallel"}),
    ("kanon-dp", {"sensitivity": "vector"}),
    ("record-dp", {"partition": "mdav"}),
]
INCOMES = np.rint(300 * 1.06 ** np.arange(60)).astype(int)
PEOPLE = {"A": INCOMES, "B": np.arange(60) * 37 % 101}


def asked(method, **arguments):
    """A request at epsilon 1 on small whole numbers."""
    return {
        "method": method, "k": 3, "epsilon": 1, "attributes": "A", "bounds": ALONE,
        "exact_cells": "allow", **arguments,
    }  # fmt: skip


def on_people(method, **arguments):
    """A request at epsilon 1 on the 60 people."""
    domains = {"A": (0, 100_000), "B": (0, 100)}
    return asked(method, **{"k": 10, "bounds": domains, **arguments})


def planned(table, request):
    """What `measured` takes: the first attribute's plan, and what it was made from."""
    made = Request.of({name: value for name, value in request.items() if value is not None})
    prepared = prepare(table, made)
    whole = plan_of(prepared)
    return whole.attributes[0], whole


def tuned(table, request):
    """The mechanism of the first attribute, tuned to the table."""
    part, whole = planned(table, request)
    return tuned_to(part, whole.prepared)


# Bounds


@given(st.integers(1, 3000), st.data(), st.sampled_from([0.05, 0.005, 1e-5]))
def test_proportions_are_bounded_as_by_scipy(runs, data, error):
    """The one-sided bound of Clopper and Pearson, for every count."""
    successes = data.draw(st.integers(0, runs))
    test = binomtest(successes, runs, alternative="greater")
    expected = test.proportion_ci(1 - error, method="exact").low
    assert least_proportion(np.array(successes), runs, error) == pytest.approx(expected, rel=1e-7)


def bounds_of(of_table, of_neighbour, confidence):
    """Bounds from 400 repeated audits, whose scores are drawn by two functions."""
    return np.array([lower_bound(of_table(), of_neighbour(), confidence) for _ in range(400)])


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_a_bound_exceeds_the_truth_no_more_often_than_stated(epsilon):
    """Randomised response of known epsilon, 90 % confidence: at most a tenth of 400 audits.

    If the rate of errors were the stated one, as many would be seen with probability 1e-4.
    """
    random = np.random.default_rng(round(epsilon * 10))
    honest = np.exp(epsilon) / (1 + np.exp(epsilon))

    def of_table(runs=120):
        return (random.random(runs) < honest).astype(float)

    def of_neighbour(runs=120):
        return 1 - of_table(runs)

    found = bounds_of(of_table, of_neighbour, 0.9)
    assert (found > epsilon + 1e-12).sum() <= binom.isf(1e-4, 400, 0.1)
    # And it is no vacuous bound: with many runs it comes near.
    shown = lower_bound(of_table(200_000), of_neighbour(200_000), 0.9)
    assert epsilon - 0.05 <= shown <= epsilon or (epsilon == 0 and shown < 0.05)


def test_evidence_of_the_neighbour_counts_as_that_of_the_table():
    """An outcome that only the neighbour has is found, as one that only the table has is."""
    rare = np.zeros(4000)
    rare[::4] = 1.0
    for scores in ((rare, np.zeros(4000)), (np.zeros(4000), -rare)):
        assert lower_bound(*scores, 0.99) > 4


def test_a_rare_sign_among_many_values_is_found():
    """Above or below all else, it shows nearly as much as if nothing else had been seen."""
    random = np.random.default_rng(4)
    usual, sign = random.random((2, 20_000)), np.arange(20_000) % 500 == 0
    alone = lower_bound(sign.astype(float), np.zeros(20_000), 0.99)
    assert alone > 0.5
    rare = np.where(sign, 2 + usual[0], usual[0])
    assert lower_bound(rare, usual[1], 0.99) == pytest.approx(alone, abs=0.05)
    assert lower_bound(-usual[1], -rare, 0.99) == pytest.approx(alone, abs=0.05)


# Neighbours


tables = st.lists(st.integers(LOWER, UPPER), min_size=6, max_size=13)


@pytest.mark.parametrize(("method", "steps"), RANKED)
@given(values=tables)
def test_the_far_neighbour_of_ranks_costs_what_the_exact_audit_says(method, steps, values):
    """The loss at vector scope is that of this very neighbour."""
    mechanism = tuned({"A": np.array(values)}, asked(method, **steps))
    table, far = mechanism.table, far_neighbour(mechanism)
    part = mechanism.part
    assert (table.sums == part.sums).all()
    assert (table.labels == part.partition.labels).all()
    loss = mechanism.loss(far.sums - table.sums).sum()
    assert loss == pytest.approx(part.figures.vector_loss, rel=1e-9, abs=1e-12)
    assert (far.scales == table.scales).all()
    assert (far.sizes == table.sizes).all()


@pytest.mark.parametrize(("method", "steps"), JOINT)
@given(
    records=st.lists(
        st.tuples(st.integers(LOWER, UPPER), st.integers(0, 4)), min_size=6, max_size=13
    )
)
def test_the_far_neighbour_of_joint_clusters_is_one(method, steps, records):
    """One record differs, the exact audit is not exceeded, and something always changes."""
    table = {"A": np.array(records)[:, 0], "B": np.array(records)[:, 1]}
    mechanism = tuned(table, asked(method, attributes=["A", "B"], bounds=BOTH, **steps))
    before, far = mechanism.table, far_neighbour(mechanism)
    part = mechanism.part
    assert (before.sums == part.sums).all()
    loss = mechanism.loss(far.sums - before.sums).sum()
    assert loss > 0
    if part.figures.vector_loss is not None:
        assert loss <= part.figures.vector_loss * (1 + 1e-12)
    if steps.get("partition") != "mdav":
        assert abs(far.sums.sum() - before.sums.sum()) <= UPPER - LOWER


def represented(values, *, winsorises):
    """The sum of a cluster's values, or of its winsorised values."""
    z = sorted(values)
    return sum([z[1], *z[1:-1], z[-2]]) if winsorises else sum(z)


@pytest.mark.parametrize(("method", "steps"), [*RANKED, ("laplace", {}), ("kanon-dp", {})])
@given(values=tables)
def test_the_near_neighbour_is_the_worst_within_a_cluster(method, steps, values):
    """By brute force over every record and every value, with the clusters held."""
    mechanism = tuned({"A": np.array(values)}, asked(method, **steps))
    table, near = mechanism.table, near_neighbour(mechanism)
    scales = mechanism.part.scales * 2.0**-mechanism.part.grid.bits
    worst, reached = 0.0, set()
    for cluster, scale in enumerate(scales):
        members = np.array(values)[table.labels == cluster].tolist()
        before = represented(members, winsorises=mechanism.winsorises)
        for place, value in itertools.product(range(len(members)), range(LOWER, UPPER + 1)):
            after = [*members[:place], value, *members[place + 1 :]]
            changed = represented(after, winsorises=mechanism.winsorises)
            reached.add((cluster, changed))
            worst = max(worst, abs(changed - before) / scale if changed != before else 0)
    assert near_loss(mechanism) == pytest.approx(worst, rel=1e-12)
    assert mechanism.loss(near.sums - table.sums).sum() == pytest.approx(worst, rel=1e-12)
    changed = np.flatnonzero(near.sums != table.sums)
    assert len(changed) <= 1
    assert {(cluster, near.sums[cluster]) for cluster in changed.tolist()} <= reached


# Scores


@pytest.mark.parametrize("scope", ["cluster", "vector"])
@pytest.mark.parametrize("method", ["dp-um", "idp-ls", "idp-cbls", "idp-vector"])
def test_scores_are_log_likelihood_ratios(method, scope):
    """Under either table the mean of the other's likelihood over its own is 1.

    To five standard errors, which chance exceeds with probability 1e-6.
    """
    mechanism = tuned(PEOPLE, on_people(method, epsilon=0.3))
    neighbour = (near_neighbour if scope == "cluster" else far_neighbour)(mechanism)
    experiment = CentroidExperiment.of(mechanism.table, neighbour, mechanism.part)
    for of_neighbour, sign in ((False, -1), (True, 1)):
        scores = experiment.scores(40_000, RandomSource.seeded(2), of_neighbour=of_neighbour)
        ratio = np.exp(sign * scores)
        assert ratio.std() > 0.01
        assert abs(ratio.mean() - 1) < 5 * ratio.std() / 200


def test_scores_of_clusters_whose_sizes_differ_are_log_likelihood_ratios():
    """As where the neighbour's clusters are formed by distance: other sizes, other noise."""
    part = tuned(PEOPLE, on_people("dp-um")).part
    labels = np.repeat([0, 1], 15)
    scales = np.full(2, 5000 << part.grid.bits)
    table, neighbour = (
        Clustered(sums=np.array(sums), sizes=np.array(sizes), scales=scales, labels=labels)
        for sums, sizes in (((300_000, 600_000), (10, 20)), ((450_000, 440_000), (15, 15)))
    )
    experiment = CentroidExperiment.of(table, neighbour, part)
    for of_neighbour, sign in ((False, -1), (True, 1)):
        scores = experiment.scores(40_000, RandomSource.seeded(2), of_neighbour=of_neighbour)
        ratio = np.exp(sign * scores)
        assert abs(ratio.mean() - 1) < 5 * ratio.std() / 200


def test_scores_of_a_transition_matrix_are_log_likelihood_ratios():
    """And a value that the other category cannot become is certain."""
    experiment = cells_experiment([(np.array([6, 2, 0]), np.array([1, 1, 2]))])
    scores = experiment(4000, RandomSource.seeded(2), of_neighbour=False)
    assert np.unique(scores.round(6)).tolist() == [0.0, round(np.log(3), 6)]
    assert abs((scores > 0).mean() - 0.75) < 0.04
    scores = experiment(4000, RandomSource.seeded(2), of_neighbour=True)
    assert abs((scores == -CERTAIN).mean() - 0.5) < 0.04


@given(
    rows=st.lists(st.tuples(*[st.integers(1, 9)] * 3), min_size=3, max_size=3),
    values=st.lists(st.integers(0, 2), min_size=2, max_size=4),
)
def test_the_categories_attacked_differ_most(rows, values):
    """From one that occurs to any other: their largest log-ratio is the exact audit's figure."""
    matrix = np.array(rows) / np.array(rows).sum(axis=1, keepdims=True)
    part, *_ = planned(
        {"A": np.array(values)}, asked("pram", bounds={"A": (0, 2)}, matrix={"A": matrix.tolist()})
    )
    worst = max(verb._cells(part).values(), key=lambda cell: cell.loss)
    table, other = (row / row.sum() for row in worst.rows)
    assert np.abs(np.log(table / other)).max() == pytest.approx(part.figures.vector_loss, abs=1e-9)


def consistent(column, labels):
    """Whether records of one cluster all show one value."""
    return all(len(set(column[labels == cluster])) == 1 for cluster in np.unique(labels))


@given(values=st.lists(st.integers(0, 3), min_size=6, max_size=9), seed=st.integers(0, 99))
def test_rows_tell_what_the_column_row_by_row_tells(values, seed):
    """Scores are certain exactly where the released column cannot be the other table's."""
    mechanism = tuned({"A": np.array(values)}, asked("dp-um", k=2, epsilon=3, bounds={"A": (0, 3)}))
    table, far = mechanism.table, far_neighbour(mechanism)
    whole = CentroidExperiment(table=table, neighbour=far, part=mechanism.part, seen="rows")
    some = CentroidExperiment.of(table, far, mechanism.part, seen="rows")
    for of_neighbour, truth, other in ((False, table, far), (True, far, table)):
        scores = whole.scores(40, RandomSource.seeded(seed), of_neighbour=of_neighbour)
        seen = whole._released(truth, 40, RandomSource.seeded(seed))
        possible = [consistent(one[truth.labels], other.labels) for one in seen]
        assert (scores != (-CERTAIN if of_neighbour else CERTAIN)).tolist() == possible
        # Leaving out what both tables share changes the draws, not what they tell.
        fewer = some.scores(400, RandomSource.seeded(seed), of_neighbour=of_neighbour)
        more = whole.scores(400, RandomSource.seeded(seed + 1), of_neighbour=of_neighbour)
        assert abs((abs(fewer) == CERTAIN).mean() - (abs(more) == CERTAIN).mean()) < 0.2


def test_without_the_order_of_clusters_less_is_shown():
    """Sorted centroids are a function of the centroids: they still tell, and not more."""
    mechanism = tuned(PEOPLE, on_people("idp-cbls"))
    sides = mechanism.table, far_neighbour(mechanism), mechanism.part
    shown = {}
    for seen in ("clusters", "order"):
        experiment = CentroidExperiment.of(*sides, seen=seen)
        scores = [
            experiment.scores(4000, RandomSource.seeded(place), of_neighbour=bool(place))
            for place in (0, 1)
        ]
        shown[seen] = lower_bound(*scores, 0.99)
    assert 0 < shown["order"] <= shown["clusters"]
    noisy = tuned(PEOPLE, on_people("dp-um", epsilon=0.1))
    experiment = CentroidExperiment.of(noisy.table, noisy.table, noisy.part, seen="order")
    seen = experiment._released(noisy.table, 50, RandomSource.seeded(1))
    assert (np.diff(seen, axis=1) >= 0).all()


@pytest.mark.parametrize("isotonic", [False, True])
@pytest.mark.parametrize("method", ["dp-um", "idp-cbls", "kanon-dp"])
def test_what_is_attacked_is_what_is_released(method, isotonic):
    """From the same randomness a run shows the very column that the plan draws."""
    if isotonic and method == "kanon-dp":
        return
    mechanism = tuned(PEOPLE, on_people(method, k=7, isotonic=isotonic))
    table, part = mechanism.table, mechanism.part
    experiment = CentroidExperiment(table=table, neighbour=table, part=part)
    (seen,) = experiment._released(table, 1, RandomSource.seeded(9))
    drawn = part.draw(RandomSource.seeded(9))
    assert (seen[table.labels] == drawn.values).all()


# The verb


def test_the_report_has_the_form_promised():
    """Plain values, by scope; JSON takes them; the same seed gives the same audit."""
    arguments = {**on_people("dp-um"), "runs": 400, "audit_seed": 5}
    found = mv_empirical(PEOPLE, **arguments)
    told = found.to_dict()
    assert list(told) == ["attribute", "runs", "confidence", "most_that_runs_can_show", "scopes"]
    assert list(told["scopes"]) == ["cluster", "vector", "row"]
    for finding in told["scopes"].values():
        assert list(finding) == ["claimed", "lower_bound", "exact"]
    assert told["attribute"] == "A"
    assert told["scopes"]["vector"]["claimed"] == 1.0
    assert told["scopes"]["row"]["claimed"] is None
    assert json.loads(json.dumps(told)) == told
    assert mv_empirical(PEOPLE, **arguments) == found
    assert mv_empirical(PEOPLE, **{**arguments, "audit_seed": 6}) != found


def mv_empirical(table, **arguments):
    """The verb."""
    return verb.empirical_audit(table, **arguments)


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        *RANKED,
        *((method, {"attributes": ["A", "B"], **steps}) for method, steps in JOINT[:2]),
        ("kanon-dp", {"attributes": ["A", "B"], "sensitivity": "vector"}),
        ("record-dp", {"attributes": ["A", "B"]}),
        ("kanon-dp", {"attributes": ["A", "B"], "shuffle": True}),
        ("kanon-dp", {"attributes": ["A", "B"], "blocks": [["B"], ["A"]]}),
        ("laplace", {}),
        ("laplace", {"shuffle": True}),
        ("dp-um", {"isotonic": True}),
        ("dp-um", {"shuffle": True}),
        ("idp-vector", {"isotonic": True, "shuffle": True}),
        ("pram", {"attributes": "B"}),
        ("pram", {"attributes": "B", "matrix": {"B": (np.eye(101) / 2 + 1 / 202).tolist()}}),
    ],
)
def test_no_method_loses_more_than_it_claims(method, arguments):
    """At no scope, at 99.99 % confidence each: all of these err with probability 7e-3 at most."""
    request = on_people(method, **{"k": 10, **arguments})
    found = mv_empirical(PEOPLE, runs=1500, confidence=0.9999, **request)
    assert found.contradicted == ()
    for finding in found.scopes.values():
        assert finding.exact is None or finding.lower_bound <= finding.exact
        if finding.claimed is not None and finding.exact is not None:
            assert finding.exact <= finding.claimed * (1 + 1e-12)


@pytest.mark.parametrize("method", ["dp-um", "idp-ls", "idp-cbls", "idp-vector", "laplace"])
def test_too_little_noise_is_found(method):
    """A third of the noise: more than the epsilon is shown at cluster or vector scope."""
    part, made = planned(PEOPLE, on_people(method))
    broken = replace(part, scales=part.scales // 3)
    found = verb.measured(broken, made, verb.Attack(runs=8000, confidence=0.999, audit_seed=1))
    assert {"cluster", "vector"} & set(found.contradicted)
    assert "CONTRADICTED: the claim at" in found.to_text()


def test_a_share_is_held_against_its_part_of_the_claim():
    """Of attributes with weights 3 and 1 the second is claimed a quarter; either can be named."""
    request = on_people("idp-cbls", attributes=["A", "B"], budget={"A": 3, "B": 1})
    for name, share in (("A", 0.75), ("B", 0.25)):
        found = mv_empirical(PEOPLE, attribute=name, runs=200, **request)
        assert found.attribute == name
        assert found.scopes["cluster"].claimed == share
        assert found.scopes["vector"].claimed == share * 6


def test_the_attribute_that_loses_most_is_attacked():
    """By the exact audit, where none is named; what nothing bounds comes first."""
    request = on_people("idp-ls", attributes=["A", "B"])
    losses = {
        name: entry.vector_scope for name, entry in mv.audit(PEOPLE, **request).attributes.items()
    }
    found = mv_empirical(PEOPLE, runs=200, **request)
    assert found.attribute == max(losses, key=losses.get)
    assert found.scopes["vector"].exact == losses[found.attribute]


def test_records_without_a_value_take_no_part():
    """Missing cells are the same on table and neighbour: the audit is that of the rest."""
    holes = np.array([*INCOMES, np.nan, np.nan])[np.argsort(np.arange(62) * 29 % 62)]
    full = holes[~np.isnan(holes)]
    request = on_people("idp-vector", missing="keep", resolution={"A": 1}, bounds=None)
    found = mv_empirical({"A": holes}, runs=500, **request)
    assert found == mv_empirical({"A": full}, runs=500, **request)
    joint = on_people("kanon-dp", missing="keep", attributes=["A", "B"], resolution={"A": 1})
    other = {"A": holes, "B": np.append(PEOPLE["B"], [3, 5])}
    assert mv_empirical(other, runs=200, **joint).contradicted == ()
    for mechanism in (tuned({"A": holes}, request), tuned(other, joint)):
        assert (mechanism.table.sums == mechanism.part.sums).all()


def test_few_runs_show_nothing_and_say_so():
    """The report tells which claims so few runs could not have contradicted."""
    found = mv_empirical(PEOPLE, runs=10, **on_people("dp-um"))
    assert {finding.lower_bound for finding in found.scopes.values()} == {0.0}
    assert "At cluster and vector scope that is not above the claim" in found.to_text()
    enough = mv_empirical(PEOPLE, runs=2000, **on_people("dp-um")).to_text()
    assert "not above the claim" not in enough
    assert "No claim is contradicted. That proves none." in enough
    assert "not covered" in enough


def test_equal_values_without_noise_show_nothing():
    """A constant column under a method without a domain has no neighbour that differs."""
    found = mv_empirical({"A": np.full(20, 7)}, runs=300, **asked("idp-cbls", bounds=None))
    assert {finding.lower_bound for finding in found.scopes.values()} == {0.0}


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ({"runs": 1}, "runs"),
        ({"runs": True}, "runs"),
        ({"runs": 2.5}, "runs"),
        ({"confidence": 1.0}, "confidence"),
        ({"confidence": 0.5}, "confidence"),
        ({"confidence": "high"}, "confidence"),
        ({"audit_seed": None}, "audit_seed"),
        ({"attribute": "C"}, "attribute 'C'"),
        ({"method": "k-noise"}, "method"),
        ({"method": "mdav"}, "method"),
        ({"method": "pram", "matrix": {"A": "invariant"}}, "method"),
        ({"method": "mdav", "attribute": "A"}, "attribute 'A'"),
    ],
)
def test_what_cannot_be_attacked_is_refused(arguments, place):
    """With the place, and nothing of the data."""
    with pytest.raises(mv.RequestError) as caught:
        mv_empirical({"A": np.arange(13)}, **{**asked("dp-um"), "runs": 50, **arguments})
    assert caught.value.place == place
