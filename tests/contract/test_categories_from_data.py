"""Categories read off the table: asked for by name, marked, and a condition of the guarantee."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import microveil as mv
from microveil.guarantee import Model
from microveil.methods import METHODS, Choices, Promise, Setting
from microveil.methods.base import epsilon_scopes
from microveil.protect.request import offered
from microveil.report import publishable_report
from microveil.schema import Kind

WORDS = ["north", "south", "west"] * 20
# One person alone is from there.
ALONE = "Ulaanbaatar"
TABLE = {"R": np.array([*WORDS, ALONE]), "C": np.array(["red", "blue", "red"] * 20 + ["red"])}
ASKED = {"method": "pram", "epsilon": 1, "attributes": ["R", "C"], "shuffle": "columns"}
COLOURS = {"C": ["red", "blue"]}


def test_lists_are_read_only_off_text_and_in_an_order_that_says_nothing():
    """Alphabetical, each category once, without missing cells, numbers, dates or constants."""
    words = ["b", None, "a", "b"]
    frames = [
        pd.DataFrame({"W": pd.Categorical(words, categories=["b", "a", "unseen"])}),
        pl.DataFrame({"W": pl.Series(words, dtype=pl.Categorical)}),
        pa.table({"W": words}),
        {"W": np.array(words, dtype=object)},
        {"W": np.array(["b", "a", "b"]), "N": np.arange(3), "SAME": np.array(["x"] * 3)},
    ]
    for table in frames:
        assert mv.categories_from_data(table) == {"W": ("a", "b")}
    many = np.arange(1001).astype(str)
    assert mv.categories_from_data({"NAME": many}) == {}
    assert len(mv.categories_from_data({"NAME": many[:1000]})["NAME"]) == 1000


def test_lists_read_from_the_data_are_a_condition_and_cost_model_and_rows():
    """Individual differential privacy at most, rows not covered, and only for those read."""
    asked = {**ASKED, "max_rows": 1}
    declared = mv.plan(
        TABLE, **asked, categories={**COLOURS, "R": ["north", "south", "west", ALONE]}
    )
    assert declared.guarantee.model == "dp"
    assert declared.guarantee.scopes.row.covered
    assert declared.guarantee.conditions == ()
    read = mv.plan(
        TABLE, **asked, categories={**mv.categories_from_data(TABLE), **COLOURS}
    ).guarantee
    assert read.model == "idp"
    assert read.scopes.vector.epsilon == read.scopes.cluster.epsilon == 1
    assert not read.scopes.row.covered
    (condition,) = read.conditions
    assert (condition.id, condition.is_given) == ("categories", True)
    assert [scope.value for scope in condition.scopes] == ["cluster", "vector", "row"]
    assert "for R. The release" in condition.text
    assert "with the lists of categories of this table held" in read.summary()
    assert [terms.domain_source.value for terms in read.attributes] == [
        "read from the data",
        "declared",
    ]
    with pytest.raises(mv.RequestError, match="does not keep this epsilon at row scope"):
        mv.plan(TABLE, **ASKED, scope="row", categories=mv.categories_from_data(TABLE))


def test_the_cost_is_taken_off_whatever_a_method_says(monkeypatch):
    """A method registered from outside that passes over the setting promises no rows either."""

    def careless(setting):
        del setting
        return Promise(
            model=Model.DIFFERENTIAL_PRIVACY, epsilon=Fraction(1), scopes=epsilon_scopes(1, 1, 1)
        )

    monkeypatch.setitem(METHODS, "pram", replace(METHODS["pram"], promise=careless))
    found = mv.plan(TABLE, **ASKED, categories=mv.categories_from_data(TABLE)).guarantee
    assert (found.model, found.scopes.row.covered) == ("idp", False)


@pytest.mark.parametrize(
    "method", [name for name, method in METHODS.items() if "epsilon" in method.needs]
)
def test_no_method_promises_differential_privacy_by_lists_that_were_read(method):
    """Nor rows, asked by itself: what was read is a public figure of the mechanism."""
    of = METHODS[method]
    own = {one.name: one.default for one in offered(of)} | {"blocks": (("a", "b"),)}
    read = mv.plan(TABLE, **ASKED, categories=mv.categories_from_data(TABLE))
    setting = Setting(
        attributes=tuple(replace(part.attribute, kind=Kind.ORDINAL) for part in read.attributes),
        shares=(Fraction(1), Fraction(1)),
        spends_epsilon=True,
        choices=Choices(k=5, shares={}, own=own, epsilon=Fraction(2)),
        keeps_missing=False,
        keeps=False,
        shuffle="rows",
    )
    promise = of.promise(setting)
    assert promise.model is Model.INDIVIDUAL
    assert not promise.scopes.row.covered
    if method == "kanon-dp":
        assert not promise.scopes.vector.covered


def test_what_was_read_stands_in_nothing_to_be_published_but_the_table():
    """Neither list nor category: guarantee, notes and public page; the custodian has it."""
    release = mv.protect(TABLE, **ASKED, categories=mv.categories_from_data(TABLE))
    page = publishable_report(release)
    if ALONE not in set(release.data["R"]):
        assert ALONE not in page
    for told in (json.dumps(release.guarantee.to_dict()), release.guarantee.statement(),
                 str(release.notes), repr(release)):  # fmt: skip
        assert ALONE not in told
        assert "north" not in told
    assert any("Categories read from the data (R, C)" in note for note in release.notes)
    assert ALONE in release.manifest.to_dict()["attributes"]["R"]["bounds"]
    assert mv.Guarantee.from_dict(release.guarantee.to_dict()) == release.guarantee


def test_a_comparison_says_which_lists_were_read():
    """Description and conditions."""
    table = {**TABLE, "A": np.arange(61) % 7}
    found = mv.compare(
        table, methods=["pram"], epsilon=[1], runs=1, seed=1, attributes=["A", "R"],
        bounds={"A": (0, 6)}, categories=mv.categories_from_data(TABLE),
    )  # fmt: skip
    assert found.description["read_from_data"] == {"categories": ["R"]}
    assert "Lists of categories were read from the data for R" in " ".join(found.answer.split())


def test_a_polars_enum_declares_its_list():
    """Given by the type, in no order; what a person declares goes before it."""
    kind = pl.Enum(["west", "south", "north", "unseen"])
    table = pl.DataFrame({"R": pl.Series(WORDS, dtype=kind)})
    asked = {**ASKED, "attributes": ["R"], "shuffle": False}
    terms = mv.plan(table, **asked).guarantee.attributes[0]
    assert terms.domain == ("west", "south", "north", "unseen")
    assert (terms.domain_source, terms.kind) == ("given by the type", "nominal")
    assert mv.protect(table, **asked).data["R"].dtype == kind
    assert mv.plan(table, **asked).guarantee.scopes.row.covered
    own = mv.ordered("north", "south", "west")
    terms = mv.plan(table, **asked, categories={"R": own}).guarantee.attributes[0]
    assert terms.domain == ("north", "south", "west")
    assert (terms.domain_source, terms.kind) == ("declared", "ordinal")


@pytest.mark.parametrize("ordered", [False, True])
def test_a_pandas_category_holds_values_seen_and_declares_nothing(ordered):
    """Its list is that of the values there were, whoever made it, also where it is ordered."""
    table = pd.DataFrame({"R": pd.Categorical(WORDS, ordered=ordered)})
    with pytest.raises(mv.RequestError, match="needs a list of all their categories"):
        mv.plan(table, **{**ASKED, "attributes": ["R"]})
    with pytest.raises(mv.DataError, match="it must hold numbers"):
        mv.plan(table, **{**ASKED, "method": "dp-um", "k": 3, "attributes": ["R"]})
