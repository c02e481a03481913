"""The data sets that more than one paper uses."""

from microveil.reproduce.paper import DataSet

__all__ = ["census"]


def census(columns: tuple[str, ...]) -> DataSet:
    """Return the Census data set, of which a paper needs some columns."""
    return DataSet(
        name="census",
        title="the CASC reference microdata \u201cCensus\u201d",
        published="https://cran.r-project.org/package=sdcMicro, as CASCrefmicrodata",
        columns=columns,
    )
