"""A survey of households, invented by a seed: categories, weights, gaps and codes for them.

Nobody in it exists. Each record is a person of 16 or more; those of one household stand
together and share its columns: HOUSEHOLD, WEIGHT, REGION, AREA, SIZE, HOUSEHOLD_INCOME, RENT and
INTERVIEW.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]

# Why there is no answer, by the code that stands for it.
REFUSED, NOT_KNOWN, NOT_APPLICABLE = -9, -8, -7
INCOME_REFUSED, INCOME_NOT_KNOWN = 99_999_998, 99_999_999
MOST_IN_HOUSEHOLD = 4  # persons of 16 or more

REGIONS = ("North", "East", "South", "West", "Coast", "Hills", "Lakes", "Capital")
# How much of its people a region has in the sample, in comparison.
SAMPLED = np.array([1.0, 1.4, 0.9, 1.0, 1.6, 2.0, 1.8, 0.6])
LIVING = np.array([0.18, 0.10, 0.16, 0.17, 0.09, 0.06, 0.06, 0.18])
STATUS = ("employed", "self-employed", "unemployed", "in education", "retired", "at home")

# What is publicly known of the questionnaire, as a person would declare it.
MISSING_CODES: Mapping[str, tuple[int, ...]] = {
    "EDUCATION": (REFUSED, NOT_KNOWN),
    "OCCUPATION": (REFUSED, NOT_APPLICABLE),
    "HOURS": (REFUSED, NOT_APPLICABLE),
    "WAGE": (REFUSED, NOT_KNOWN),
    "BENEFITS": (REFUSED,),
    "HOUSEHOLD_INCOME": (INCOME_REFUSED, INCOME_NOT_KNOWN),
    "RENT": (REFUSED, NOT_APPLICABLE),
    "HEALTH": (REFUSED,),
}
LABELS: Mapping[str, Mapping[int, str]] = {
    "EDUCATION": {
        **dict(enumerate(("none", "primary", "lower secondary", "upper secondary"))),
        **dict(enumerate(("vocational", "bachelor", "master or more"), start=4)),
        REFUSED: "refused",
        NOT_KNOWN: "does not know",
    },
    "OCCUPATION": {
        1: "managers",
        2: "professionals",
        3: "technicians",
        4: "clerks",
        5: "service and sales",
        6: "farming and fishing",
        7: "crafts and trades",
        8: "machine operators",
        9: "elementary occupations",
        REFUSED: "refused",
        NOT_APPLICABLE: "does not apply",
    },
    "HEALTH": {
        **dict(enumerate(("very bad", "bad", "fair", "good", "very good"), start=1)),
        REFUSED: "refused",
    },
}
BOUNDS: Mapping[str, tuple[int, int]] = {
    "SIZE": (1, 12),
    "AGE": (16, 110),
    "HOURS": (0, 99),
    "WAGE": (0, 1_000_000),
    "BENEFITS": (0, 100_000),
    "HOUSEHOLD_INCOME": (0, 2_000_000),
    "RENT": (0, 10_000),
}
CATEGORIES: Mapping[str, tuple[str | int, ...]] = {
    "REGION": REGIONS,
    "SEX": ("female", "male"),
    "MARITAL": ("single", "married", "widowed", "divorced"),
    "STATUS": STATUS,
    "OCCUPATION": tuple(range(1, 10)),
}
# In an order that means something, the least first.
ORDERED: Mapping[str, tuple[str | int, ...]] = {
    "AREA": ("village", "town", "city"),
    "EDUCATION": tuple(range(7)),
    "HEALTH": tuple(range(1, 6)),
}


def survey(n_records: int, seed: int) -> polars.DataFrame:
    """Invent a survey; see `invented_people`."""
    random = np.random.Generator(np.random.PCG64(seed))
    adults = random.choice(
        np.arange(1, MOST_IN_HOUSEHOLD + 1), n_records, p=[0.4, 0.42, 0.13, 0.05]
    )
    households = np.repeat(np.arange(n_records), adults)[:n_records]
    first = np.diff(households, prepend=-1) > 0
    shared = _households(random, n_records, adults)
    persons = _persons(random, households, first)
    work = _work(random, persons)
    money = _money(random, persons, work, shared, households)
    columns: dict[str, Any] = {
        "HOUSEHOLD": 1000 + households,
        "PERSON": np.arange(n_records) - np.flatnonzero(first)[households] + 1,
        **{name: values[households] for name, values in shared.items() if name != "standing"},
        **persons,
        **work,
        **money,
    }
    columns["INTERVIEW"] = polars.Series(
        (19_800 + random.integers(0, 120, n_records))[households], dtype=polars.Int32
    ).cast(polars.Date)
    columns["HEALTH"] = _health(random, persons)
    return polars.DataFrame({name: columns[name] for name in NAMES})


NAMES = (
    "HOUSEHOLD", "PERSON", "WEIGHT", "REGION", "AREA", "SIZE", "INTERVIEW", "AGE", "SEX", "MARITAL",
    "CITIZEN", "EDUCATION", "STATUS", "OCCUPATION", "HOURS", "WAGE", "BENEFITS", "HOUSEHOLD_INCOME",
    "RENT", "HEALTH",
)  # fmt: skip


def _households(
    random: np.random.Generator, n_records: int, adults: Whole
) -> dict[str, NDArray[Any]]:
    """Invent what a household shares: where it lives, whom it stands for, how well off it is."""
    region = random.choice(len(REGIONS), n_records, p=LIVING)
    urban = random.random(n_records) + 0.35 * (region == len(REGIONS) - 1)
    area = np.array(ORDERED["AREA"])[np.digitize(urban, [0.3, 0.7])]
    children = random.poisson(0.5 * (adults > 1) + 0.1)
    weight = (
        900 / SAMPLED[region] * random.gamma(25.0, 1 / 25, n_records) * (1 + 0.2 * (adults == 1))
    )
    return {
        "WEIGHT": np.round(weight, 3),
        "REGION": np.array(REGIONS)[region],
        "AREA": area,
        "SIZE": np.minimum(adults + children, 12),
        "standing": random.normal(size=n_records) + 0.4 * (urban > 0.7),
    }


def _persons(
    random: np.random.Generator, households: Whole, first: Flags
) -> dict[str, NDArray[Any]]:
    """Invent who they are: members of a household are of an age, or a generation apart."""
    n = len(households)
    head = np.clip(18 + random.gamma(4.0, 8.5, n), 18, 100)
    apart = np.where(random.random(n) < 0.75, random.normal(0, 4, n), -random.normal(28, 5, n))
    age = np.where(first, head, head[np.flatnonzero(first)[households]] + apart)
    age = np.clip(age, 16, 104).astype(np.int64)
    sex = np.where(random.random(n) < 0.51, "female", "male")
    settled = random.random(n) < 1 / (1 + np.exp(-(age - 31) / 6))
    widowed = random.random(n) < np.clip((age - 60) / 60, 0, 0.6)
    divorced = random.random(n) < 0.16
    marital = np.where(settled, np.where(divorced, "divorced", "married"), "single")
    marital = np.where(settled & widowed, "widowed", marital)
    return {
        "AGE": age,
        "SEX": sex,
        "MARITAL": marital,
        "CITIZEN": random.random(n) < 0.91,
    }


def _work(
    random: np.random.Generator, persons: Mapping[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """Invent schooling and work, with codes where an answer was refused or does not apply."""
    age = persons["AGE"]
    n = len(age)
    schooling = np.digitize(random.normal(3.4 - 0.02 * (age - 40), 1.4), np.arange(0.5, 6))
    schooling = np.minimum(schooling, np.where(age < 19, 3, np.where(age < 22, 4, 6)))
    draw = random.random(n)
    status = np.where(draw < 0.08, 2, np.where(draw < 0.2, 5, np.where(draw < 0.3, 1, 0)))
    status = np.where((age < 25) & (random.random(n) < (25 - age) / 9), 3, status)
    status = np.where(
        (age >= 63) & (random.random(n) < np.clip((age - 60) / 8, 0, 0.98)), 4, status
    )
    works = status < 2
    group = np.clip(np.rint(9.5 - 1.2 * schooling + random.normal(0, 1.6, n)), 1, 9)
    hours = np.clip(np.rint(random.normal(np.where(draw < 0.55, 38, 26), 6)), 1, 90)
    return {
        "EDUCATION": _answered(random, schooling, {REFUSED: 0.02, NOT_KNOWN: 0.015}),
        "STATUS": np.array(STATUS)[status],
        "OCCUPATION": np.where(works, _answered(random, group, {REFUSED: 0.03}), NOT_APPLICABLE),
        "HOURS": np.where(works, _answered(random, hours, {REFUSED: 0.04}), NOT_APPLICABLE),
    }


def _money(
    random: np.random.Generator,
    persons: Mapping[str, NDArray[Any]],
    work: Mapping[str, NDArray[Any]],
    shared: Mapping[str, NDArray[Any]],
    households: Whole,
) -> dict[str, NDArray[Any]]:
    """Invent incomes, most of them 0 for somebody; who earns more refuses more often."""
    age, status = persons["AGE"], work["STATUS"]
    n, standing = len(age), shared["standing"][households]
    schooling, hours = np.maximum(work["EDUCATION"], 2), np.clip(work["HOURS"], 20, 60)
    logarithm = 8.9 + 0.16 * schooling + 0.02 * hours + 0.3 * standing
    logarithm += 0.25 * (1 - ((age - 50) / 35) ** 2) - 0.12 * (persons["SEX"] == "female")
    wage = np.exp(logarithm + random.normal(0, 0.35, n)).clip(0, 999_999)
    wage = np.where(np.isin(status, STATUS[:2]), np.rint(wage / 10) * 10, 0)
    out_of_work = np.isin(status, STATUS[2:]) & (random.random(n) < 0.75)
    entitled = out_of_work | (random.random(n) < 0.12)
    benefits = np.where(entitled, np.rint(random.gamma(4.0, 2600, n)).clip(1, 100_000), 0)
    together = np.bincount(households, wage + benefits, minlength=len(shared["standing"]))
    capital = np.exp(random.normal(5.5, 2.0, len(together)) + shared["standing"])
    income = np.rint(together + capital * (random.random(len(together)) < 0.35)).clip(0, 2_000_000)
    rent = np.rint(np.exp(6.3 + 0.25 * shared["standing"] + random.normal(0, 0.3, len(together))))
    owns = random.random(len(together)) < 0.46
    rich = wage > np.quantile(wage, 0.9)
    reported = _answered(random, wage, {REFUSED: 0.06, NOT_KNOWN: 0.02})
    reported = np.where(rich & (random.random(n) < 0.12), REFUSED, reported)
    paid = _answered(random, rent, {REFUSED: 0.04})
    codes = {INCOME_REFUSED: 0.07, INCOME_NOT_KNOWN: 0.03}
    return {
        "WAGE": reported,
        "BENEFITS": _answered(random, benefits, {REFUSED: 0.03}),
        "HOUSEHOLD_INCOME": _answered(random, income, codes)[households],
        "RENT": np.where(owns, NOT_APPLICABLE, paid)[households],
    }


def _health(random: np.random.Generator, persons: Mapping[str, NDArray[Any]]) -> polars.Series:
    """Invent how they feel; where somebody else answered for a person the cell is empty."""
    n = len(persons["AGE"])
    felt = np.clip(np.rint(random.normal(4.4 - 0.018 * (persons["AGE"] - 30), 0.8)), 1, 5)
    answered = _answered(random, felt, {REFUSED: 0.02})
    by_another = random.random(n) < 0.05
    return polars.Series(answered).set(polars.Series(by_another), None)


def _answered(
    random: np.random.Generator, values: NDArray[Any], codes: Mapping[int, float]
) -> Whole:
    """Put codes in the place of some answers, each with its own probability."""
    draw, below = random.random(len(values)), 0.0
    answered = values.astype(np.int64)
    for code, share in codes.items():
        answered[(draw >= below) & (draw < below + share)] = code
        below += share
    return answered
