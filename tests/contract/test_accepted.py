"""`accept = "file"`: what a table's file declares of its columns, taken as publicly known."""

import json

import polars as pl
import pytest

import microveil as mv
from command import run
from microveil.commands.files import protect_file
from microveil.commands.spark import release_in_spark
from microveil.files.writing import write_data
from microveil.protect.declarations import declared_by_file, with_declared
from microveil.schema import Declared, Kind, Ordered
from microveil.table import Labels

FRAME = pl.DataFrame(
    {
        "AGE": list(range(20, 60)) * 10,
        "SEX": [1, 2, 9, 1] * 100,
        "LEVEL": [3, 1, 2, -8] * 100,
        "REGION": ["n", "s", None, "n"] * 100,
        "INCOME": [100, -9, 5000, None] * 100,
    }
)
LABELS = {
    "AGE": Labels(column="Age in years", codes={99: "99 or more"}),
    "SEX": Labels(codes={1: "male", 2: "female", 9: "refused"}, missing_codes=(9,)),
    "LEVEL": Labels(
        codes={3: "degree", 1: "none", 2: "school"}, missing_codes=(-8,), is_ordinal=True
    ),
    "REGION": Labels(codes={"n": "North", "s": "South", "w": "West"}),
    "INCOME": Labels(missing_codes=(-9,)),
}
ASKED = {
    "method": "dp-synthetic",
    "epsilon": 20,
    "delta": 1e-6,
    "missing": "protect",
    "attributes": [*FRAME.columns],
    "bounds": {"AGE": (0, 120), "INCOME": (0, 10_000)},
}
LISTED = {
    "categories": {"SEX": [1, 2], "LEVEL": mv.ordered(1, 2, 3), "REGION": ["n", "s", "w"]},
    "missing_codes": {"SEX": [9], "LEVEL": [-8], "INCOME": [-9]},
}


@pytest.fixture(params=["sav", "csv"])
def people(tmp_path, request):
    """The table in a file that declares: itself, or by the schema.json beside it."""
    path = tmp_path / f"people.{request.param}"
    if request.param == "sav":
        write_data(FRAME, path, text=None, labels=LABELS)
        return path
    FRAME.write_csv(path)
    types = {"AGE": "integer", "SEX": "integer", "LEVEL": "integer", "REGION": "string"}
    fields = [
        {
            "name": name,
            "type": types.get(name, "integer"),
            "categories": [{"value": c, "label": t} for c, t in sorted(said.valid.items())],
            "categoriesOrdered": said.is_ordinal,
            "missingValues": ["", *map(str, said.missing_codes)],
        }
        for name, said in LABELS.items()
    ]
    (tmp_path / "schema.json").write_text(json.dumps({"fields": fields}), encoding="utf-8")
    return path


def declared_in(release):
    asked = release.manifest.to_dict()["parameters"]
    return {name: asked[name] for name in ("bounds", "categories", "missing_codes")}


def test_what_is_accepted_is_declared_as_if_it_had_been_typed(people):
    """The same request, and the same guarantee; an order where the file says so alone."""
    table = mv.read(people)
    accepted, typed = (mv.protect(table, **ASKED, **more) for more in ({"accept": "file"}, LISTED))
    assert declared_in(accepted) == declared_in(typed)
    assert accepted.guarantee.to_dict() == typed.guarantee.to_dict()
    assert {e["domain_source"] for e in accepted.guarantee.to_dict()["attributes"].values()} == {
        "declared"
    }
    assert declared_in(accepted)["categories"]["LEVEL"] == {"ordered": [1, 2, 3]}
    assert accepted.schema["LEVEL"].kind is Kind.ORDINAL
    assert not declared_by_file(table)["AGE"].has_domain  # a list of one code


