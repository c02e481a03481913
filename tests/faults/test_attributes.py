"""What users can read of a guarantee, an assessment, a plan and parts, and hand to partitions."""

import numpy as np

import microveil as mv

PEOPLE = {"AGE": np.arange(60) ** 2 % 61 + 20, "KIND": np.arange(60) % 3}
ASKED = {
    "method": "dp-um",
    "k": 5,
    "epsilon": 1,
    "attributes": ["AGE"],
    "bounds": {"AGE": (0, 120)},
}


def test_a_guarantee_says_in_short_what_was_done():
    """Model, source, deed and the traits of a release that follows individuals."""
    said = mv.protect(PEOPLE, **ASKED).guarantee
    assert (said.model_in_words, said.source) == ("DP of the centroids", "IDP-2025 Algorithm 1")
    assert said.deed.startswith("Records were grouped by rank")
    assert said.in_a_line.startswith("dp-um, 60 records: ")
    assert (said.has_clusters, said.has_pairs, said.leaves_rows_out) == (True, True, True)
    assert (said.has_new_numbers, said.is_computational) == (False, False)
    assert said.in_place == ("AGE",)
    assert "protects nobody" in mv.protect(PEOPLE, **ASKED, seed=1).guarantee.in_a_line


def test_an_assessment_says_what_it_compared():
    """Cells and records, what is constant, text, and moments before and after."""
    release = mv.protect(PEOPLE, **ASKED)
    found = mv.assess(PEOPLE, release, attributes=["AGE"])
    assert (found.n_cells_compared, found.n_records_complete) == (60, 60)
    assert (found.constant_attributes, found.text_attributes) == ((), ())
    assert (found.n_sampled, found.numeric_looks) == ({}, {})
    assert np.isclose(found.moments.original.means[0], PEOPLE["AGE"].mean())


def test_a_plan_holds_what_was_asked_for_before_any_noise():
    """Seed, order and shape of the request."""
    plan = mv.plan(PEOPLE, **ASKED, seed=3)
    request = plan.prepared.request
    assert (request.seed, plan.isotonic, request.order) == (3, False, None)


def test_parts_take_the_steps_of_their_methods():
    """Each argument of a part changes how its attributes are protected, and nothing else."""
    noised = mv.part(["AGE"], method="k-noise", k=5, width=9, every="average", noise="laplace")
    both = ["AGE", "KIND"]
    together = mv.part(both, method="record-dp", k=5, epsilon=1, partition="mdav", blocks=[both])
    records = {"method": "kanon-dp", "composition": "parallel", "sensitivity": "vector"}
    ordered = mv.part(["AGE"], method="dp-um", k=5, epsilon=1, isotonic=True)
    ended = {"bounds": {"AGE": (0, 120), "KIND": (0, 2)}}
    for part in (noised, together, mv.part(both, k=5, epsilon=1, **records), ordered):
        released = mv.protect(PEOPLE, parts=[part], **ended).data
        assert set(released) == set(part.attributes)


def test_partitions_of_single_records_and_intervals():
    """One cluster a record; intervals of at least k records."""
    assert list(mv.partition.singletons(3).labels) == [0, 1, 2]
    found = mv.partition.intervals(np.arange(9.0), k=3)
    assert isinstance(found, mv.partition.Intervals)


def test_an_attack_says_what_it_was_made_with():
    """Records of each table, and the settings that it was asked for by."""
    release = mv.protect(PEOPLE, **ASKED, keep=["KIND"])
    asked = {"known": ["KIND"], "secret": "AGE", "seed": 1, "tolerance": 0.1, "confidence": 0.9}
    found = mv.attack(PEOPLE, release, **asked)
    assert (found.n_original, found.n_protected) == (60, 60)
    assert found.n_control == 0 or found.n_control is None
    assert (found.seed, found.tolerance, found.confidence) == (1, 0.1, 0.9)


def test_words_for_missing_cells_are_no_domain():
    """What means missing in every column is no category, and moves no bound or step."""
    table = {"TOWN": np.array(["a", "NA", "b"]), "PAY": np.array([1.5, 2.0, 3.5])}
    said = {"missing_values": ["NA"]}
    assert mv.categories_from_data({"TOWN": table["TOWN"]}, **said) == {"TOWN": ("a", "b")}
    pay = {"PAY": table["PAY"]}
    assert mv.bounds_from_data(pay, **said) == mv.bounds_from_data(pay)
    assert mv.resolution_from_data(pay, **said) == mv.resolution_from_data(pay)
