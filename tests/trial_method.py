"""A method from outside the package, with arguments and a condition of its own."""

from contextlib import contextmanager
from dataclasses import replace

from microveil.errors import RequestError
from microveil.guarantee import Condition, Model
from microveil.methods import METHODS, Method, Promise, register
from microveil.methods.base import epsilon_scopes
from microveil.protect.arguments import Argument

__all__ = ["CONDITION", "PACE", "STRENGTH", "TRIAL", "registered"]


def _read_strength(given, _name):
    if isinstance(given, str) and given.isdigit():
        given = int(given)
    if not isinstance(given, int) or given < 1:
        raise RequestError("strength", "it must be a whole number of 1 or more", "pass strength=2")
    return given


STRENGTH = Argument(
    name="strength",
    help="trial-um: so many times as many records share a mean.",
    read=_read_strength,
    takes="a whole number of 1 or more",
    default=1,
    flag=int,
)
PACE = Argument(name="pace", help="trial-um: slow or fast.", choices=("fast", "slow"))
CONDITION = Condition(
    id="weather",
    short="the weather",
    text="The weather is taken to be the same for the table and its neighbours.",
)


def _plan(columns, choices):
    stronger = replace(choices, k=choices.k * choices["strength"])
    return METHODS["dp-um"].plan(columns, stronger)


def _promise(setting):
    choices, epsilon = setting.choices, setting.epsilon
    words = f"Of strength {choices['strength']}, {choices['pace']}, {choices['partition']}."
    return Promise(
        model=Model.DIFFERENTIAL_PRIVACY,
        epsilon=epsilon,
        scopes=epsilon_scopes(epsilon, epsilon, None),
        conditions=(CONDITION,),
        caveats=(words,),
    )


TRIAL = Method(
    id="trial-um",
    title="a trial",
    source="the tests",
    deed="Means of clusters were released with noise.",
    plan=_plan,
    promise=_promise,
    needs=frozenset({"k", "epsilon", "bounds"}),
    randomness="laplace",
    arguments={
        "strength": (),
        "pace": ("fast", "slow"),
        "partition": ("ranking", "hexagonal"),
    },
    sets_aside={"strength": ("every",)},
)


@contextmanager
def registered(method=TRIAL, *arguments):
    """Register a method for a while, the trial with its arguments."""
    register(method, *(arguments or (STRENGTH, PACE)))
    try:
        yield method
    finally:
        del METHODS[method.id]
