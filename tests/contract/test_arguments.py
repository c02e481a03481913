"""Arguments: declared once, and alike wherever they are written; a method declares its own."""

import inspect
import json
import os
import pickle
import re
import subprocess
import sys
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
import polars as pl
import pytest

import made
import microveil as mv
from microveil.compare.grid import read_choice, read_grid
from microveil.measures.assess import assess
from microveil.methods import METHODS, register
from microveil.protect.arguments import DECLARED, Argument, arguments
from microveil.protect.recipe import read_recipe
from microveil.protect.request import of_methods
from microveil.protect.settling import merged
from microveil.report import comparison_report, custodian_report, publishable_report
from trial_method import CONDITION, PACE, STRENGTH, TRIAL, registered

PEOPLE = {"x": np.arange(60) ** 2 % 97, "y": np.arange(60) % 7}
ASKED = {"k": 5, "epsilon": 1, "attributes": ["x"], "bounds": {"x": (0, 100)}}
OWN = {"method": "trial-um", **ASKED}


@pytest.fixture
def trial():
    """A method from outside the package, registered by one call."""
    with registered() as method:
        yield method


# What stands in more than one place because it must be static.


def test_type_checkers_see_the_arguments_that_are_declared():
    """The signatures name each of them, no other, and the choices of those that have some."""
    for verb in (mv.protect, mv.plan, mv.advise, mv.audit, mv.empirical_audit):
        named = set(inspect.signature(verb).parameters) - {
            "runs",
            "confidence",
            "audit_seed",
            "attribute",
            "findings",
        }
        assert named == {*arguments(), "table", "recipe", "parts"}
    of_part = set(inspect.signature(mv.part).parameters) - {"attributes", "of_method"}
    assert of_part == {name for name, argument in arguments().items() if argument.of_part}
    hints = {name: one.annotation for name, one in inspect.signature(mv.plan).parameters.items()}
    # Of missing cells something may be said by column, too.
    hints["missing"], by_column = get_args(hints["missing"])
    assert get_args(by_column)[1] == Literal["never"]
    for name in ("outside", "missing", "exact_cells"):
        assert get_args(hints[name]) == DECLARED[name].choices


def test_all_problems_of_a_request_are_one_error():
    """A line for each, of the rules between arguments too; one alone is a sentence as ever."""
    asked = {"method": "dp-um", "k": 0, "epsilon": -1, "seed": "x", "keep": ["A"]}
    with pytest.raises(mv.RequestError) as caught:
        mv.plan(PEOPLE, **asked, attributes=["A"], speed=1, scope="row", looked_at="data")
    places = [problem.place for problem in caught.value.problems]
    assert places == [
        "argument 'speed'",
        "epsilon",
        "seed",
        "k",
        "looked_at",
        "column 'A'",
        "column 'A'",
    ]
    assert str(caught.value).splitlines() == [f"{problem}" for problem in caught.value.problems]
    with pytest.raises(mv.RequestError) as caught:
        mv.plan(PEOPLE, **ASKED | {"method": "dp-um", "k": 0})
    assert f"{caught.value}" == "k: k must be a whole number of 1 or more; pass for example k=10."


def test_all_problems_of_parts_are_one_error():
    """Each is said to be of its part."""
    parts = [
        {"attributes": ["x"], "method": "dp-um", "k": 0, "epsilon": -1},
        {"attributes": ["y"], "method": "dp-um", "k": 5},
    ]
    with pytest.raises(mv.RequestError) as caught:
        mv.plan(PEOPLE, parts=parts)
    places = [problem.place for problem in caught.value.problems]
    assert places == [
        "part 1 (x), epsilon", "part 1 (x), k", "part 1 (x), attribute 'x'",
        "part 2 (y), epsilon", "part 2 (y), attribute 'y'",
    ]  # fmt: skip


def test_all_problems_of_a_recipe_are_one_error():
    """An entry is named once, however many kinds it might have been of."""
    recipe = {"k": "many", "seed": 1.5, "attributes": {"x": {"role": "secret", "type": "text"}}}
    with pytest.raises(mv.RequestError) as caught:
        mv.plan(PEOPLE, recipe=recipe)
    places = [problem.place for problem in caught.value.problems]
    assert places == [
        "recipe, entry 'k'", "recipe, entry 'seed'", "recipe, entry 'attributes.x.role'",
        "epsilon", "column 'x'",
    ]  # fmt: skip


def test_what_is_refused_together_is_pickled_whole():
    """As it is on its way from another process."""
    with pytest.raises(mv.RequestError) as caught:
        mv.plan(PEOPLE, method="dp-um")
    copied = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 -- written here
    assert [str(one) for one in copied.problems] == [str(one) for one in caught.value.problems]
    assert str(copied) == str(caught.value)
    assert [problem.place for problem in copied.problems] == [
        "epsilon", "k", "attribute 'x'", "attribute 'y'"
    ]  # fmt: skip


