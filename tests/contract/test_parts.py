"""Several methods in one release: what is asked, promised, written and refused."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import microveil as mv
from command import run
from trial_method import TRIAL, registered

N = 60
BOUNDS = {"AGE": (0, 120), "INCOME": (0, 1000)}
CATEGORIES = {"SEX": ["f", "m"], "REGION": ["N", "S", "W"]}
DECLARED = {"bounds": BOUNDS, "categories": CATEGORIES}
NUMBERS, WORDS = ["AGE", "INCOME"], ["SEX", "REGION"]


def people():
    random = np.random.Generator(np.random.PCG64(5))
    return {
        "AGE": random.integers(18, 90, N),
        "INCOME": random.integers(0, 900, N),
        "SEX": np.array(["f", "m"])[random.integers(0, 2, N)],
        "REGION": np.array(["N", "S", "W"])[random.integers(0, 3, N)],
        "HOUSEHOLD": np.arange(N) // 2,
    }


RESPONSE = mv.part(WORDS, method="pram", epsilon=0.4)


def planned(*parts, **more):
    return mv.plan(people(), parts=parts, **DECLARED | more)


def part(attributes=NUMBERS, method="dp-um", **asked):
    return mv.part(attributes, method=method, **asked)


CLUSTERED = {"k": 10, "epsilon": 0.6}


@pytest.mark.parametrize(
    ("first", "more", "model", "covered"),
    [
        (part(**CLUSTERED), {}, "dp", (1, 1, None)),
        (part(**CLUSTERED), {"shuffle": "rows"}, "dp", (1, 1, None)),
        (part(**CLUSTERED), {"shuffle": "columns"}, "dp", (1, 1, 1)),
        (part(**CLUSTERED, shuffle=True), {}, "dp", (1, 1, None)),
        (part(["AGE"], **CLUSTERED), {}, "dp", (1, 1, None)),
        (part(["AGE"], **CLUSTERED), {"shuffle": "rows"}, "dp", (1, 1, None)),
        (part(["AGE"], **CLUSTERED, shuffle=True), {}, "dp", (1, 1, 1)),
        (part(["AGE"], **CLUSTERED, shuffle=True), {"seed": 1}, "dp", (None, None, None)),
        (part(["AGE"], **CLUSTERED, shuffle=False), {"shuffle": "columns"}, "dp", (1, 1, 1)),
        (
            part(["AGE"], **CLUSTERED, shuffle=True),
            {"bounds": {"AGE": mv.bounds_from_data({"AGE": np.arange(100)})["AGE"]}},
            "idp",
            (1, 1, None),
        ),
        (part(method="kanon-dp", **CLUSTERED), {"shuffle": "rows"}, "dp", (1 / 10, 1, None)),
        (part(method="kanon-dp", **CLUSTERED, shuffle=True), {}, "dp", (1 / 10, 1, 1)),
        (part(method="laplace", epsilon=0.6), {}, "dp", (1, 1, 1)),
        (part(method="laplace", epsilon=0.6), {"keep": ["HOUSEHOLD"]}, "dp", (1, 1, 1)),
        (part(method="idp-vector", **CLUSTERED), {}, "idp", (1, 1, None)),
        (part(method="idp-cbls", exact_cells="allow", **CLUSTERED), {}, "idp", (1, 4, None)),
        (part(method="mdav", k=10), {}, "none", (None, None, None)),
        (part(method="record-dp", partition="mdav", **CLUSTERED), {}, "idp", (1, None, None)),
    ],
)
def test_epsilons_add_up_where_all_parts_are_covered(first, more, model, covered):
    """The columns of others count as kept, unless a part's rows have an order of their own."""
    guarantee = planned(first, RESPONSE, **more).guarantee
    assert guarantee.model == model
    found = [cover.epsilon for cover in guarantee.scopes.by_scope.values()]
    if first.asked["method"] == "kanon-dp":  # a sixth of 0.6 at cluster scope, beside 0.4
        covered = (0.4 + 0.6 / (N // 10), *covered[1:])
    assert found == pytest.approx(covered)
    spends = first.asked["method"] != "mdav"
    assert guarantee.epsilon == (Fraction(1) if spends else None)


def test_a_method_from_outside_is_asked_with_the_columns_of_others_as_kept():
    """Its own arguments are a part's; and it hears whether other columns stand in its rows."""
    heard = []

    def promise(setting):
        heard.append(setting.keeps)
        return TRIAL.promise(setting)

    with registered(replace(TRIAL, promise=promise)):
        for shuffle in (False, True, "columns"):
            own = {"method": "trial-um", "k": 5, "epsilon": 1, "strength": 2}
            planned(mv.part(["AGE"], **own, shuffle=shuffle), RESPONSE)
        planned(mv.part(["AGE"], **own), RESPONSE, shuffle="rows")
        planned(mv.part(["AGE"], **own))
    assert heard == [True, False, False, True, False]


def test_without_an_epsilon_in_every_part_nothing_is_promised_of_the_whole():
    """The page says that a part's epsilon is no bound on it."""
    guarantee = planned(part(method="mdav", k=10), RESPONSE).guarantee
    assert "no epsilon in this table bounds it" in guarantee.statement()
    assert guarantee.summary() == (
        "privacy model: none: nothing formal is promised; "
        "a person with several rows is counted several times (AGE, INCOME)"
    )
    two = planned(part(["AGE"], "mdav", k=5), part(["INCOME"], "mdav", k=5)).guarantee
    assert two.model == "none"
    assert two.title.startswith("one method")
    # What is true of a part's attributes is not said of all of them.
    (claim, other) = (note for note in two.notes if "k-anonymity: every combination" in note)
    assert (claim.partition(":")[0], other.partition(":")[0]) == ("AGE", "INCOME")
    mixed = {"parts": [part(method="mdav", k=10), RESPONSE], **DECLARED}
    assert mv.audit(people(), **mixed).to_text().count("0.4") == 0


def test_what_two_parts_take_as_given_is_said_once_in_short():
    """Each in its own words where these differ; the page names it once."""
    both = planned(
        part(["AGE"], "record-dp", partition="optimal", **CLUSTERED),
        part(["INCOME"], "idp-vector", **CLUSTERED),
    ).guarantee  # fmt: skip
    assert both.summary().count("the noise scales") == 1
    assert both.statement().count("the noise scales and the noise scales") == 0
    texts = [one.text for one in both.conditions if one.id == "noise-scales"]
    assert [text.partition(":")[0] for text in texts] == ["AGE", "INCOME"]
    beside = planned(
        part(["AGE"], "record-dp", partition="optimal", **CLUSTERED),
        part(["INCOME"], "idp-vector", **CLUSTERED),
        RESPONSE,
    ).guarantee  # fmt: skip
    assert beside.summary().count("the noise scales (AGE, INCOME)") == 1


def test_whatever_names_attributes_and_parts_is_taken():
    """Arrays, as elsewhere; and a part whose rows stand still says that its row is one person's."""
    one = mv.part(np.array(NUMBERS), **{"method": "dp-um", **CLUSTERED})
    given = np.empty(2, dtype=object)
    given[:] = one, RESPONSE
    assert one.attributes == tuple(NUMBERS)
    assert planned(*given).guarantee == mv.plan(people(), parts=given, **DECLARED).guarantee
    assert "Each row follows one person" in planned(one, RESPONSE).guarantee.statement()
    apart = planned(part(**CLUSTERED, shuffle=True), RESPONSE).guarantee.statement()
    assert "Within a part each row follows one person" in apart


def test_columns_in_random_order_are_so_in_every_part():
    """What the table says of all of them, no part takes back by saying nothing of it."""
    table = {"A": np.arange(900), "B": np.arange(900)}
    parts = [
        mv.part("A", method="ranking", k=3, shuffle=False),
        mv.part("B", method="ranking", k=3),
    ]
    found = mv.protect(table, parts=parts, shuffle="columns").data
    for column in found.values():
        assert abs(np.corrcoef(column, np.arange(900))[0, 1]) < 0.2


def test_k_is_left_to_advice_part_by_part():
    """Of iDP by the data, which the guarantee of the whole then says."""
    guarantee = planned(part(method="idp-vector", k="auto", epsilon=1), RESPONSE).guarantee
    assert "parameters-chosen" in {condition.id for condition in guarantee.conditions}
    public = planned(part(method="dp-um", k="auto", epsilon=1), RESPONSE).guarantee
    assert [condition.id for condition in public.conditions] == ["repeated-people"]
    assert public.parts[0].k > 1


def test_units_are_limited_once_for_all_parts():
    """The same records of a unit stay in each part, and their budgets are the unit's."""
    parts = [part(method="laplace", epsilon=0.6), RESPONSE]
    table = people() | {"HOUSEHOLD": np.arange(N) // 3, "AGE": np.arange(N), "INCOME": np.arange(N)}
    wide = {"bounds": {"AGE": (0, 120), "INCOME": (0, 120)}}
    found = mv.plan(
        table, parts=parts, unit="HOUSEHOLD", max_rows=2, outside="clamp", **DECLARED | wide
    )
    assert found.table.n_records == 40
    assert found.guarantee.scopes.row.exact_epsilon == 1
    assert found.units.n_dropped == 20
    ages, incomes = (found.table.numbers(name).values for name in NUMBERS)
    assert (ages == incomes).all()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"parts": []}, "there is no part"),
        ({"parts": "AGE"}, "it is a list of parts"),
        ({"parts": [3]}, "each is made by microveil.part"),
        ({"epsilon": 1}, "the sum of theirs"),
        ({"attributes": ["AGE"]}, "the parts name them"),
        ({"k": 3}, "it is a part's to say"),
        ({"method": "dp-um"}, "it is a part's to say"),
        ({"parts": [part(["AGE"]), part(["AGE"])]}, "it is in two parts"),
        ({"parts": [part(["NONE"], **CLUSTERED), RESPONSE]}, "the table has no such column"),
        ({"parts": [part(WORDS, "laplace", epsilon=1), part(method="mdav", k=3)]},
         "part 1 (SEX, REGION), attributes 'SEX', 'REGION'"),
        ({"parts": [part(method="mdav"), RESPONSE]}, "part 1 (AGE, INCOME), k"),
        ({"parts": [RESPONSE, part(method="idp-cbls", k=2, epsilon=1)]}, "part 2 (AGE, INCOME), k"),
        ({"scope": "row"}, "do not keep their epsilon at row scope"),
        ({"delta": 1e-9}, "part 1 (AGE, INCOME), delta"),
        ({"unit": "HOUSEHOLD", "max_rows": 2}, "part 1 (AGE, INCOME), unit"),
        ({"unit": "HOUSEHOLD"}, "part 1 (AGE, INCOME), unit"),
        ({"keep": ["AGE"]}, "both to be protected and to be kept"),
        ({"budget": {"HOUSEHOLD": 2}}, "it is no protected attribute"),
        *(
            ({name: {**DECLARED.get(name, {}), "TALL": said}}, "column 'TALL': the table has no")
            for name, said in {
                "bounds": (0, 1), "resolution": 1, "categories": ["a", "b"], "missing_codes": [9],
            }.items()
        ),
        ({"keep": ["TALL"]}, "column 'TALL': the table has no such column"),
        ({"types": {"AGE": "text"}}, "the recipe expects a text column"),
        ({"colour": "red"}, "there is no such argument"),
        ({"parts": [part(**CLUSTERED, shuffle=True), RESPONSE], "keep": ["HOUSEHOLD"]},
         "would stand beside other people's in HOUSEHOLD"),
        ({"parts": [part(**CLUSTERED, shuffle=True), RESPONSE], "shuffle": "columns"},
         "say it once"),
        ({"missing": "protect"}, "part 1 (AGE, INCOME), missing"),
        ({"shuffle": "columns", "keep": ["HOUSEHOLD"]}, "beside values of other people"),
        ({"parts": [part(method="laplace", epsilon=1), RESPONSE], "unit": "HOUSEHOLD",
          "max_rows": 2, "keep": ["HOUSEHOLD"]}, "new numbers take its place"),
        ({"parts": [part(method="laplace", epsilon=1), RESPONSE], "scope": "row",
          "matrix": {"SEX": [[0.99, 0.01], [0.01, 0.99]]}}, "do not keep their epsilon at row"),
        ({"parts": [{1: 2, "x": 3, "attributes": ["AGE"], "method": "mdav"}]}, "argument '1'"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_its_part(asked, said):
    """Where it is, which rule, and what would do."""
    given = {"parts": [part(**CLUSTERED), RESPONSE], **DECLARED, **asked}
    with pytest.raises(mv.MicroveilError) as refused:
        mv.plan(people(), **given)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("attributes", "asked", "said"),
    [
        ([], {"method": "mdav"}, "it has no attributes"),
        (["A"], {}, "a part names its method"),
        (["A"], {"method": "auto"}, "a part names its method"),
        (["A"], {"method": "dp-synthetic"}, "cannot stand beside those of other parts"),
        (["A"], {"method": "mdav", "bounds": {}}, "said of the whole table"),
        (["A"], {"method": "mdav", "seed": 1}, "said of the whole table"),
        (["A"], {"method": "mdav", "colour": 1}, "there is no such argument"),
    ],
)
def test_a_part_is_checked_where_it_is_made(attributes, asked, said):
    """Without a table."""
    with pytest.raises(mv.RequestError, match=said):
        mv.part(attributes, **asked)


def test_a_column_that_may_hide_more_than_it_shows_is_not_kept_beside_parts():
    """As it is not where one method protects all: its cells are lists."""
    table = {**people(), "NOTES": np.fromiter(([n] for n in range(N)), dtype=object)}
    with pytest.raises(mv.DataError, match="column 'NOTES': lists and structures cannot be kept"):
        mv.plan(table, parts=[part(**CLUSTERED), RESPONSE], keep=["NOTES"], **DECLARED)


def test_missing_cells_are_each_part_s_business():
    """What is said of the whole holds where a part says nothing else."""
    table = people()
    table["SEX"][:5] = "?"
    response = mv.part(WORDS, method="pram", epsilon=0.4, missing="protect")
    codes = {"missing_values": ["?"], **DECLARED}
    asked = {"parts": [part(**CLUSTERED), response], **codes}
    found = mv.protect(table, **asked)
    assert "missing-cells" not in {condition.id for condition in found.guarantee.conditions}
    with pytest.raises(mv.DataError, match="part 2"):
        mv.protect(table, parts=[part(**CLUSTERED), RESPONSE], **codes)
    kept = mv.protect(table, parts=[part(**CLUSTERED), RESPONSE], missing="keep", **codes)
    assert (kept.data["SEX"][:5] == "").all()
    assert "missing-cells" in {condition.id for condition in kept.guarantee.conditions}
    # Codes of one part's columns, written where its cells are missing: the other has none.
    table["INCOME"][:3] = -9
    apart = {"missing": "keep", "missing_codes": {"INCOME": [-9]}, "missing_reasons": True}
    coded = mv.protect(table, parts=[part(**CLUSTERED), RESPONSE], **codes | apart)
    assert (coded.data["INCOME"][:3] == -9).all()


def _set(*path, exact=()):
    """Return what changes one value of a guarantee, and its exact text where it has one."""

    def forged(contents):
        for keys, value in ((path[:-1], path[-1]), (exact[:-1], exact[-1] if exact else None)):
            if keys:
                place = contents
                for key in keys[:-1]:
                    place = place[key]
                place[keys[-1]] = value
        return contents

    return forged


YES = True
COVERED = {"covered": True, "epsilon": 1.0, "delta": 0.0}
FORGED = {
    "a scope more": _set("scopes", "row", COVERED,
                         exact=("exact", "scopes", "row", "epsilon", "1")),
    "less spent": _set("scopes", "vector", "epsilon", 0.5,
                       exact=("exact", "scopes", "vector", "epsilon", "1/2")),
    "a smaller epsilon": _set("epsilon", 0.1, exact=("exact", "epsilon", "1/10")),
    "a stronger model": _set("parts", 1, "model", "none"),
    "a k": _set("k", 10),
    "a rho": _set("rho", 1.0, exact=("exact", "rho", "1")),
    "a new table": _set("synthetic", YES),
    "columns in random order": _set("shuffle", "columns"),
    "parts in random order": _set("shuffle", "parts"),
    "another method": _set("attributes", "AGE", "method", "laplace"),
    "a delta left out": _set("parts", 0, "exact", "scopes", "vector", "delta", "1/2"),
    "a part that spends none": _set("parts", 0, "epsilon", None, exact=("parts", 0, "exact",
                                                                       "epsilon", None)),
}  # fmt: skip


@pytest.mark.parametrize("claim", FORGED)
def test_a_guarantee_of_parts_that_claims_more_is_none_of_ours(claim):
    """A scope, a model, a smaller epsilon or an order of rows that its parts do not bear out."""
    contents = planned(part(**CLUSTERED), RESPONSE).guarantee.to_dict()
    assert mv.Guarantee.from_dict(contents).to_dict() == contents
    with pytest.raises((ValueError, KeyError)):
        mv.Guarantee.from_dict(FORGED[claim](json.loads(json.dumps(contents))))


RECIPE = """
microveil = "0.2"

[[parts]]
attributes = ["AGE", "INCOME"]
method = "dp-um"
k = 10
epsilon = 0.6

[[parts]]
attributes = ["SEX", "REGION"]
method = "pram"
epsilon = 0.4
shuffle = true

[attributes.AGE]
role = "quasi-identifier"
type = "whole number"
bounds = [0, 120]

[attributes.INCOME]
role = "confidential"
type = "whole number"
bounds = [0, 1000]

[attributes.SEX]
role = "quasi-identifier"
type = "text"
categories = ["f", "m"]

[attributes.REGION]
role = "quasi-identifier"
type = "text"
categories = ["N", "S", "W"]

[attributes.HOUSEHOLD]
role = "identifier"
type = "whole number"
"""


@pytest.mark.usefixtures("reported")
def test_the_command_line_releases_parts_by_recipe(tmp_path):
    """Protected, audited, advised on and assessed; flags for a part are refused."""
    data = tmp_path / "people.csv"
    columns = people()
    rows = zip(*columns.values(), strict=True)
    data.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]))
    (tmp_path / "recipe.toml").write_text(RECIPE)
    asked = (data, "--recipe", "recipe.toml")
    done = run("protect", *asked, "-o", "release", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    guarantee = mv.Guarantee.read(tmp_path / "release" / "guarantee.json")
    assert [part.method for part in guarantee.parts] == ["dp-um", "pram"]
    assert guarantee.shuffle == "parts"
    manifest = json.loads((tmp_path / "release-custodian" / "manifest.json").read_text())
    assert [entry["k"] for entry in manifest["parameters"]["parts"]] == [10, 1]
    # The part whose rows stand still is linked, beside one whose rows do not.
    assert manifest["findings"]["linkage"]["n_sampled"] == 60
    assert manifest["findings"]["linkage"]["known"] == "AGE, INCOME"
    page = (tmp_path / "release-custodian" / "report.html").read_text()
    assert "by who knows all original values of AGE, INCOME" in page
    assert "dp-um" in run("audit", *asked, folder=tmp_path).stdout
    refused = run("protect", *asked, "--epsilon", 1, "-o", "other", folder=tmp_path)
    assert refused.returncode == 2
    assert "sum of theirs" in " ".join(refused.stderr.split())
    assert run("assess", data, "release", folder=tmp_path).returncode == 0
    # By its folder alone: what was asked of each part is read off the manifest.
    again = run("audit", data, "release", folder=tmp_path)
    assert again.returncode == 0, again.stderr
    assert again.stdout == run("audit", *asked, folder=tmp_path).stdout


def test_a_comparison_weighs_parts_beside_methods_for_the_whole():
    """An epsilon of the grid is divided as theirs are, and a run is what `protect` draws."""
    found = mv.compare(
        people(), methods="parts,mdav", k=[10], epsilon=[1, 3], runs=2, seed=5,
        parts=[part(**CLUSTERED), RESPONSE], **DECLARED,
    )  # fmt: skip
    summary = {(row["method"], row["epsilon"]): row for row in found.summary.to_dicts()}
    assert list(summary) == [("parts", 1), ("parts", 3), ("mdav", None)]
    assert summary["parts", 3]["vector_epsilon"] == 3
    assert summary["parts", 3]["information_loss"] < summary["parts", 1]["information_loss"]
    run_of_it = next(row for row in found.table.to_dicts() if row["epsilon"] == 3)
    thrice = [part(k=10, epsilon=1.8), mv.part(WORDS, method="pram", epsilon=1.2)]
    release = mv.protect(people(), parts=thrice, seed=run_of_it["seed"], **DECLARED)
    again = mv.assess(people(), release.data, attributes=NUMBERS).to_dict()
    assert run_of_it["information_loss"] == pytest.approx(again["information_loss"])
    with pytest.raises(mv.RequestError, match="parts of a recipe, and there are none"):
        mv.compare(people(), methods="parts", attributes=NUMBERS, bounds=BOUNDS)


def test_an_audit_and_advice_show_parts():
    """The method beside each attribute; what would be better for a part, and no new table."""
    asked = {"parts": [part(**CLUSTERED), RESPONSE], **DECLARED}
    audit = mv.audit(people(), **asked)
    assert audit.methods == {"AGE": "dp-um", "INCOME": "dp-um", "SEX": "pram", "REGION": "pram"}
    assert "method" in audit.to_text()
    advice = mv.advise(people(), **asked)
    assert [entry.attributes for entry in advice.parts] == [tuple(NUMBERS), tuple(WORDS)]
    assert "Of AGE, INCOME, by dp-um, k 10" in advice.to_text()
    assert "dp-synthetic" not in advice.to_text()
    shown = mv.empirical_audit(people(), attribute="SEX", runs=200, **asked)
    assert shown.scopes["row"].claimed == pytest.approx(0.2)
