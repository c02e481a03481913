"""What is known of a table's attributes without looking at their values: plain values."""

import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

EPOCH = datetime.date(1970, 1, 1)
# A float64 distinguishes whole numbers up to here, and the digits of a decimal.
WHOLE_IN_FLOATS, DECIMALS_IN_FLOATS = 2**53, 10**15

# The grid on which decimals lie before it is learnt how many they have.
FINEST_DECIMALS = 6
FINEST = Fraction(1, 10**FINEST_DECIMALS)
# Learnt dates lie from 1700 to 2300: days from `EPOCH`.
DAYS = (-98_615, 120_894)

# A numeric column: whole numbers or floats.
Cells = NDArray[np.int64 | np.float64]
# What stands for a missing value, and says why: as a column's values are, and as it is given.
Code = int | float | str
GivenCode = Code | datetime.date


class Role(StrEnum):
    """What an attribute is to whoever would find a person in the table.

    Or, of a survey's weights, to whoever would reckon with it: how many people a record stands
    for.
    """

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    CONFIDENTIAL = "confidential"
    NON_CONFIDENTIAL = "non-confidential"
    WEIGHT = "weight"


class Kind(StrEnum):
    """How an attribute's values become numbers: dates as days, yes/no as 1 and 0.

    Listed categories become their positions, ranks where the list is ordered; text without a
    list becomes nothing.
    """

    WHOLE = "whole number"
    DECIMAL = "decimal"
    BOOLEAN = "yes/no"
    DATE = "date"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"
    OTHER = "text"

    @property
    def is_numeric(self) -> bool:
        """Whether the values themselves are numbers, or days or yes and no as such."""
        return self not in {Kind.ORDINAL, Kind.NOMINAL, Kind.OTHER}

    @property
    def is_ranked(self) -> bool:
        """Whether values lie in an order: then the methods for numbers apply."""
        return self not in {Kind.NOMINAL, Kind.OTHER}


# What a column can be by itself: that its values are categories has to be declared.
COLUMN_KINDS = (Kind.WHOLE, Kind.DECIMAL, Kind.BOOLEAN, Kind.DATE, Kind.OTHER)


class Source(StrEnum):
    """Where a domain or a resolution comes from."""

    DECLARED = "declared"
    TYPE = "given by the type"
    DATA = "read from the data"
    LEARNT = "learnt within the budget"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The domain of a numeric attribute, in its own units (dates: days since 1970-01-01)."""

    lower: Fraction
    upper: Fraction
    source: Source

    @property
    def width(self) -> Fraction:
        """The length of the domain, upper less lower."""
        return self.upper - self.lower


YES_NO = Bounds(lower=Fraction(0), upper=Fraction(1), source=Source.TYPE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Categories:
    """The domain of an attribute whose values are listed: every category, all text or none.

    Methods calculate with positions in it, which are ranks where their order means something.
    """

    values: tuple[str | int, ...]
    ordered: bool
    source: Source

    @property
    def kind(self) -> Kind:
        """What an attribute with this domain is."""
        return Kind.ORDINAL if self.ordered else Kind.NOMINAL

    @property
    def words(self) -> tuple[str, ...] | None:
        """The categories where they are text, else None."""
        words = tuple(value for value in self.values if isinstance(value, str))
        return words or None

    def positions(self, numbers: Cells) -> NDArray[np.int64]:
        """Find numbers in a list of numbers: their positions, -1 where they are not in it."""
        listed = np.array([int(value) for value in self.values], dtype=np.int64)
        order = np.argsort(listed)
        nearest = np.minimum(np.searchsorted(listed[order], numbers), len(listed) - 1)
        found = order[nearest]
        return np.where(listed[found] == numbers, found, -1).astype(np.int64)

    def at(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what stands at positions: the numbers; of text the positions themselves."""
        inside = np.clip(positions, 0, len(self.values) - 1)
        if self.words is not None:
            return inside
        return np.array([int(value) for value in self.values], dtype=np.int64)[inside]


