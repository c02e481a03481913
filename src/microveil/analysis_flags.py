"""The flags of the analyses, declared once for the commands that make them."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

__all__ = ["takes_analyses"]


def takes_analyses(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the flags of the analyses; it gets them as the argument ``analyses``.

    That is a dict of arguments of `assess` and `compare`.
    """
    own = [p for p in inspect.signature(command).parameters.values() if p.name != "analyses"]
    shared = list(inspect.signature(_analyses).parameters.values())
    names = {parameter.name for parameter in shared}

    def run(**given: Any) -> None:
        flags = {name: given.pop(name) for name in names}
        command(**given, analyses=_analyses(**flags))

    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in (*own, *shared)]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {}
    return run


def _analyses(
    *,
    classes: Annotated[
        str | None,
        typer.Option(help="Learn this column's classes from the others: F-measure for each class."),
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Two classes of --classes: up to it, and above.")
    ] = None,
    estimator: Annotated[
        str | None,
        typer.Option(
            help="What learns, by its full name: sklearn.linear_model.LogisticRegression; by "
            "default a random forest."
        ),
    ] = None,
    formula: Annotated[
        str | None, typer.Option(help="Fit a regression before and after: 'TAX ~ INCOME + AGE'.")
    ] = None,
    logistic: Annotated[
        bool, typer.Option("--logistic", help="Fit log odds of an outcome of 0 and 1.")
    ] = False,
    propensity: Annotated[
        bool, typer.Option("--propensity", help="See whether a model tells the tables apart.")
    ] = False,
) -> dict[str, Any]:
    """Read the flags; their signature is what the command line shows."""
    from microveil.analyses import named_classifier

    return {
        "classes": classes,
        "threshold": threshold,
        "estimator": None if estimator is None else named_classifier(estimator),
        "formula": formula,
        "logistic": logistic,
        "propensity": propensity,
    }
