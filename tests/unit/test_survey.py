"""The invented survey: what it is like, and that it is what its constants say."""

import pytest

import microveil as mv
from microveil.datasets import survey
from microveil.errors import RequestError

N = 4000
SURVEY = mv.invented_people(N, seed=7, kind="survey")
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
