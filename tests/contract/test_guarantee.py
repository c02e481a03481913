"""The guarantee: its keys, its scopes, and that it holds nothing of the data."""

import json
import math

import numpy as np
import pytest

import microveil as mv

N = 60
REQUEST = {"k": 5, "epsilon": 1, "exact_cells": "allow", "attributes": ["x", "y"]}
BOUNDS = {"x": (0, 1000), "y": (0, 1000)}


def people(seed=1):
    random = np.random.Generator(np.random.PCG64(seed))
    return {
        "x": random.integers(0, 900, N),
        "y": random.integers(0, 900, N),
        "place": random.integers(0, 3, N),
    }


def told(method, data=None, **request):
    request = {"bounds": BOUNDS, **REQUEST, **request}
    return mv.plan(people() if data is None else data, method=method, **request).guarantee.to_dict()


def scopes(guarantee):
    return {name: scope["epsilon"] for name, scope in guarantee["scopes"].items()}


def test_the_dictionary_has_the_contracts_keys():
    """Keys and kinds of values are those that programs rely on, and JSON takes them."""
    guarantee = told("idp-cbls", keep=["place"])
    assert " ".join(guarantee) == (
        "schema method title source deed n_records model epsilon delta rho k unit scopes "
        "conditions attributes randomness kept notes shuffle exact kinds"
    )
    assert guarantee["schema"] == 2
    assert guarantee["unit"] == {"column": None, "max_rows": 1}
    assert guarantee["scopes"] == {
        "cluster": {"covered": True, "epsilon": 1.0, "delta": 0.0},
        "vector": {"covered": True, "epsilon": 12.0, "delta": 0.0},
        "row": {"covered": False, "epsilon": None, "delta": None},
    }
    assert guarantee["attributes"]["x"] == {
        "method": "idp-cbls",
        "share": 0.5,
        "domain": [0, 1000],
        "domain_source": "declared",
        "resolution": 1,
        "resolution_source": "given by the type",
    }
    assert guarantee["kept"] == ["place"]
    assert guarantee["randomness"] == "os"
    assert json.loads(json.dumps(guarantee)) == guarantee


@pytest.mark.parametrize(
    ("method", "model", "vector", "row"),
    [
        ("laplace", "dp", 1.0, 1.0),
        ("dp-um", "dp", 1.0, None),
        ("idp-ls", "idp", 1 + math.log(2), None),
        ("idp-cbls", "idp", 12.0, None),
    ],
)
def test_scopes_are_those_of_the_method(method, model, vector, row):
    """Cluster, vector and row scope as proved, with bounds that need no data."""
    guarantee = told(method)
    assert guarantee["model"] == model
    assert scopes(guarantee) == {"cluster": 1.0, "vector": pytest.approx(vector), "row": row}
    assert guarantee["scopes"]["vector"]["epsilon"] >= vector


FIRST = ("laplace", "dp-um", "idp-ls", "idp-cbls")


@pytest.mark.parametrize("method", FIRST)
def test_the_guarantee_holds_nothing_that_depends_on_the_data(method):
    """Two tables of as many records and one request have one guarantee, word for word."""
    one = mv.plan(people(1), method=method, bounds=BOUNDS, **REQUEST).guarantee
    other = mv.plan(people(2), method=method, bounds=BOUNDS, **REQUEST).guarantee
    assert one == other
    assert one.statement() == other.statement()


@pytest.mark.parametrize("method", FIRST)
def test_bounds_and_resolutions_from_the_data_are_named_without_their_values(method):
    """They appear as read from the data, and nothing is called differential privacy."""
    guarantees = []
    for seed in (1, 2):
        data = {name: values / 4 for name, values in people(seed).items()}
        guarantee = mv.plan(
            data,
            method=method,
            **REQUEST,
            bounds=mv.bounds_from_data(data),
            resolution=mv.resolution_from_data(data),
        ).guarantee
        assert guarantee.model == "idp"
        terms = guarantee.to_dict()["attributes"]["x"]
        assert terms["domain"] is None
        assert terms["domain_source"] == "read from the data"
        assert terms["resolution"] is None
        assert terms["resolution_source"] == "read from the data"
        assert not guarantee.scopes.row.covered
        assert "No claim holds for the person who has the largest" in guarantee.statement()
        guarantees.append(guarantee.statement())
    assert guarantees[0] == guarantees[1]


def test_a_seeded_release_protects_nobody():
    """No scope is covered, and the statement says so first."""
    release = mv.protect(people(), method="laplace", bounds=BOUNDS, **REQUEST, seed=1)
    guarantee = release.guarantee.to_dict()
    assert guarantee["randomness"] == "seeded"
    assert not any(scope["covered"] for scope in guarantee["scopes"].values())
    assert "protects nobody" in release.guarantee.statement().splitlines()[2]
    assert "protects nobody" in guarantee["notes"][0]
    assert any("protects nobody" in note for note in release.notes)


def test_one_shuffled_attribute_alone_is_covered_at_row_scope():
    """Then rows follow nobody; a second attribute, a kept column or the order end that."""
    alone = {"attributes": ["x"], "bounds": {"x": (0, 1000)}}
    assert scopes(told("dp-um", **alone, shuffle=True))["row"] == 1.0
    assert scopes(told("idp-cbls", **alone, shuffle=True))["row"] == 12.0
    assert scopes(told("dp-um", **alone))["row"] is None
    assert scopes(told("dp-um", **alone, shuffle=True, keep=["place"]))["row"] is None
    assert scopes(told("dp-um", shuffle=True))["row"] is None