@dataclass(frozen=True, slots=True)
class Ordered:
    """Categories in an order that means something; see `ordered`."""

    values: tuple[Any, ...]


def ordered(*values: Any) -> Ordered:
    """Declare categories in their order, from the least to the greatest.

    Parameters
    ----------
    *values : str, int or bool
        Every category that there is, as publicly known.

    Returns
    -------
    Ordered
        For `protect`'s argument ``categories``: methods for numbers take such an attribute as
        the whole numbers from 0 in this order, and release categories.

    Examples
    --------
    >>> ordered("none", "school", "degree")
    Ordered(values=('none', 'school', 'degree'))
    """
    return Ordered(values)


# What an attribute may hold.
Domain = Bounds | Categories


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """An attribute that can be protected, its domain and its grid.

    Attributes
    ----------
    name : str
    kind : Kind
    resolution : Fraction
        The step of the public grid on which values are rounded, in the attribute's units.
    resolution_source : Source
    domain : Bounds, Categories or None
        None where neither declared, nor needed, nor given by the type. The grid units of
        categories are their positions.
    reasons : tuple of int, float or str
        Codes that say in a release why a cell is missing, as its values are (dates: days since
        1970-01-01); none where reasons are not kept apart.
    of_unit : bool
        Whether it is one value a unit, as declared, where all records of a unit are protected.
    never_missing : bool
        Whether it never lacks a value, as declared.
    is_learnt : bool
        Whether its domain, where none is declared, is learnt within the budget.
    kind_source : Source
        Learnt where a file does not say what it holds: it is text, or whatever else is declared of
        it, until that is known.
    """

    name: str
    kind: Kind
    resolution: Fraction = Fraction(1)
    resolution_source: Source = Source.TYPE
    domain: Domain | None = None
    reasons: tuple[Code, ...] = ()
    of_unit: bool = False
    # Saved comparisons know their table by what is shown here.
    never_missing: bool = field(default=False, repr=False)
    is_learnt: bool = field(default=False, repr=False)
    kind_source: Source = field(default=Source.TYPE, repr=False)

    def of_kind(self, kind: Kind) -> "Attribute":
        """Return what it is where its cells turn out to be of a kind."""
        step, source = Fraction(1), Source.TYPE
        if kind is Kind.DECIMAL:
            step, source = FINEST, Source.LEARNT
        is_boolean = kind is Kind.BOOLEAN
        return replace(
            self,
            kind=kind,
            resolution=step,
            resolution_source=source,
            domain=YES_NO if is_boolean else self.domain,
            is_learnt=self.is_learnt and not is_boolean,
        )

    @property
    def place(self) -> str:
        """How messages name it."""
        return f"attribute '{self.name}'"

    @property
    def bounds(self) -> Bounds | None:
        """Its domain, where that is an interval of numbers."""
        return self.domain if isinstance(self.domain, Bounds) else None

    @property
    def categories(self) -> Categories | None:
        """Its domain, where that is a list."""
        return self.domain if isinstance(self.domain, Categories) else None

    @property
    def is_words(self) -> bool:
        """Whether it is text of which no list is known yet: its values are the words themselves."""
        return self.is_learnt and self.domain is None and not self.kind.is_numeric

    @property
    def domain_source(self) -> Source:
        """Where its domain comes from."""
        if self.domain is None:
            return Source.LEARNT if self.is_learnt else Source.NONE
        return self.domain.source

    @property
    def from_data(self) -> tuple[str, ...]:
        """Which of its bounds, categories and resolution were read from the data."""
        found = []
        if self.domain is not None and self.domain.source is Source.DATA:
            found.append("categories" if isinstance(self.domain, Categories) else "bounds")
        if self.resolution_source is Source.DATA:
            found.append("resolution")
        return (*found,)

    @property
    def grid_bounds(self) -> tuple[int, int] | None:
        """The domain in grid units, widened outwards to whole ones; None without one."""
        if self.domain is None:
            return None
        if isinstance(self.domain, Categories):
            return 0, len(self.domain.values) - 1
        return (
            math.floor(self.domain.lower / self.resolution),
            math.ceil(self.domain.upper / self.resolution),
        )

    @property
    def fits_floats(self) -> bool:
        """Whether float64 distinguishes all values of its declared domain."""
        if isinstance(self.domain, Categories):
            numbers = [] if self.domain.words is not None else map(int, self.domain.values)
            return max(map(abs, numbers), default=0) <= WHOLE_IN_FLOATS
        parts = self.resolution.denominator
        # Up to 15 digits a value is one rounded division, and its float rounds back to it.
        written = next((10**places for places in range(19) if 10**places % parts == 0), parts)
        most = max(map(abs, self.grid_bounds or (0,))) * self.resolution * written
        return most <= (WHOLE_IN_FLOATS if parts == 1 else DECIMALS_IN_FLOATS)

    @property
    def grid_type(self) -> "np.dtype[np.signedinteger[Any]]":
        """The type of fewest bytes that holds every whole number of its grid: public figures."""
        if self.grid_bounds is None:
            return np.dtype(np.int64)
        lower, upper = self.grid_bounds
        # A negative number's type is a signed one, and holds -1 - u where it holds u.
        return np.min_scalar_type(min(lower, -1 - upper))

    @property
    def written_domain(self) -> tuple[int | float | str, ...] | None:
        """Its lower and upper bound, or every category, as JSON and people want them."""
        if self.domain is None or isinstance(self.domain, Categories):
            return None if self.domain is None else self.domain.values
        return written(self.domain.lower, self.kind), written(self.domain.upper, self.kind)

    def from_grid(self, units: NDArray[np.int64]) -> Cells:
        """Turn grid units into values: whole for all but decimals, the nearest float for those.

        Categories that are text stay positions. Whole units that are values come back themselves.
        """
        if isinstance(self.domain, Categories):
            return self.domain.at(units)
        step, parts = self.resolution.numerator, self.resolution.denominator
        if self.kind is not Kind.DECIMAL:
            if step == 1:
                return units
            # What 64 bits cannot hold is clamped: post-processing by a public limit.
            limit = np.iinfo(np.int64).max // step
            return np.clip(units, -limit, limit) * step
        values = units.astype(np.float64)
        values *= step
        values /= parts
        return values


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What is publicly declared of a column beside a request: by its file, or by a codebook.

    None of it is read from values; what is not declared is None or empty. Categories are all that
    there are, in order, with what they stand for; none of them is missing.
    """

    label: str | None = None
    kind: Kind | None = None
    role: Role | None = None
    bounds: tuple[Any, Any] | None = None
    resolution: int | float | Fraction | None = None
    categories: Mapping[GivenCode, str] = field(default_factory=dict)
    is_ordered: bool = False
    missing_codes: tuple[GivenCode, ...] = ()

    @property
    def has_domain(self) -> bool:
        """Whether bounds or categories are declared."""
        return self.bounds is not None or bool(self.categories)


def widest(attribute: Attribute) -> tuple[int, int]:
    """Return the grid values between which an attribute lies whose domain is learnt."""
    # A float64 tells the last step's end from its beginning too.
    last = WHOLE_IN_FLOATS - 1
    if attribute.kind is Kind.DATE:
        first_day, last_day = (Fraction(day) / attribute.resolution for day in DAYS)
        return math.ceil(first_day), math.floor(last_day)
    return -last, last


def written(value: Fraction, kind: Kind) -> int | float | str:
    """Write a number of an attribute as JSON and people want it: dates in ISO form."""
    if kind is Kind.DATE:
        return (EPOCH + datetime.timedelta(days=int(value))).isoformat()
    return int(value) if value.denominator == 1 else float(value)
