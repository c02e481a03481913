"""Tables of people who do not exist, of either kind."""

import polars

from microveil.datasets.people import people
from microveil.datasets.survey import survey
from microveil.errors import RequestError

__all__ = ["invented_people"]

KINDS = {"register": people, "survey": survey}


def invented_people(
    n_records: int = 1000, seed: int = 2025, *, kind: str = "register"
) -> polars.DataFrame:
    """Invent people.

    Parameters
    ----------
    n_records : int
        2 or more.
    seed : int
        The same seed gives the same people.
    kind : {"register", "survey"}
        A register has numbers, few categories and no gaps: ID, REGION, AGE, HOUSEHOLD, EMPLOYED,
        SINCE, INCOME, TAX, SAVINGS, VISITS. A survey is what interviewers bring home: twenty
        columns with households, weights, ordered and other categories, incomes of which many are
        0, and codes for who refused to answer or whom a question does not concern. Its codes,
        their labels and its domains stand in `microveil.datasets.survey`.

    Returns
    -------
    polars.DataFrame
        One record a person.

    Raises
    ------
    RequestError
        If there are fewer than two records, or there is no such kind.

    Examples
    --------
    >>> invented_people(3).shape, invented_people(3, kind="survey").shape
    ((3, 10), (3, 20))
    """
    if n_records < 2:
        raise RequestError("n_records", "a table needs two records", "pass 2 or more")
    if kind not in KINDS:
        raise RequestError("kind", f"it must be one of {', '.join(KINDS)}", "pass kind='survey'")
    return KINDS[kind](n_records, seed)