def test_the_docstring_of_protect_names_the_arguments_that_are_declared():
    """help(protect) has a paragraph for each, and none for what is not there."""
    section = inspect.getdoc(mv.protect).partition("Parameters\n")[2].partition("Returns\n")[0]
    named = re.findall(r"^(\w+) : (.*)$", section, flags=re.MULTILINE)
    assert {name for name, _ in named} - {"table", "recipe", "parts", "findings"} == {*arguments()}
    offered = {
        name: {c for method in METHODS.values() for c in method.arguments.get(name, ())}
        for name in of_methods()
    }
    for argument in arguments().values():
        text = section.partition(f"\n{argument.name} : ")[2]
        text = re.split(r"\n\w+ : ", text)[0]
        for choice in offered.get(argument.name, argument.choices):
            assert f'"{choice}"' in text, (argument.name, choice)


def test_flags_are_known_before_methods_are():
    """The command line is made of light modules, which hold every argument of our own methods."""
    code = (
        "import sys; from microveil.protect.arguments import arguments; arguments(); "
        "print([m for m in sys.modules if m == 'numpy'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert {name for method in METHODS.values() for name in method.arguments} <= {*DECLARED}


# A method from outside, with arguments of its own.


@pytest.mark.usefixtures("trial")
def test_python_checks_the_arguments_of_a_registered_method():
    """Read by its reader, held to its choices, at its default where none is given."""
    plan = mv.plan(PEOPLE, **OWN, strength=2, pace="slow")
    assert plan.attributes[0].partition.sizes.min() == 10
    assert mv.plan(PEOPLE, **OWN).attributes[0].partition.sizes.min() == 5
    with pytest.raises(mv.RequestError, match="strength: it must be a whole number of 1 or more"):
        mv.plan(PEOPLE, **OWN, strength=0)
    with pytest.raises(mv.RequestError, match="pace: it must be one of fast, slow"):
        mv.plan(PEOPLE, **OWN, pace="idle")


@pytest.mark.usefixtures("trial")
def test_a_method_adds_choices_to_an_argument_that_others_share():
    """Its own are taken for it, and refused of another method in that one's words."""
    assert "hexagonal" in str(mv.plan(PEOPLE, **OWN, partition="hexagonal").guarantee.notes)
    with pytest.raises(mv.RequestError, match="trial-um offers ranking, hexagonal"):
        mv.plan(PEOPLE, **OWN, partition="mdav")
    with pytest.raises(mv.RequestError, match="record-dp offers mdav, ranking, optimal"):
        mv.plan(PEOPLE, **OWN | {"method": "record-dp"}, partition="hexagonal")


@pytest.mark.usefixtures("trial")
def test_other_methods_have_no_use_for_it():
    """One recipe serves them all: it is listed as unused, and the notes say so."""
    release = mv.protect(PEOPLE, **ASKED, method="dp-um", strength=2, pace="fast")
    assert release.manifest.to_dict()["unused_parameters"] == ["strength", "pace"]
    assert "dp-um has no use for: strength, pace." in release.notes


@pytest.mark.usefixtures("trial")
def test_what_it_sets_aside_is_unused():
    """An argument with no use beside a value of its own is named too."""
    more = {**TRIAL.arguments, "every": ("group", "average")}
    with registered(replace(TRIAL, id="other", arguments=more)):
        asked = {**ASKED, "method": "other", "every": "average"}
        assert mv.plan(PEOPLE, **asked, strength=2).unused == ("every",)


@pytest.mark.usefixtures("trial")
def test_a_recipe_has_an_entry_for_it():
    """At the top, of its kind; an argument given by name goes before it."""
    entry = {"role": "confidential", "type": "whole number", "bounds": [0, 100]}
    recipe = {"method": "trial-um", "k": 5, "epsilon": 1, "strength": 3, "attributes": {"x": entry}}
    assert mv.plan(PEOPLE, recipe=recipe).parameters["strength"] == 3
    assert merged(read_recipe(recipe), {"strength": 2})["strength"] == 2
    with pytest.raises(mv.RequestError, match="recipe, entry 'strength'"):
        read_recipe({"strength": "much"})
    with pytest.raises(mv.RequestError, match=r"recipe, entry 'attributes.x.strength'"):
        read_recipe({"attributes": {"x": {**entry, "strength": 2}}})


@pytest.mark.usefixtures("trial")
def test_it_reaches_manifest_guarantee_assessment_and_reports():
    """Each shows what was asked for, and the condition of the method."""
    release = mv.protect(PEOPLE, **OWN, strength=2, max_rows=1)
    parameters = release.manifest.to_dict()["parameters"]
    assert (parameters["strength"], parameters["pace"]) == (2, "fast")
    assert [condition.id for condition in release.guarantee.conditions] == ["weather"]
    assert "Of strength 2, fast, ranking." in release.guarantee.statement()
    assert CONDITION.short in release.guarantee.summary()
    assessment = assess(PEOPLE, release)
    assert CONDITION.short in assessment.to_text()
    for page in (publishable_report(release), custodian_report(release, PEOPLE)):
        assert CONDITION.clause[1:] in page
        assert "Of strength 2" in page
    assert "strength" in custodian_report(release, PEOPLE)


@pytest.mark.usefixtures("trial")
def test_advice_names_it():
    """A request is shown with the steps that were chosen for it."""
    advice = mv.advise(PEOPLE, **OWN, strength=2)
    assert advice.asked.choices == {"strength": "2", "pace": "fast", "partition": "ranking"}
    assert "trial-um, strength 2, pace fast, partition ranking, k 5" in advice.to_text()


@pytest.mark.usefixtures("trial")
def test_a_comparison_takes_it_as_a_step():
    """Behind the id, held to its reader and choices, and in results and report."""
    asked = {key: ASKED[key] for key in ("attributes", "bounds")}
    methods = "trial-um,trial-um:strength=2,trial-um:pace=slow:strength=3"
    found = mv.compare(PEOPLE, methods=methods, k=5, epsilon=1, runs=2, seed=1, **asked)
    assert found.summary["steps"].to_list() == ["", "strength=2", "pace=slow:strength=3"]
    assert "trial-um (2)" in comparison_report(found)
    assert CONDITION.short in " ".join(found.answer.split())
    assert read_choice("trial-um:strength=2").arguments(5, None)["strength"] == 2
    for step, words in {
        "strength=0": "pass one of a whole number of 1 or more",
        "strength=much": "pass one of a whole number of 1 or more",
        "pace=idle": "pass one of fast, slow",
        "width=2": "pass steps out of pace, partition, strength",
    }.items():
        with pytest.raises(mv.RequestError, match=words):
            read_choice(f"trial-um:{step}")
    for same in ("trial-um,trial-um:strength=1", "trial-um:pace=fast,trial-um"):
        with pytest.raises(mv.RequestError, match="are the same"):
            read_grid(same, 5, 1, 1)


@pytest.mark.usefixtures("trial")
def test_the_registry_and_the_page_list_it():
    """With its choices, flag, entry, default and method."""
    (entry,) = [entry for entry in mv.methods() if entry["id"] == "trial-um"]
    assert entry["offers"] == {
        "strength": [], "pace": ["fast", "slow"], "partition": ["ranking", "hexagonal"],
    }  # fmt: skip
    assert (
        "|`strength`|`--strength`|`strength`|a whole number of 1 or more|`1`|trial-um|"
    ) in made.arguments()


COMMANDS = """
import json, sys
from trial_method import PACE, STRENGTH, TRIAL
from microveil.methods import register
register(TRIAL, STRENGTH, PACE)
from command import run
done = [run(*line, folder=sys.argv[1], COLUMNS="80") for line in json.loads(sys.argv[2])]
print(json.dumps([[d.returncode, d.stdout, d.stderr] for d in done]))
"""


def typed(*lines, folder):
    """What commands show in a new process, whose start registers the method."""
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, folder, json.dumps(lines)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return json.loads(done.stdout)


def test_the_command_line_has_a_flag_for_it(tmp_path):
    """With its help in each command of a request; it does what the argument does."""
    pl.DataFrame({"x": PEOPLE["x"]}).write_csv(tmp_path / "people.csv")
    given = ["--k", "5", "--epsilon", "1", "--attributes", "x", "--bounds", "x=0:100"]
    line = ["advise", "people.csv", "--method", "trial-um", *given, "--strength"]
    helps = [[command, "--help"] for command in ("protect", "inspect", "audit", "compare")]
    done, refused, listed, *shown = typed(
        [*line, "2"], [*line, "0"], ["methods"], *helps, folder=tmp_path
    )
    assert (done[0], "trial-um, strength 2, pace fast" in done[1]) == (0, True)
    assert (refused[0], "strength: it must be" in refused[2]) == (2, True)
    assert "Offers strength" in listed[1].partition("trial-um")[2]
    for _, text, _ in shown:
        words = f"--strength N {STRENGTH.help} --pace TEXT {PACE.help}"
        assert words in " ".join(text.split())


def test_one_name_has_one_meaning():
    """An argument that is read or written in another way than the one of its name is refused."""
    width = DECLARED["width"]
    for other in (
        replace(width, read=int),
        replace(width, flag=None),
        Argument(name="k", help="k"),
    ):
        with pytest.raises(ValueError, match="another argument of the name"):
            register(TRIAL, other)
    with registered(), pytest.raises(ValueError, match="another argument of the name"):
        register(replace(TRIAL, id="other"), replace(STRENGTH, flag=str))
    assert "trial-um" not in METHODS


def test_what_a_method_may_not_declare_is_refused_whole():
    """Names of commands and of others' flags, and ids of methods that there are: nothing stays."""
    fine = Argument(name="fine", help="Fine.", takes="a number", flag=int)
    before = arguments(), dict(METHODS)
    for name in ("runs", "format", "role", "shuffle_columns", "epsilon"):
        taken = Argument(name=name, help="Taken.", takes="a word")
        with pytest.raises(ValueError, match="another argument of the name"):
            register(replace(TRIAL, id="other"), fine, taken)
        assert (arguments(), dict(METHODS)) == before
    with pytest.raises(ValueError, match="another method of the id"):
        register(replace(TRIAL, id="laplace"))
    assert (arguments(), dict(METHODS)) == before
