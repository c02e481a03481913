"""The invented survey: what it is like, and that it is what its constants say."""

import polars as pl
import pytest

import microveil as mv
from microveil.datasets import survey
from microveil.errors import RequestError

N = 4000
SURVEY = mv.invented_people(N, seed=7, kind="survey")
OF_HOUSEHOLDS = ["WEIGHT", "REGION", "AREA", "SIZE", "INTERVIEW", "HOUSEHOLD_INCOME", "RENT"]
COMPLETE = {"HOUSEHOLD", "PERSON", "WEIGHT", "SIZE", "INTERVIEW", "AGE", "CITIZEN"}


def answers(name):
    """The answers to a question, without codes and empty cells."""
    return SURVEY[name].filter(~SURVEY[name].is_in(survey.MISSING_CODES.get(name, ()))).drop_nulls()


def test_a_seed_gives_the_same_survey_and_another_gives_another():
    """The same seed gives the same cells; the register of before is the default still."""
    assert mv.invented_people(N, seed=7, kind="survey").equals(SURVEY)
    assert not mv.invented_people(N, seed=8, kind="survey").equals(SURVEY)
    assert mv.invented_people(50).equals(mv.invented_people(50, kind="register"))
    assert SURVEY.shape == (N, 20)


@pytest.mark.parametrize("seed", range(5))
def test_small_surveys_have_as_many_people_as_asked(seed):
    """Two people and more, whatever households they fall into."""
    assert [mv.invented_people(n, seed, kind="survey").height for n in (2, 3, 17)] == [2, 3, 17]


def test_people_of_a_household_stand_together_and_share_what_is_its():
    """Numbers of persons go from 1 in each, up to the most; its columns are constant in it."""
    groups = SURVEY.group_by("HOUSEHOLD", maintain_order=True)
    counts = groups.len()["len"]
    assert counts.max() == survey.MOST_IN_HOUSEHOLD
    assert 0.2 < (counts == 1).mean() < 0.6
    assert SURVEY["HOUSEHOLD"].is_sorted()
    assert groups.agg(pl.col("PERSON"))["PERSON"].to_list() == [
        list(range(1, count + 1)) for count in counts
    ]
    assert (
        (groups.agg(pl.col(OF_HOUSEHOLDS).n_unique()).select(OF_HOUSEHOLDS) == 1)
        .min_horizontal()
        .all()
    )
    assert (SURVEY["SIZE"] >= SURVEY["PERSON"]).all()


def test_every_answer_is_in_its_declared_domain():
    """Bounds, lists and labels hold every answer; each label and each category is somebody's."""
    for name, (lower, upper) in survey.BOUNDS.items():
        assert answers(name).is_between(lower, upper).all(), name
    for name, listed in (survey.CATEGORIES | survey.ORDERED).items():
        assert set(answers(name).unique()) == set(listed), name
    for name, labels in survey.LABELS.items():
        assert set(SURVEY[name].drop_nulls().unique()) == set(labels), name
    declared = {*survey.BOUNDS, *survey.CATEGORIES, *survey.ORDERED}
    assert declared | COMPLETE == set(SURVEY.columns)


def test_codes_say_who_refused_and_whom_a_question_does_not_concern():
    """Each code occurs, as the questionnaire has it: of work for those who work not."""
    for name, codes in survey.MISSING_CODES.items():
        shares = [(SURVEY[name] == code).mean() for code in codes]
        assert all(0.005 < share < 0.7 for share in shares), name
        lower = survey.BOUNDS.get(name, (0, 100))
        assert not any(lower[0] <= code <= lower[1] for code in codes)
    works = SURVEY["STATUS"].is_in(survey.STATUS[:2])
    for name in ("OCCUPATION", "HOURS"):
        assert ((SURVEY[name] == survey.NOT_APPLICABLE) == ~works).all()
    assert SURVEY["HEALTH"].null_count() > 0
    assert set(SURVEY.columns[:7]) & set(survey.MISSING_CODES) == set()


def test_incomes_are_many_times_0_and_else_far_apart():
    """A third or more earn nothing, and the rest has a heavy tail."""
    for name, least in (("WAGE", 0.3), ("BENEFITS", 0.3)):
        found = answers(name)
        assert least < (found == 0).mean() < 0.8, name
        earned = found.filter(found > 0)
        assert earned.mean() > 1.05 * earned.median(), name


def test_things_go_together_as_they_do():
    """Schooling with wages, age with health, and weights with the regions sampled less."""
    frame = SURVEY.filter(pl.col("WAGE") > 0, pl.col("EDUCATION") >= 0)
    assert frame.select(pl.corr("EDUCATION", "WAGE")).item() > 0.15
    felt = SURVEY.filter(pl.col("HEALTH") > 0)
    assert felt.select(pl.corr("AGE", "HEALTH")).item() < -0.2
    weights = dict(SURVEY.group_by("REGION").agg(pl.col("WEIGHT").mean()).iter_rows())
    assert weights["Capital"] > 2 * weights["Hills"]


def test_the_survey_goes_through_protect_as_its_constants_declare_it():
    """What is declared of it is enough for a release of every attribute that has a domain."""
    ordered = {name: mv.ordered(*values) for name, values in survey.ORDERED.items()}
    names = [*survey.BOUNDS, *survey.CATEGORIES, *ordered]
    planned = mv.plan(
        SURVEY, method="dp-synthetic", epsilon=40, attributes=names, bounds=survey.BOUNDS,
        categories={**survey.CATEGORIES, **ordered}, missing="protect",
        missing_codes=survey.MISSING_CODES, structure="independent",
    )  # fmt: skip
    assert {part.attribute.name for part in planned.attributes} == set(names)


def test_a_kind_that_there_is_not_is_refused():
    """With the kinds there are."""
    with pytest.raises(RequestError, match="register, survey"):
        mv.invented_people(10, kind="census")
