"""The audit of a new table: what is accounted, step by step, and that it is no more than that."""

import json

import numpy as np
import pytest

import microveil as mv
from command import run

RANDOM = np.random.default_rng(3)
PEOPLE = {
    "AGE": RANDOM.integers(0, 90, 1000),
    "FEE": RANDOM.integers(0, 500, 1000),
    "PLACE": RANDOM.choice(["north", "south", "east"], 1000),
}
ASKED = {
    "method": "dp-synthetic",
    "attributes": list(PEOPLE),
    "bounds": {"AGE": (0, 120), "FEE": (0, 500)},
    "categories": {"PLACE": ["north", "south", "east"]},
}
WAYS = [
    {}, {"delta": 1e-9}, {"structure": "tree", "budget": {"AGE": 3}}, {"structure": "independent"},
    {"target": "FEE", "delta": 1e-6}, {"missing": "protect", "delta": 1e-9},
]  # fmt: skip


@pytest.mark.parametrize("own", WAYS)
def test_what_all_steps_spend_is_the_budget_and_never_more(own):
    """Exactly, in epsilon or rho, with scales as rounded as they are drawn with."""
    planned = mv.plan(PEOPLE, epsilon=3, **ASKED, **own)
    accounted = mv.audit(PEOPLE, epsilon=3, **ASKED, **own).accounted
    budget = planned.claim.rho or planned.claim.epsilon
    assert accounted.unit == ("epsilon" if planned.claim.rho is None else "rho")
    assert budget * (1 - 1e-5) <= accounted.total <= budget
    assert (accounted.tables == 0) == (own.get("structure") == "independent")
    assert set(accounted.attributes) == set(PEOPLE)


def test_it_hangs_on_no_table_and_says_so():
    """Another table of as many records has the same audit; the text claims no look at this one."""
    others = {**PEOPLE, "AGE": np.zeros(1000, dtype=int)}
    found = [mv.audit(table, epsilon=3, delta=1e-9, **ASKED) for table in (PEOPLE, others)]
    assert found[0].to_dict() == found[1].to_dict()
    text = " ".join(found[0].to_text().split())
    for words in ("The loss that is accounted", "not computed on this table", "tables of pairs"):
        assert words in text
    assert "That is epsilon 3, delta 1e-09, whatever is looked at." in text
    assert "true loss" not in text
    assert found[0].vector_scope is None  # beside a delta no loss is certain
    assert mv.audit(PEOPLE, epsilon=3, **ASKED).vector_scope == pytest.approx(3)


def test_other_methods_have_what_is_computed_and_nothing_accounted():
    """Their audit is as it was."""
    asked = {"method": "dp-um", "k": 5, "attributes": "AGE", "bounds": {"AGE": (0, 120)}}
    found = mv.audit(PEOPLE, epsilon=1, **asked)
    assert found.accounted is None
    assert "accounted" not in found.to_dict()
    assert "true loss" in found.to_text()


def test_the_command_line_has_both_audits(tmp_path):
    """As text and as JSON, with the attack of the measurements of one attribute."""
    mv.invented_people(300, seed=1).write_csv(tmp_path / "people.csv")
    asked = (
        "audit", "people.csv", "--method", "dp-synthetic", "--epsilon", "3", "--attributes",
        "AGE,REGION", "--bounds", "AGE=0:120", "--categories", "REGION=North,South,East,West",
        "--runs", "200",
    )  # fmt: skip
    done = run(*asked, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "The loss that is accounted" in done.stdout
    assert "No claim is contradicted. That proves none." in done.stdout
    told = json.loads(run(*asked, "--json", folder=tmp_path).stdout)
    assert told["accounted"]["total"] == pytest.approx(3)
    assert set(told["empirical"]["scopes"]) == {"cluster", "vector", "row"}