def test_a_recipe_and_a_flag_accept_too(people, tmp_path):
    """Text with its role is protected where the file lists its categories."""
    entries = "".join(
        f'[attributes.{name}]\nrole = "confidential"\ntype = "{kind}"\n'
        for name, kind in (("SEX", "whole number"), ("REGION", "text"))
    )
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        'microveil = "0.2"\nmethod = "pram"\nepsilon = 2.0\nmissing = "keep"\n'
        f'accept = "file"\n{entries}'
    )
    made = protect_file(people, tmp_path / "a", recipe=recipe)
    assert declared_in(made)["categories"] == {"SEX": [1, 2], "REGION": ["n", "s", "w"]}
    assert declared_in(made)["missing_codes"] == {"SEX": [9]}
    done = run(
        "protect", people.name, "--method", "pram", "--epsilon", "2", "--missing", "keep",
        "--attributes", "SEX,REGION", "--accept", "file", "-o", "b", folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0
    said = json.loads((tmp_path / "b-custodian" / "manifest.json").read_text())["parameters"]
    assert said["categories"] == {"SEX": [1, 2], "REGION": ["n", "s", "w"]}


def test_what_a_request_says_itself_comes_first(people):
    """A domain and missing codes each: the file fills in the other."""
    asked = {**ASKED, "bounds": {**ASKED["bounds"], "SEX": (1, 2), "LEVEL": (-8, 3)}}
    release = mv.protect(mv.read(people), **asked, accept="file", missing_codes={"INCOME": [5000]})
    found = declared_in(release)
    assert found["categories"] == {"REGION": ["n", "s", "w"]}
    assert found["missing_codes"] == {"SEX": [9], "LEVEL": [-8], "INCOME": [5000]}


def test_a_value_that_the_list_lacks_is_refused_and_never_added(tmp_path):
    """As with a list that was typed, and without the value."""
    path = tmp_path / "people.sav"
    few = {**LABELS, "SEX": Labels(codes={1: "male", 2: "female"})}
    write_data(FRAME, path, text=None, labels=few)
    asked = {"method": "pram", "epsilon": 1, "attributes": ["SEX"]}
    said = []
    for more in ({"accept": "file"}, {"categories": {"SEX": [1, 2]}}):
        with pytest.raises(mv.DataError, match="none of the declared categories") as caught:
            mv.protect(mv.read(path), **asked, **more)
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert "9" not in caught.value.rule


def test_other_verbs_accept_what_protect_does(people, tmp_path):
    """Plan, audit and a comparison have the same domains."""
    table = mv.read(people)
    asked = {"epsilon": 2, "attributes": ["SEX", "REGION"], "missing": "keep", "accept": "file"}
    plan = mv.plan(table, method="pram", **asked)
    assert [one.categories.values for one in plan.prepared.attributes] == [(1, 2), ("n", "s", "w")]
    # LEVEL has no bounds: without its accepted order the one configuration would be refused.
    more = {**asked, "attributes": ["AGE", "LEVEL"], "bounds": {"AGE": (0, 120)}, "epsilon": [2]}
    found = mv.compare(table, methods=["laplace"], runs=1, seed=1, linkage=False, **more)
    assert len(found.summary) == 1
    asked = [people.name, "--method", "laplace", "--epsilon", "2", "--missing", "keep"]
    asked += ["--attributes", "LEVEL", "--accept", "file"]
    for command in ("advise", "audit"):
        assert run(command, *asked, folder=tmp_path).returncode == 0
        assert run(command, *asked[:-2], folder=tmp_path).returncode == 2


@pytest.mark.parametrize("table", [{"AGE": FRAME["AGE"].to_numpy()}, FRAME])
def test_where_nothing_is_declared_there_is_nothing_to_accept(table, tmp_path):
    """Refused, for a file as in Python: no one shall think that something was declared."""
    asked = {"method": "dp-um", "k": 5, "epsilon": 1, "attributes": ["AGE"], "accept": "file"}
    with pytest.raises(mv.RequestError, match="declares nothing of its columns"):
        mv.protect(table, **asked, bounds={"AGE": (0, 120)})
    FRAME.write_csv(tmp_path / "people.csv")
    with pytest.raises(mv.RequestError, match="declares nothing of its columns"):
        protect_file(tmp_path / "people.csv", tmp_path / "out", **asked, bounds=["AGE=0:120"])
    assert not (tmp_path / "out").exists()


def test_a_type_that_lists_categories_declares_them():
    """Those of polars; what a library lists by the values seen declares nothing."""
    region = pl.Series(["n", "s"] * 20, dtype=pl.Enum(["n", "s", "w"]))
    frame = pl.DataFrame({"REGION": region, "SEEN": region.cast(pl.Categorical)})
    found = declared_by_file(frame)
    assert [*found["REGION"].categories] == ["n", "s", "w"]
    assert not found["SEEN"].has_domain
    release = mv.protect(frame, method="pram", epsilon=1, attributes=["REGION"], accept="file")
    assert release.guarantee.to_dict()["attributes"]["REGION"]["domain_source"] == "declared"


def test_declared_bounds_and_steps_are_filled_in_as_well():
    """As a codebook has them; an order is one of its own."""
    declared = {
        "AGE": Declared(bounds=(0, 120), resolution=0.5),
        "LEVEL": Declared(categories={1: "low", 2: "high"}, is_ordered=True),
        "ZIP": Declared(categories={"1": "here", "2": "there"}),
    }
    asked = {"attributes": ["AGE", "LEVEL"], "resolution": {"AGE": 1}}
    assert with_declared(asked, declared) == {
        "attributes": ["AGE", "LEVEL"],
        "resolution": {"AGE": 1},
        "bounds": {"AGE": (0, 120)},
        "categories": {"LEVEL": Ordered((1, 2))},
    }


FIELDS = [
    {"name": "AGE", "type": "integer", "constraints": {"minimum": 0, "maximum": 120}},
    {"name": "TAX", "type": "number", "constraints": {"minimum": 0, "maximum": 9.5}},
    {"name": "BORN", "type": "date",
     "constraints": {"minimum": "1900-01-01", "maximum": "2020-12-31"}},
    {"name": "SEX", "type": "string", "constraints": {"enum": ["f", "m"]}},
]  # fmt: skip
PACKAGE = {
    "resources": [{"path": "other.csv"}, {"path": "people.csv", "schema": {"fields": FIELDS}}]
}


@pytest.mark.parametrize(
    ("name", "contents"),
    [
        ("schema.json", {"fields": FIELDS}),
        ("people.schema.json", {"fields": FIELDS, "missingValues": ["", "NA", "-9"]}),
        ("datapackage.json", PACKAGE),
    ],
)
def test_bounds_of_a_schema_beside_a_table_are_accepted(tmp_path, name, contents):
    rows = (f"{20 + i},{i / 10},{1970 + i}-02-03,{'fm'[i % 2]}" for i in [*range(20)] * 15)
    lines = ["AGE,TAX,BORN,SEX", *rows]
    (tmp_path / "people.csv").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / name).write_text(json.dumps(contents), encoding="utf-8")
    people = mv.read(tmp_path / "people.csv")
    release = mv.protect(
        people, method="dp-synthetic", epsilon=20, delta=1e-6, accept="file",
        attributes=["AGE", "TAX", "BORN", "SEX"], resolution={"TAX": 0.1},
    )  # fmt: skip
    asked = release.manifest.to_dict()["parameters"]
    assert asked["categories"] == {"SEX": ["f", "m"]}
    assert asked["bounds"] == {
        "AGE": [0, 120], "TAX": [0, 9.5], "BORN": ["1900-01-01", "2020-12-31"],
    }  # fmt: skip
    told = run("inspect", "people.csv", "--scope", "row", "--accept", "file", folder=tmp_path)
    assert "No entry is left to type." in told.stderr
    assert "# bounds by the file: 0 to 120" in told.stdout


def test_a_package_that_names_other_files_says_nothing_of_a_table(tmp_path):
    (tmp_path / "mine.csv").write_text("AGE\n1\n2\n", encoding="utf-8")
    (tmp_path / "datapackage.json").write_text(json.dumps(PACKAGE), encoding="utf-8")
    assert declared_by_file(mv.read(tmp_path / "mine.csv"))["AGE"].bounds is None


def test_spark_refuses_what_it_would_not_take_from_the_file(tmp_path):
    """By flag and by recipe, before a session begins: no argument is ignored in silence."""
    FRAME.write_parquet(tmp_path / "people.parquet")
    (tmp_path / "recipe.toml").write_text('accept = "file"\n', encoding="utf-8")
    for arguments, recipe in (({"accept": "file"}, None), ({}, tmp_path / "recipe.toml")):
        with pytest.raises(mv.RequestError, match="accept: Spark does not pass on"):
            release_in_spark(
                tmp_path / "people.parquet", recipe=recipe, progress=print, **arguments
            )
