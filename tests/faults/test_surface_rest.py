"""Attributes, arguments and flags that no other subject's tests would miss."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import microveil as mv
from command import run

SECONDS = 30
PEOPLE = {"AGE": np.arange(60) ** 2 % 61 + 20, "KIND": np.arange(60) % 3}
BOUNDS = {"AGE": (0, 120), "KIND": (0, 2)}
ASKED = {"method": "dp-um", "k": 5, "epsilon": 1, "attributes": ["AGE"], "bounds": BOUNDS}
EXACT = {**ASKED, "method": "idp-cbls", "exact_cells": "allow"}
TOWNS = {"TOWN": np.array(["a", "b", "NA", "a", "b"] * 12), **PEOPLE}


def test_a_privacy_model_is_said_with_its_k():
    """Of k-anonymity its k is said, of differential privacy there is none to say."""
    release = mv.protect(PEOPLE, method="mdav", k=5, attributes=["AGE"])
    assert release.guarantee.model_with_k == "k-anonymity with k = 5"
    assert mv.protect(PEOPLE, **ASKED).guarantee.model_with_k == "differential privacy (DP)"


def test_an_assessment_says_what_became_of_columns_and_their_relations():
    """Means and spreads before and after, and how many pairs of columns are still related."""
    related = {"AGE": PEOPLE["AGE"], "PAY": 100 * PEOPLE["AGE"]}
    turned = {**related, "AGE": related["AGE"] + 2, "PAY": -related["PAY"]}
    found = mv.assess(related, turned)
    assert list(found.column_moves) == ["AGE", "PAY"]
    mean = PEOPLE["AGE"].mean()
    assert found.column_moves["AGE"].mean == pytest.approx((mean, mean + 2))
    assert (found.relations.n_pairs, found.relations.n_kept) == (1, 0)


def test_an_assessment_names_what_was_compared_and_shows_it_by_groups():
    """Attributes of numbers by their names, and of a heading the measures that stand under it."""
    found = mv.assess({**TOWNS, "AGE": PEOPLE["AGE"] * 1.0}, {**TOWNS, "AGE": PEOPLE["AGE"] + 1.0})
    assert found.attributes == ("AGE", "KIND")
    groups = {one.measure.group for one in found.measured.values()}
    shown = [one for group in groups for one in found.of(group)]
    assert shown
    assert all(one in found.of(one.measure.group) for one in shown)
    assert len({one.measure for one in shown}) == len(shown)


def test_a_comparison_is_made_again_of_its_rows():
    """Table, summary, frontier and answer are those of the comparison that measured them."""
    asked = {"k": [5, 9], "epsilon": [1], "attributes": ["AGE"], "bounds": {"AGE": (0, 120)}}
    found = mv.compare(PEOPLE, methods=["ranking", "laplace"], runs=1, jobs=1, **asked)
    again = mv.Comparison.of(found.table.to_dicts(), found.description)
    assert again.table.equals(found.table)
    assert again.summary.equals(found.summary)
    assert again.answer == found.answer


@pytest.mark.filterwarnings("ignore:engine and scratch:FutureWarning")
def test_who_carries_a_request_out_changes_nothing_of_it(tmp_path):
    """Engines and scratch folders of version 0.2 are taken with one warning, memory is a limit."""
    plain = mv.protect(PEOPLE, seed=1, **ASKED)
    for machine in (
        {"engine": "memory"},
        {"engine": "disk"},
        {"engine": "disk", "memory": "2GB", "scratch": tmp_path},
    ):
        with pytest.warns(FutureWarning, match="leave them out") as warned:
            other = mv.protect(PEOPLE, seed=1, **ASKED, **machine)
        assert len(warned) == 1
        assert (other.data["AGE"] == plain.data["AGE"]).all()
        assert other.guarantee == plain.guarantee
        assert list(tmp_path.iterdir()) == []
    for machine in ({"engine": "dask"}, {"memory": "much"}, {"memory": 0}, {"scratch": 5}):
        with pytest.raises(mv.RequestError) as refused:
            mv.protect(PEOPLE, **ASKED, **machine)
        assert refused.value.place == next(iter(machine))


def test_a_labelled_table_says_how_many_records_it_has(tmp_path):
    """Whichever way the file is read."""
    pl.DataFrame(PEOPLE).write_csv(tmp_path / "people.csv")
    assert mv.read(tmp_path / "people.csv").n_records == 60


def test_a_plan_says_what_was_asked():
    """As plain values, by the names of the arguments."""
    parameters = mv.plan(PEOPLE, **ASKED).parameters
    assert (parameters["method"], parameters["k"]) == ("dp-um", 5)
    assert parameters["epsilon"] == "1"  # exactly, as a fraction is written
    assert parameters["attributes"] == ["AGE"]


def test_advice_says_whether_choosing_by_it_is_free():
    """It is where a new table is all that there is, whose figures are of distributions alone."""
    pay = {"PAY": np.arange(300) * 13.37 % 900, "TOWN": np.array(["a", "b", "c"] * 100)}
    asked = {"attributes": ["PAY", "TOWN"], "bounds": {"PAY": (0, 9999)}, "epsilon": 40}
    more = {"resolution": {"PAY": 0.01}, "categories": {"TOWN": ["a", "b", "c"]}}
    public = mv.advise(pay, method="dp-synthetic", **asked, **more)
    assert {option.method for option in public.options} <= {"dp-synthetic"}
    assert public.is_public
    assert not mv.advise(PEOPLE, **ASKED).is_public


def test_advice_measures_the_linkage_that_order_invites():
    """Where isotonic regression was asked for, and nowhere else."""
    linked = mv.advise(PEOPLE, **ASKED, isotonic=True).linkage
    assert linked.n_records == 60
    assert linked.by_chance == pytest.approx(100 / 60)
    assert mv.advise(PEOPLE, **ASKED).linkage is None


def test_advice_on_a_part_names_what_would_be_better_for_it():
    """Attributes and request, and below it the options of the part."""
    asked = {name: ASKED[name] for name in ("method", "k", "epsilon", "attributes")}
    parts = [mv.part(**asked), mv.part(["KIND"], method="pram", epsilon=1)]
    assert [part.named for part in (*parts, mv.part(["AGE", "KIND"], method="mdav", k=5))] == [
        "AGE", "KIND", "AGE, KIND",
    ]  # fmt: skip
    told = mv.advise(PEOPLE, parts=parts, bounds=BOUNDS)
    of_age = told.to_text().partition("Of AGE, by dp-um, k 5")[2]
    assert "idp-vector" in of_age.partition("Of KIND")[0]
    assert "At row scope nothing at hand does better" in of_age.partition("Of KIND")[2]


def test_audits_say_what_the_claims_take_as_given(tmp_path):
    """As the guarantee does; a request in a file is audited as the same one in arguments."""
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        'method = "idp-cbls"\nk = 5\nepsilon = 1\nexact_cells = "allow"\n[attributes.AGE]\n'
        'role = "confidential"\ntype = "whole number"\nbounds = [0, 120]\n'
    )
    promised = [condition.id for condition in mv.plan(PEOPLE, **EXACT).guarantee.conditions]
    exact = mv.audit(PEOPLE, **EXACT)
    assert [condition.id for condition in exact.conditions] == promised != []
    assert mv.audit(PEOPLE, recipe=recipe).to_dict() == exact.to_dict()
    tried = {"runs": 300, "confidence": 0.9}
    attacked = mv.empirical_audit(PEOPLE, **tried, **EXACT)
    assert [condition.id for condition in attacked.conditions] == promised
    assert (attacked.runs, attacked.confidence) == (300, 0.9)
    assert mv.empirical_audit(PEOPLE, **tried, recipe=recipe).to_dict() == attacked.to_dict()
    new = {"method": "dp-synthetic", "epsilon": 20, "attributes": ["AGE"], "bounds": BOUNDS}
    told = mv.empirical_audit(PEOPLE, runs=50, **new)
    assert told.remarks
    assert all(remark in told.to_text() for remark in told.remarks)
    assert "at 90 % confidence" in attacked.to_text()


def test_a_comparison_is_a_document_and_writes_what_follows_from_it(tmp_path):
    """Its answer as a value, and as files beside the results."""
    asked = {"k": [5], "epsilon": [1], "attributes": ["AGE"], "bounds": {"AGE": (0, 120)}}
    found = mv.compare(PEOPLE, methods=["ranking", "laplace"], runs=1, jobs=1, **asked)
    told = found.document.to_markdown()
    assert told.split() == found.answer.split() != []
    found.write_beside(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "answer.md",
        "summary.csv",
        "frontier.csv",
    }
    assert (tmp_path / "answer.md").read_text().split() == found.answer.split()
    assert len(pl.read_csv(tmp_path / "summary.csv")) == found.summary.height == 2


def test_a_release_that_a_seed_draws_covers_nothing():
    """Whatever the same request covers otherwise."""
    laplace = {"method": "laplace", "epsilon": 1, "attributes": ["AGE"], "bounds": BOUNDS}
    claim, seeded = (mv.plan(PEOPLE, **laplace, seed=seed).guarantee for seed in (None, 1))
    assert (claim.scopes.row.covered, seeded.scopes.row.covered) == (True, False)
    assert seeded.randomness == "seeded"
    (drawn,) = {*claim.remarks} - {*seeded.remarks}
    assert drawn.startswith("Noise is exact discrete Laplace noise")
    assert seeded.conditions[0].id == "seeded"


def test_a_release_knows_what_was_missing_in_its_original():
    """What was declared, unless something else is given."""
    asked = {"method": "pram", "epsilon": 1, "attributes": ["TOWN"], "missing": "keep"}
    said, other = (
        mv.protect(TOWNS, **asked, categories={"TOWN": towns}, missing_values=[word])
        for word, towns in (("NA", ["a", "b"]), ("a", ["NA", "b"]))
    )
    declared = said.codes_of_original()
    assert declared != other.codes_of_original()
    assert said.codes_of_original(other.codes_of_original()) == other.codes_of_original()
    town = mv.assess(TOWNS, said, attributes=["TOWN"]).to_dict()["categories"]["TOWN"]
    assert {"a", "b"} <= {*town["categories"]} <= {"a", "b", ""}


def test_words_for_missing_cells_are_missing_to_measures_and_attacks():
    """A word that means missing is compared and guessed as a cell that is empty."""
    words = pl.DataFrame(TOWNS)
    empty = words.with_columns(TOWN=pl.col("TOWN").replace("NA", None))
    said, known = {"missing_values": ["NA"]}, {"known": ["TOWN"], "secret": ["AGE"]}
    measured = mv.assess(empty, empty).to_dict()
    assert mv.assess(words, empty, **said).to_dict() == measured
    assert mv.assess(words, empty).to_dict() != measured
    attacked = mv.attack(empty, empty, **known).to_dict()
    assert mv.attack(words, empty, **known, **said).to_dict() == attacked
    assert mv.attack(words, empty, **known).to_dict() != attacked


def test_vector_aware_partitions_let_equal_values_stand_or_not():
    """Equal values alone form a cluster, unless that is forbidden."""
    values = np.array([1, 1, 1, 1, 5, 6, 7, 8.0])
    for allowed, sizes in ((True, {4}), (False, {8})):
        found = mv.partition.vector_aware(values, 3, 1.0, exact_allowed=allowed).labels
        assert {*np.bincount(found)} == sizes


@pytest.mark.parametrize("partition", [mv.partition.mdav, mv.partition.v_mdav])
def test_clusters_hold_records_of_k_people(partition):
    """Where it is said whose records they are: those of one person are no crowd."""
    whose = np.arange(60) // 4
    near = np.stack([whose * 100.0 + np.arange(60) % 4, whose % 5 * 300.0], axis=1)
    alone, together = (partition(near, k=3, **said).labels for said in ({}, {"units": whose}))
    people = [
        min(len({*whose[labels == one]}) for one in {*labels}) for labels in (alone, together)
    ]
    assert people[0] < 3 <= people[1]


@pytest.fixture
def written(tmp_path):
    """Give a folder of a table before and after, neither in UTF-8."""
    before = pl.DataFrame(
        {
            "TOWN": ["\u00e9", "b"] * 40,
            "AGE": [20 + i * i % 41 for i in range(80)],
            "OUT": [int(i * i % 41 + i % 7 > 18) for i in range(80)],
        }
    )
    after = before.with_columns(AGE=pl.col("AGE") + pl.Series([i % 5 for i in range(80)]))
    for name, table in (("before", before), ("after", after)):
        (tmp_path / f"{name}.csv").write_bytes(table.write_csv().encode("latin-1"))
    return tmp_path


def answer(command, folder, *flags):
    """Return what a command says of the two tables, in JSON."""
    tables = ("before.csv", "after.csv", "--encoding=latin-1", "--json")
    done = run(command, *tables, *flags, folder=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("command", ["assess", "attack"])
def test_two_tables_are_read_in_the_encoding_said(written, command):
    """Without it they are refused, with it they are read."""
    refused = run(command, "before.csv", "after.csv", folder=written)
    assert refused.returncode == 2
    assert "--encoding cp1252" in refused.stderr
    said = answer(command, written)
    assert said["n_records" if command == "assess" else "n_original"] == 80


def test_assess_links_unless_told_not_to_and_fits_log_odds(written):
    """--linkage is what is done anyway, --no-linkage leaves it out; --logistic names the model."""
    linked, alone = (answer("assess", written, flag) for flag in ("--linkage", "--no-linkage"))
    assert linked == answer("assess", written) != alone
    fitted = answer("assess", written, "--no-linkage", "--formula=OUT ~ AGE", "--logistic")
    assert fitted["regression"]["model"] == "logistic"
    plain = answer("assess", written, "--no-linkage", "--formula=OUT ~ AGE")
    assert plain["regression"]["model"] != "logistic"
    tables = (
        pl.read_csv(written / f"{name}.csv", encoding="latin-1") for name in ("before", "after")
    )
    found = mv.assess(*tables, formula="OUT ~ AGE", logistic=True)
    assert found.regression.to_dict() == fitted["regression"]


def test_attack_guesses_within_a_tolerance_and_draws_by_a_seed(written):
    """A wide tolerance makes more guesses right; another seed other people."""
    near, far = (answer("attack", written, f"--tolerance={much}") for much in (0.01, 0.9))
    assert (near["tolerance"], far["tolerance"]) == (0.01, 0.9)
    rates = [sum(one["successes"] for one in found["outcomes"]) for found in (near, far)]
    assert rates[0] < rates[1]
    drawn_by = [answer("attack", written, "--sample=20", f"--seed={seed}") for seed in (4, 4, 5)]
    assert drawn_by[0] == drawn_by[1]
    assert drawn_by[1]["outcomes"] != drawn_by[2]["outcomes"]


def test_the_page_opens_in_the_browser(tmp_path):
    """--browser opens what the terminal names; here a browser that writes its address down."""
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.part && mv {opened}.part {opened}\n')
    browser.chmod(0o700)
    (tmp_path / "data").mkdir()
    with subprocess.Popen(
        [sys.executable, "-m", "microveil", "app", tmp_path / "data", "--browser"],
        env={**os.environ, "BROWSER": f"{browser} %s", "TMPDIR": f"{tmp_path}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        said = ""
        while "Ctrl-C" not in said:
            line = process.stdout.readline()
            assert line, said
            said += line
        until = time.monotonic() + SECONDS
        while not opened.exists() and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=SECONDS)
    assert re.search(r"file://\S+", said)[0] == Path(opened).read_text().strip()
