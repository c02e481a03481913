"""The ages that KNOISE's experiment is carried out on, and their intervals."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import microveil as mv
from microveil.files.reading import SourceFile
from microveil_papers.paper import DataSet

__all__ = [
    "ADULT",
    "HIGHEST",
    "LOWEST",
    "N_RECORDS",
    "WIDTH",
    "Ages",
    "Steps",
    "ages_of",
    "steps_of",
]

COLUMN = "age"
# Of the paper's table: it is not named, and these figures of it are.
N_RECORDS, LOWEST, HIGHEST, WIDTH = 659, 24, 79, 5

ADULT = DataSet(
    name="adult",
    title="UCI \u201cAdult\u201d, with a line of names on top (UCI's own file has none)",
    published="https://archive.ics.uci.edu/dataset/2/adult",
    columns=(COLUMN,),
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ages:
    """Ages in whole years, cut into intervals as k-pram and k-noise cut them.

    Attributes
    ----------
    values : ndarray of float64, shape (n_records,)
    intervals : Intervals
        Of 5 years at most.
    """

    values: NDArray[np.float64]
    intervals: mv.partition.Intervals

    @property
    def delta(self) -> float:
        """Half the width of an interval, in years: how far k-noise reaches."""
        return self.intervals.delta

    @property
    def own_sizes(self) -> NDArray[np.int64]:
        """For each record the number of records in its interval, shape (n_records,)."""
        return self.intervals.sizes[self.intervals.labels]

    @property
    def average_size(self) -> int:
        """The number of records of an interval on average, rounded down: the paper's k."""
        return len(self.values) // self.intervals.n_intervals

    @property
    def least_size(self) -> int:
        """The number of records of the smallest interval that has any."""
        return int(self.own_sizes.min())

    @property
    def deviations(self) -> NDArray[np.float64]:
        """How far each age is above the mean of its interval, in years, shape (n_records,)."""
        labels = self.intervals.labels
        sums = np.bincount(labels, weights=self.values, minlength=self.intervals.n_intervals)
        deviations: NDArray[np.float64] = self.values - sums[labels] / self.own_sizes
        return deviations


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Steps:
    """From which age to the next higher one there is a year, within intervals and across.

    Attributes
    ----------
    years : ndarray of float64, shape (n_years,)
        The distinct ages, ascending.
    inside, across : ndarray of bool, shape (n_years - 1,)
        Steps of one year between ages of one interval, and from one to the next.
    """

    years: NDArray[np.float64]
    inside: NDArray[np.bool_]
    across: NDArray[np.bool_]


def steps_of(ages: Ages) -> Steps:
    """Find the steps of one year.

    Parameters
    ----------
    ages : Ages

    Raises
    ------
    DataError
        If there is none within intervals, or none across a border: how the released ages rise
        there could not be compared.
    """
    years = np.unique(ages.values)
    labels = np.searchsorted(ages.intervals.edges[1:-1], years, side="right")
    next_year, same = np.diff(years) == 1, np.diff(labels) == 0
    inside, across = next_year & same, next_year & ~same
    if not (inside.any() and across.any()):
        raise mv.DataError(
            f"data '{ADULT.name}', column '{COLUMN}'",
            "ages one year apart are needed, both within an interval and on either side of a "
            "border between two",
            "pass the file as published",
        )
    return Steps(years=years, inside=inside, across=across)


def ages_of(source: SourceFile, n_records: int = N_RECORDS) -> Ages:
    """Take the first records with an age from 24 to 79.

    Parameters
    ----------
    source : SourceFile
    n_records : int
        As many as the paper's table has.

    Raises
    ------
    DataError
        If there are fewer, or ages are not whole years, or none are one year apart.
    """
    place = f"{source.path}, column '{COLUMN}'"
    every = source.whole[COLUMN].to_numpy().astype(np.float64)
    values = every[(every >= LOWEST) & (every <= HIGHEST)][:n_records]
    if len(values) < n_records:
        raise mv.DataError(
            place,
            f"{n_records} records with an age from {LOWEST} to {HIGHEST} are needed, as many as "
            "the paper's table has, and there are fewer",
            "pass the file as published",
        )
    if np.any(values != np.rint(values)):
        raise mv.DataError(place, "ages must be whole years", "pass the file as published")
    ages = Ages(values=values, intervals=mv.partition.intervals(values, width=WIDTH))
    steps_of(ages)
    return ages
