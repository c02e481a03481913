"""The flags of the analyses, declared once for the commands that make them."""

from typing import Annotated, Any

import typer

from microveil.cli.shared_flags import takes

__all__ = ["takes_analyses"]


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
    from microveil.evaluation.analyses import named_classifier

    return {
        "classes": classes,
        "threshold": threshold,
        "estimator": None if estimator is None else named_classifier(estimator),
        "formula": formula,
        "logistic": logistic,
        "propensity": propensity,
    }


# Its commands get a dict of arguments of `assess` and `compare` as the argument `analyses`.
takes_analyses = takes("analyses", _analyses)
