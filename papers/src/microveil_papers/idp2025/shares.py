"""What part each attribute has in the error: a sum over attributes can be that of one."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

import microveil as mv
from microveil.protect.draw import draw
from microveil_papers.paper import Listing

__all__ = ["shares_in_words", "shares_listing", "shares_of"]

K = 10
# From this share on, in percent, an error is said to be that of one attribute.
MOSTLY = 90.0
METHODS = ("dp-um", "idp-ls", "idp-cbls")
EPSILONS = (0.01, 0.1, 1.0)

Matrix = NDArray[np.float64]


def shares_of(
    frame: polars.DataFrame,
    title: str,
    attributes: Sequence[str],
    arguments: Mapping[str, Any],
    runs: int,
) -> polars.DataFrame:
    """Draw releases at k = 10 and split their errors among the attributes.

    Parameters
    ----------
    frame : polars.DataFrame
    title : str
        Of the data set.
    attributes : sequence of str
    arguments : dict
        Of `protect`; what only `compare` knows is passed over.
    runs : int

    Returns
    -------
    polars.DataFrame
        One row for each method and epsilon: the attribute of the largest share in the error as
        printed and in the usual one, and the median over attributes of the usual one.
    """
    asked = {name: value for name, value in arguments.items() if name != "linkage"}
    original = frame.select(attributes).to_numpy().astype(np.float64)
    variances = original.var(axis=0, ddof=1)
    rows = []
    for epsilon in EPSILONS:
        for method in METHODS:
            planned = mv.plan(frame, method=method, k=K, epsilon=epsilon, **asked)
            usual_sums = np.zeros(len(attributes))
            printed_sums = np.zeros(len(attributes))
            for seed in range(runs):
                data = draw(planned, seed=seed).data
                errors = data.select(attributes).to_numpy().astype(np.float64) - original
                usual_sums += (errors**2).mean(axis=0) / variances / runs
                printed_sums += (errors**2).mean(axis=0) / variances**2 / runs
            printed, usual = (100 * part / part.sum() for part in (printed_sums, usual_sums))
            rows.append(
                {
                    "method": method,
                    "data": title,
                    "epsilon": epsilon,
                    "as printed: attribute": attributes[int(printed.argmax())],
                    "as printed: share, %": float(printed.max()),
                    "usual: attribute": attributes[int(usual.argmax())],
                    "usual: share, %": float(usual.max()),
                    "usual error, mean over attributes": float(usual_sums.mean()),
                    "usual error, median over attributes": float(np.median(usual_sums)),
                }
            )
    return polars.DataFrame(rows)


def shares_in_words(shares: polars.DataFrame) -> str:
    """Say of each data set whose error it is, where it is mostly that of one attribute."""
    sentences = []
    for (title,), rows in shares.group_by(["data"], maintain_order=True):
        least = rows["as printed: share, %"].min()
        names = rows["as printed: attribute"].unique()
        if len(names) == 1 and isinstance(least, float) and least > MOSTLY:
            sentences.append(
                f"On {title} the error as printed is that of one attribute, {names[0]}, to "
                f"{least:.1f} % or more at k {K}: what section 4.1 finds there is found of it."
            )
    return " ".join(sentences)


def shares_listing(shares: polars.DataFrame) -> Listing:
    """Tabulate the shares."""
    return Listing(
        identifier="shares",
        title="Whose error it is",
        caption=f"The attribute with the largest share in the error at k {K}, alpha 1.5, and the "
        "usual error (over variance) as a mean and as a median over attributes",
        table=shares,
        note="The distance of Eq. 5 divides by the variance, not by the standard deviation, so "
        "that attributes of small values count most; the usual error weighs attributes alike, and "
        "is still a mean, which one attribute with a wide domain can make.",
    )
