"""Tables of people who do not exist: a register, and by `survey` what interviewers bring home.

Of the register incomes, taxes and wealth are continuous with heavy tails, correlated as
such things are; there are an age, counts, a category, a yes/no, a date and an identifier.
"""

import numpy as np
import polars

from microveil.datasets.survey import survey
from microveil.errors import RequestError

# What is publicly known of the attributes, as a person would declare it.
DOMAINS = {
    "AGE": (16, 110),
    "HOUSEHOLD": (1, 12),
    "INCOME": (0, 400_000),
    "TAX": (0, 200_000),
    "SAVINGS": (0, 2_000_000),
    "VISITS": (0, 100),
}
RESOLUTIONS = {"INCOME": 0.01, "TAX": 0.01, "SAVINGS": 0.01}
REGIONS = ("North", "East", "South", "West")


def _register(n_records: int, seed: int) -> polars.DataFrame:
    random = np.random.Generator(np.random.PCG64(seed))
    age = np.clip(16 + random.gamma(3.2, 9.5, n_records), 16, 104).astype(np.int64)
    household = 1 + random.poisson(1.4, n_records).clip(0, 11)
    employed = random.random(n_records) < np.where(age < 66, 0.78, 0.12)
    # One hidden standing behind income and savings makes them go together.
    standing = random.normal(size=n_records)
    experience = 0.35 * (1 - ((age - 52) / 40.0) ** 2)
    logarithm = 9.7 + 0.55 * standing + experience + 0.4 * employed
    income = np.exp(logarithm + 0.3 * random.normal(size=n_records))
    income = np.minimum(income, 399_999.0)
    tax = np.maximum(0.0, 0.28 * (income - 11_000)) + np.maximum(0.0, 0.14 * (income - 60_000))
    tax *= random.uniform(0.85, 1.0, n_records)
    savings = np.exp(0.9 * standing + 0.03 * age + random.normal(7.2, 1.1, n_records))
    visits = random.poisson(0.08 * age * random.gamma(1.5, 0.7, n_records)).clip(0, 100)
    since = random.integers(7_000, 20_000, n_records)
    return polars.DataFrame(
        {
            "ID": 100_000 + random.permutation(9 * n_records)[:n_records],
            "REGION": random.choice(REGIONS, n_records, p=[0.4, 0.15, 0.25, 0.2]),
            "AGE": age,
            "HOUSEHOLD": household,
            "EMPLOYED": employed,
            "SINCE": polars.Series(since, dtype=polars.Int32).cast(polars.Date),
            "INCOME": np.round(income, 2),
            "TAX": np.round(tax, 2),
            "SAVINGS": np.round(np.minimum(savings, 1_999_999.0), 2),
            "VISITS": visits,
        }
    )


_KINDS = {"register": _register, "survey": survey}


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
    if kind not in _KINDS:
        raise RequestError("kind", f"it must be one of {', '.join(_KINDS)}", "pass kind='survey'")
    return _KINDS[kind](n_records, seed)
