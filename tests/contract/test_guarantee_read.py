"""A guarantee read again: the same value, the same page; old claims are not laundered."""

import copy
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import microveil as mv

N = 60
SAVED = Path(__file__).parents[1] / "saved"
OLD = json.loads((SAVED / "0.1" / "guarantees.json").read_text("utf-8"))


def people():
    random = np.random.Generator(np.random.PCG64(1))
    return {
        "AGE": random.integers(0, 90, N),
        "SINCE": np.datetime64("2000-01-01") + random.integers(0, 999, N),
        "RICH": random.integers(0, 2, N).astype(bool),
        "TAX": random.integers(0, 999, N) / 100,
        "REGION": random.choice(["2020-01-01", "2021-01-01"], N),
    }


NUMBERS = ["AGE", "SINCE", "RICH", "TAX"]
ASKED = {
    "attributes": NUMBERS,
    "bounds": {"AGE": (0, 120), "SINCE": ("2000-01-01", "2020-12-31"), "TAX": (0, 10)},
    "resolution": {"TAX": 0.01},
    "k": 5,
    "epsilon": 0.1,
    "keep": ["REGION"],
}


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("laplace", {}),
        ("dp-um", {"budget": {"AGE": 2}, "missing": "keep"}),
        ("idp-ls", {}),
        ("idp-cbls", {"exact_cells": "allow", "epsilon": 7}),
        ("idp-vector", {"partition": "noise-aware", "exact_cells": "allow"}),
        ("record-dp", {"partition": "optimal"}),
        ("kanon-dp", {"shuffle": True, "keep": ()}),
        ("mdav", {}),
        ("laplace", {"seed": 3}),
        ("dp-um", {"bounds": mv.bounds_from_data(people()), "resolution": {"TAX": 0.25}}),
        ("laplace", {"resolution": mv.resolution_from_data(people())}),
        ("k-noise", {}),
    ],
)
def test_what_is_written_is_read_as_the_same_value(method, more, tmp_path):
    """File, value and page are the same after a round trip."""
    release = mv.protect(people(), method=method, **ASKED | more)
    folder, _ = release.write(tmp_path / "release")
    read = mv.Guarantee.read(folder / "guarantee.json")
    assert read == release.guarantee
    assert read.to_dict() == release.guarantee.to_dict()
    assert read.statement() == (folder / "guarantee.md").read_text(encoding="utf-8")
    assert read.summary() == release.guarantee.summary()


def test_categories_that_look_like_dates_stay_categories(tmp_path):
    """A domain of words is read as words."""
    categories = ["2020-01-01", "2021-01-01"]
    release = mv.protect(people(), method="pram", epsilon=1, attributes=["REGION"],
                         bounds={"REGION": categories})  # fmt: skip
    folder, _ = release.write(tmp_path / "release")
    read = mv.Guarantee.read(folder / "guarantee.json")
    assert read == release.guarantee
    assert "2020-01-01, 2021-01-01" in read.statement()


@pytest.mark.parametrize("name", OLD)
def test_a_certificate_of_schema_1_is_read_with_what_it_left_unsaid(name, tmp_path):
    """IDP gets its noise scales; choices by the data their condition, model and cover."""
    path = tmp_path / "guarantee.json"
    path.write_text(json.dumps(OLD[name]), encoding="utf-8")
    read = mv.Guarantee.read(path)
    ids = [condition.id for condition in read.conditions]
    expected = {
        "idp-cbls": ["noise-scales", "exact-cells"],
        "columns left to the data": ["columns-chosen"],
        "parameters left to the data": ["noise-scales", "parameters-chosen"],
        "k left to the data": ["noise-scales", "parameters-chosen", "exact-cells"],
        "rank boundaries": ["noise-scales", "rank-boundaries", "cluster-sizes", "kept-columns"],
        "bounds from the data": ["noise-scales", "missing-cells", "bounds"],
        "mdav": ["repeated-people", "kept-columns"],
        "seeded": ["seeded"],
    }
    assert ids == expected[name]
    chosen = {"columns-chosen", "parameters-chosen"} & set(ids)
    assert not (chosen and read.scopes.row.covered)
    assert not (chosen and read.model == "dp")
    assert read.epsilon == (None if name == "mdav" else Fraction(str(OLD[name]["epsilon"])))
    assert mv.Guarantee.from_dict(read.to_dict()) == read
    assert "records was protected" not in read.statement()
    for note in OLD[name]["notes"]:
        assert note in read.remarks or (note.startswith("Every further") and read.model == "idp")
    adds_up = any("adds its epsilon" in remark for remark in read.remarks)
    assert adds_up == (read.model == "dp")
    assert read.to_dict()["n_records"] is None


def test_white_space_hides_no_sentence_of_schema_1():
    """What a certificate left to the data is found however its words are spaced."""
    old = OLD["columns left to the data"]
    spaced = {**old, "notes": [note.replace(" ", "\u00a0\n") for note in old["notes"]]}
    read = mv.Guarantee.from_dict(spaced)
    assert "columns-chosen" in {condition.id for condition in read.conditions}
    assert read.model == "idp"


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"schema": 3}', '{"schema": 2, "method": "x"}', "null", '{"schema": 1}'],
)
def test_what_is_no_guarantee_is_refused(text, tmp_path):
    """Rule, place, remedy; whatever the file holds is not repeated."""
    path = tmp_path / "guarantee.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(mv.FileError, match="schema 1 or 2"):
        mv.Guarantee.read(path)
    with pytest.raises(mv.FileError, match="cannot be read"):
        mv.Guarantee.read(tmp_path / "absent.json")


def changed(contents, path, value):
    """The dictionary with one entry changed, itself left alone."""
    copied = copy.deepcopy(contents)
    place = copied
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return copied


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("epsilon",), 0.01),
        (("exact", "epsilon"), "-5"),
        (("exact", "epsilon"), "1/1000"),
        (("exact", "epsilon"), "1e999999999"),
        (("exact", "epsilon"), "9" * 900),
        (("exact", "scopes", "row", "epsilon"), "1/100"),
        (("scopes", "row", "covered"), True),
        (("model",), "dp"),
        (("conditions",), []),
        (("conditions", 0, "scopes"), ["everywhere"]),
        (("conditions", 0, "text"), 5),
        (("randomness",), "whatever"),
        (("randomness",), None),
        (("randomness",), ["keyed"]),
        (("randomness",), "seeded"),
        (("kept",), "city"),
        (("k",), "five"),
        (("k",), True),
        (("n_records",), [1]),
        (("attributes", "AGE", "share"), "7"),
        (("attributes", "AGE", "domain"), [[0], [1]]),
        (("attributes", "AGE", "domain"), [0, 1, 2]),
        (("notes", 5), None),
        (("unit",), {"column": None, "max_rows": 2, "more": 1}),
        (("shuffle",), "cells"),
        (("schema",), "2"),
    ],
)
def test_a_guarantee_that_contradicts_itself_is_refused(path, value, tmp_path):
    """Shown and exact figures are one; types, names and models are those of a guarantee."""
    asked = ASKED | {"exact_cells": "allow", "missing": "keep"}
    contents = mv.plan(people(), method="idp-cbls", **asked).guarantee.to_dict()
    path_of_file = tmp_path / "guarantee.json"
    path_of_file.write_text(json.dumps(contents), encoding="utf-8")
    mv.Guarantee.read(path_of_file)
    path_of_file.write_text(json.dumps(changed(contents, path, value)), encoding="utf-8")
    with pytest.raises(mv.FileError, match="schema 1 or 2"):
        mv.Guarantee.read(path_of_file)