@pytest.mark.parametrize("method", FIRST)
def test_the_statement_says_what_a_signer_must_know(method):
    """Kept columns, missing cells, exact cells, order, repetition, one record one person."""
    asked = {**REQUEST, "bounds": BOUNDS, "keep": ["place"], "missing": "keep", "outside": "clamp"}
    statement = mv.plan(people(), method=method, **asked).guarantee.statement()
    said = (
        "place; released as such; nearer bound; order of the original; Every further release; "
        "Records were counted, not people; exact discrete Laplace"
    )
    assert not [words for words in said.split("; ") if words not in statement]
    assert "{" not in statement
    assert "None" not in statement


def test_the_manifest_holds_the_custodians_figures():
    """Scales, exact cells and bounds read from the data are there, and only there."""
    data = people()
    release = mv.protect(data, method="idp-cbls", **REQUEST, bounds=mv.bounds_from_data(data))
    figures = release.manifest.to_dict()["attributes"]["x"]
    assert figures["bounds"] == [0, 1.5 * data["x"].max()]
    assert figures["n_clusters"] == 12
    assert figures["centroid_noise_scale"]["largest"] > 0
    assert json.loads(json.dumps(release.manifest.to_dict()))


@pytest.mark.parametrize("method", ["idp-cbls", "kanon-dp"])
def test_missing_cells_do_not_show_in_the_guarantee(method):
    """How many cells are missing is not to be read off the epsilons."""
    guarantees = []
    for holes in (0, 7, 20):
        data = {name: values.astype(float) for name, values in people().items()}
        data["x"][:holes] = np.nan
        guarantees.append(
            mv.plan(data, method=method, bounds=BOUNDS, resolution={"x": 1, "y": 1},
                    missing="keep", **REQUEST).guarantee
        )  # fmt: skip
    assert guarantees[0] == guarantees[1] == guarantees[2]


def test_seed_zero_is_a_seed():
    """The release repeats and covers nothing."""
    one, other = (
        mv.protect(people(), method="dp-um", bounds=BOUNDS, **REQUEST, seed=0) for _ in range(2)
    )
    assert np.array_equal(one.data["x"], other.data["x"])
    assert not one.guarantee.scopes.cluster.covered
    assert one.guarantee.randomness == "seeded"


def test_one_attribute_with_bounds_from_the_data_is_enough():
    """One of two makes the release no differential privacy."""
    bounds = {"x": (0, 1000), "y": mv.bounds_from_data(people())["y"]}
    own = told("laplace", bounds=bounds)
    assert (own["model"], scopes(own)["row"]) == ("idp", None)


def test_a_resolution_from_the_data_is_no_differential_privacy():
    """One record can add a decimal: model and row scope say so."""
    data = {name: values / 4 for name, values in people().items()}
    own = told("laplace", data, resolution=mv.resolution_from_data(data))
    assert (own["model"], scopes(own)["row"]) == ("idp", None)


def test_marks_of_what_was_read_survive_a_recipe():
    """Bounds and resolutions read from the data are not laundered by a recipe."""
    data = {name: values / 4 for name, values in people().items()}
    entry = {"role": "confidential", "type": "decimal", "bounds": mv.bounds_from_data(data)["x"],
             "resolution": mv.resolution_from_data(data)["x"]}  # fmt: skip
    recipe = {"method": "laplace", "epsilon": 1, "attributes": {"x": entry}}
    guarantee = mv.plan(data, recipe=recipe).guarantee
    assert guarantee.to_dict()["attributes"]["x"]["domain_source"] == "read from the data"
    assert guarantee.to_dict()["attributes"]["x"]["resolution_source"] == "read from the data"
    assert guarantee.model == "idp"


HELD = "with the noise scales of this table held"
SIZES = "with the noise scales and the cluster sizes of this table held"
BOUNDARIES = "with the noise scales, the rank boundaries and the cluster sizes of this table held"
EXACT = "not for cells of clusters of equal values, which come out exactly"


@pytest.mark.parametrize(
    ("method", "asked", "provisos"),
    [
        ("laplace", {}, ()),
        ("dp-um", {"keep": ["place"]}, ("not for what is released as it is: place",)),
        ("idp-cbls", {}, (HELD, EXACT)),
        ("idp-cbls", {"exact_cells": "widen"}, (SIZES,)),
        ("idp-vector", {"exact_cells": "refuse"}, (HELD,)),
        ("idp-vector", {"exact_cells": "widen"}, (SIZES,)),
        ("idp-vector", {"partition": "noise-aware"}, (SIZES, EXACT)),
        ("record-dp", {"partition": "ranking"}, ()),
        ("record-dp", {"partition": "optimal"}, (BOUNDARIES,)),
        (
            "idp-vector",
            {"partition": "noise-aware", "bounds": mv.bounds_from_data(people(), 1.5)},
            ("with the noise scales, the cluster sizes and the bounds of this table held", EXACT),
        ),
        ("laplace", {"seed": 1}, ()),
    ],
)
def test_what_scopes_hang_on_is_told_with_them(method, asked, provisos):
    """A terminal shows no epsilon without what it takes as given and leaves out."""
    guarantee = mv.plan(
        people(), method=method, **{"bounds": BOUNDS, "max_rows": 1, **REQUEST, **asked}
    ).guarantee
    assert guarantee.provisos == provisos
    assert guarantee.summary().splitlines()[4:] == [f"  {proviso}" for proviso in provisos]
    chosen = [note for note in guarantee.notes if "chosen anew on a neighbour" in note]
    assert bool(chosen) == any("sizes" in p or "boundaries" in p for p in provisos)


def test_dates_without_bounds_are_any_dates():
    """Not the first and the last day of the calendar, as if somebody had declared these."""
    days = np.datetime64("1950-01-01") + np.arange(N)
    released = mv.protect({"BORN": days.astype("datetime64[D]")}, method="mdav", k=3)
    assert "| BORN | none | any date |" in released.guarantee.statement()
