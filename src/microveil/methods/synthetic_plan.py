"""How dp-synthetic shares out its budget: depths, scales, thresholds and tables.

By public figures alone: METHODS sections 7 and 11. Budgets add up in epsilon, or, where a delta is
given, in the rho of zero-concentrated differential privacy, converted as Canonne, Kamath and
Steinke (2020) have it.
"""

import datetime
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from microveil.errors import RequestError
from microveil.guarantee import exact_number, split
from microveil.guarantee.budget import concentrated_budget, epsilon_of, root
from microveil.methods.base import Choices
from microveil.noise.counts import CountNoise, gaussian_noise, laplace_noise
from microveil.noise.passing import LARGEST_DEVIATION
from microveil.schema import EPOCH, Attribute, Kind, Source
from microveil.synthesis.choosing import LEAST_SHARE, TablesPlan
from microveil.synthesis.one_way_plan import Depth, Learning, OneWayPlan, threshold
from microveil.synthesis.plan import SyntheticPlan
from microveil.table.untyped import KINDS

# Shares of the budget: each attribute's own distribution, the choice of tables, the tables. Where a
# domain is learnt the first decides which values there are, too.
OWN, CHOICE, TABLES = Fraction(55, 100), Fraction(9, 100), Fraction(36, 100)
PARTS = {
    "learnt": (Fraction(6, 10), Fraction(1, 10), Fraction(3, 10)),
    "independent": (Fraction(1), Fraction(0), Fraction(0)),
    "target": (Fraction(5, 10), Fraction(1, 10), Fraction(4, 10)),
}
# Where a domain is learnt: of delta for thresholds, and of a number's share for counts of single
# values and for its decimals. For single values twice as much where cuts of so many levels are as
# deep all the same: then more of the values that many records share are found.
OF_THRESHOLDS, ATOMS, DECIMALS = Fraction(1, 10), Fraction(15, 100), Fraction(5, 100)
DEEP = 5
# And for what kind of values a column holds; more where all records would stand out less than by
# so many deviations: as large as that none needs to be of a table that cells are counted of.
OF_KINDS, ALL_STAND_OUT = Fraction(2, 100), 6
# Numbers of no more values than this are counted instead of cut.
FEW_VALUES = 32
# The budget grows by this factor from one level of cuts to the next: where there are two or three,
# and where there are more.
GROWTH_OF_FEW, GROWTH = Fraction(8, 5), Fraction(7, 5)
FEW_LEVELS, LEAST_DEPTH, MOST_DEPTH = 3, 2, 7
# rate x n / 2**depth, at the last level: what a depth needs, and what the least one does.
# Nine to fourteen serve alike on simulated attributes; below nine, the last cuts are noise.
DEEP_ENOUGH, WORTH_IT = Fraction(11), Fraction(769, 100)
# Records times the rate of the first level, where cuts may lie anywhere: below it one in a hundred
# first cuts of years lie far from all of them.
LEAST_LEARNT = Fraction(24)
# And where cells are counted, in standard deviations of the noise on one.
LEAST_CELLS = 20
# Parts of equal mass in tables: at most so many, and of n / sigma no more than this lets stand out.
MOST_PARTS, SHARE_OF_NOISE = 16, Fraction(4, 10)
TARGET_NOISE = Fraction(14, 10)
# Tables: as many as leave each so many cells of n / sigma as above, within so many an attribute.
CELLS, LEAST_TABLES, MOST_TABLES = 49, Fraction(3, 2), Fraction(5, 2)
# Declared values of which each gets noise, whether it occurs or not.
MOST_LISTED = 1 << 26
# The delta that a refusal proposes.
RELAXED = Fraction(1, 10**9)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Budget:
    """What may be spent on one record, in epsilon or in rho, and what a part of it buys."""

    total: Fraction
    is_concentrated: bool

    @classmethod
    def of(cls, epsilon: Fraction, delta: Fraction, max_rows: int) -> "_Budget":
        """Return what is left for a record of a unit of so many, whose budget is given.

        Group privacy: so many records cost as many times the epsilon of one, or the square of
        that times its rho. Delta is used up by the conversion, and is not shared out.
        """
        if delta == 0:
            return cls(total=epsilon / max_rows, is_concentrated=False)
        of_unit = concentrated_budget(epsilon, delta)
        return cls(total=of_unit / max_rows**2, is_concentrated=True)

    @lru_cache(maxsize=256)  # noqa: B019 -- of a budget's few shares, which attributes have alike
    def rates(self, share: Fraction, depth: int) -> tuple[Fraction, ...]:
        """Split a share over levels of cuts: 2 rate of epsilon each, or rate**2 / 2 in rho."""
        growth_of = GROWTH_OF_FEW if depth <= FEW_LEVELS else GROWTH
        growths = [growth_of**level for level in range(depth)]
        if not self.is_concentrated:
            return tuple(share / 2 * growth / sum(growths) for growth in growths)
        squares = sum(growth**2 for growth in growths)
        return tuple(root(2 * share * growth**2 / squares) for growth in growths)

    def choice_rate(self, share: Fraction) -> Fraction:
        """Return the epsilon of one choice: it costs itself, or its square over 8 in rho."""
        return root(8 * share) if self.is_concentrated else share

    def noise(self, share: Fraction) -> CountNoise:
        """Return the noise on a table of counts of which one record changes two."""
        return gaussian_noise(share) if self.is_concentrated else laplace_noise(share)


@dataclass(frozen=True)
class Planning:
    """A request for a new table of these attributes."""

    attributes: tuple[Attribute, ...]
    choices: Choices

    @property
    def epsilon(self) -> Fraction:
        """Of the whole."""
        assert self.choices.epsilon is not None  # noqa: S101 -- a request without one is refused
        return self.choices.epsilon

    @property
    def n_learnt(self) -> int:
        """Of how many attributes something is learnt of values that occur."""
        return sum(map(is_learnt, self.attributes))

    @cached_property
    def weights(self) -> dict[str, Fraction]:
        """What each attribute has of the shares of all: as asked, or by how many values it has."""
        by_size = {}
        for one in self.attributes:
            # As far as is public, and matters.
            lower, upper = one.grid_bounds or (0, FEW_VALUES)
            size = FEW_VALUES if is_learnt(one) else min(upper - lower + 1, FEW_VALUES)
            by_size[one.name] = round(size ** (2 / 3), 3)
        return split(Fraction(1), [*by_size], self.choices.budget or by_size)

    @property
    def parts(self) -> tuple[Fraction, Fraction, Fraction]:
        """Which parts of the budget go to single attributes, to choices and to tables."""
        is_learnt_by_tables = self.n_learnt and self.structure in {"graph", "tree"}
        kind = "learnt" if is_learnt_by_tables else self.structure
        return PARTS.get(kind, (OWN, CHOICE, TABLES))

    @cached_property
    def budget(self) -> _Budget:
        """What may be spent on a record, but for the delta of thresholds."""
        delta = self.choices.delta * (1 - OF_THRESHOLDS if self.n_learnt else 1)
        return _Budget.of(self.epsilon, delta, self.choices.max_rows)

    @property
    def structure(self) -> str:
        """Which tables may be measured."""
        if len(self.attributes) == 1:
            return "independent"
        return "target" if self.choices["target"] else str(self.choices["structure"])

    def plan(self) -> SyntheticPlan:
        """Share out the budget."""
        choices, own = self.choices, self.budget.total * self.parts[0]
        return SyntheticPlan(
            attributes=tuple(
                self._of_one(attribute, own * self.weights[attribute.name])
                for attribute in self.attributes
            ),
            tables=self.tables(),
            n_records=choices.n_records,
            n_drawn=choices["n_records"] or choices.n_records,
        )

    def _of_one(self, attribute: Attribute, share: Fraction) -> OneWayPlan:
        """Plan what is asked of one attribute by itself; its kind too: METHODS 11, kinds."""
        if attribute.kind_source is not Source.LEARNT or not self.budget.is_concentrated:
            return self._of_kind(attribute, share)
        needed = Fraction(ALL_STAND_OUT**2) / (self.choices.n_records**2 * share)
        of_kinds = max(OF_KINDS, min(needed, Fraction(1, 10)))
        rest = share * (1 - of_kinds)
        # What it may turn out to hold, the most general last.
        kinds = KINDS if attribute.bounds is None else (Kind.WHOLE, Kind.DECIMAL)
        *others, general = [self._of_kind(attribute.of_kind(kind), rest) for kind in kinds]
        return replace(general, kinds=self.budget.noise(share * of_kinds), others=tuple(others))

    def _of_kind(self, attribute: Attribute, share: Fraction) -> OneWayPlan:
        """Plan what is asked of an attribute of which it is known what it holds."""
        if is_learnt(attribute) and not self.budget.is_concentrated:
            raise RequestError(
                attribute.place,
                "its domain is not declared, and nothing is learnt of values without a delta",
                f"declare its bounds or categories, or allow a delta (delta={float(RELAXED):g})",
            )
        is_shown = self.parts[0] == 1 and not self.budget.is_concentrated
        bare = OneWayPlan(
            attribute=attribute,
            n_records=self.choices.n_records,
            share=share if is_shown else None,
            noise=None,
            has_missing=self.choices.hides_missing(attribute),
        )
        if _is_cut(attribute):
            return self._of_number(bare, share)
        noise = self.budget.noise(share)
        if not is_learnt(attribute):
            return replace(bare, noise=noise)
        if noise.variance > LARGEST_DEVIATION**2:
            raise RequestError(
                attribute.place,
                "its share of the budget is too small to learn its categories",
                "declare them, or pass a larger epsilon",
            )
        return replace(bare, noise=noise, learning=self._learnt(noise))

    def _of_number(self, bare: OneWayPlan, share: Fraction) -> OneWayPlan:
        """Plan decimals, atoms and cuts of a number: METHODS section 11, B and C."""
        attribute, has_missing, budget = bare.attribute, bare.has_missing, self.budget
        n_records = self.choices.n_records
        is_blind = attribute.domain is None
        if attribute.resolution_source is Source.LEARNT:
            bare = replace(bare, decimals=budget.noise(share * DECIMALS))
            share *= 1 - DECIMALS
        deepest = [
            self._depths(share * (1 - part), is_blind=is_blind)[:1] for part in (ATOMS, 2 * ATOMS)
        ]
        levels, levels_left = (sum(len(own.rates) for own in found) for found in deepest)
        of_atoms = share * ATOMS * (2 if levels == levels_left >= DEEP else 1)
        atoms, left = budget.noise(of_atoms), share - of_atoms
        learning = self._of_atoms(attribute, atoms)
        depths = () if learning is None else self._depths(left, is_blind=is_blind)
        if depths:
            cells = budget.noise(left)
            return replace(bare, noise=atoms, depths=depths, cells=cells, learning=learning)
        of_cuts = left if has_missing else share
        depths = self._depths(of_cuts, is_blind=is_blind)[:1]
        bare = replace(bare, noise=atoms if has_missing else None, depths=depths)
        if depths:
            return bare
        cells = budget.noise(of_cuts)  # which may be worth something where cuts are not
        if not is_blind or cells.variance * LEAST_CELLS**2 > n_records**2:
            raise self._too_small(attribute, of_cuts)
        return replace(bare, cells=cells)

    def _learnt(self, noise: CountNoise) -> Learning:
        """Plan from when on a value that occurs is shown: METHODS section 11, A and B."""
        delta = self.choices.delta * OF_THRESHOLDS / self.n_learnt
        return Learning(threshold=threshold(noise, delta, self.choices.max_rows), delta=delta)

    def _of_atoms(self, attribute: Attribute, noise: CountNoise) -> Learning | None:
        """Plan atoms; None where none would be shown, or the law is too wide to look for them."""
        if noise.is_gaussian and noise.variance > LARGEST_DEVIATION**2:
            return None
        if is_learnt(attribute):
            found = self._learnt(noise)
        else:
            lower, upper = attribute.grid_bounds or (0, 0)
            n_values = upper - lower + 1
            if n_values > MOST_LISTED:
                return None
            far = math.sqrt(2 * math.log(n_values)) + 0.5
            if not noise.is_gaussian:
                far = math.log(50 * n_values) / math.sqrt(2)
            least = math.ceil(math.sqrt(noise.variance) * far)
            found = Learning(threshold=least, is_declared=True)
        return found if 2 * found.threshold <= self.choices.n_records else None

    def _depths(self, share: Fraction, *, is_blind: bool) -> tuple[Depth, ...]:
        """List the depths whose last cuts are worth their budget, the deepest first.

        By public figures; which is taken beside atoms hangs on how many records these leave.
        """
        found = list[Depth]()
        for depth in range(MOST_DEPTH, LEAST_DEPTH - 1, -1):
            rates = self.budget.rates(share, depth)
            needed = WORTH_IT if depth == LEAST_DEPTH else DEEP_ENOUGH
            blind = LEAST_LEARNT / rates[0] if is_blind else Fraction(0)
            least = max(needed * (1 << depth) / rates[-1], blind)
            if self.choices.n_records >= least:
                found.append(Depth(rates, least))
        return tuple(found)

    def _too_small(self, attribute: Attribute, share: Fraction) -> RequestError:
        """Return the error about cuts that would be worse than none: even of the least depth."""
        n_records, remedy = self.choices.n_records, ""
        rates = self.budget.rates(share, LEAST_DEPTH)
        factor = float(WORTH_IT * (1 << LEAST_DEPTH) / (rates[-1] * n_records))
        if attribute.domain is None:
            factor = float(LEAST_CELLS / (root(share) * n_records))
            is_known = attribute.kind_source is not Source.LEARNT
            remedy = f"declare its bounds{'' if is_known else ' or categories'}, or "
        return RequestError(
            attribute.place,
            "its share of the budget is too small for a distribution: what came out would be worse "
            "than nothing",
            remedy + self._would_do(attribute, factor),
        )

    def _would_do(self, attribute: Attribute, factor: float) -> str:
        """Name what would do instead, where the rates must be so many times what they are.

        They grow with epsilon, with the root of rho, and with one over the number of attributes or
        its root.
        """
        choices, budget, n_columns = self.choices, self.budget, len(self.attributes)
        fewer, needed = 1 / factor, self.epsilon * Fraction(factor)
        if budget.is_concentrated:
            fewer = fewer**2
            of_unit = budget.total * choices.max_rows**2
            needed = epsilon_of(of_unit * Fraction(factor) ** 2, choices.delta)
        # As many as have no more values: see `weights`.
        alike = min(Fraction(n_columns), 1 / self.weights[attribute.name])
        remedies = [
            f"pass epsilon={_upwards(float(needed))} or more",
            f"protect a table of {math.ceil(choices.n_records * factor):,} records or more",
        ]
        if (most := math.floor(float(alike) * fewer)) >= 1:
            remedies.append(f"name {most} attribute{'' if most == 1 else 's'} at most")
        relaxed = _Budget.of(self.epsilon, RELAXED, choices.max_rows)
        with_delta = relaxed.rates(relaxed.total / n_columns, LEAST_DEPTH)[-1]
        rate = budget.rates(budget.total, LEAST_DEPTH)[-1] / n_columns
        if not budget.is_concentrated and with_delta > rate:
            remedies.append(f"allow a delta (delta={float(RELAXED):g}): the budget goes further")
        return ", or ".join(remedies)

    def tables(self) -> TablesPlan | None:
        """Plan which tables may be chosen, and the noise on each; None where none is."""
        structure, budget, given = self.structure, self.budget, self.choices["target"]
        if structure == "independent":
            return None
        _, choosing, measuring = self.parts
        target = None if given is None else [one.name for one in self.attributes].index(given[0])
        edges = len(self.attributes) - 1
        tables = edges if structure == "tree" else self._n_tables(budget.total * measuring)
        if structure == "target":
            edges = tables = max(1, edges - 1)
        noise = budget.noise(budget.total * measuring / tables)
        noise.spending(Fraction(1, LEAST_SHARE))  # the most there may be can be drawn, or a refusal
        room = room_of(noise, self.choices.n_records, has_target=structure == "target")
        sizes = (size for size in (2, 4, 8, 16) if size <= MOST_PARTS and size**2 <= room)
        return TablesPlan(
            n_tables=tables,
            n_edges=edges,
            rate=budget.choice_rate(budget.total * choosing / tables),
            noise=noise,
            parts=max(sizes, default=2),
            target=target,
            halves={} if target is None else self._halves(target),
        )

    def _n_tables(self, share: Fraction) -> int:
        """Return how many tables leave each enough cells that stand out: METHODS section 11, E.

        Noise on each count grows with the root of their number in rho, in pure DP with the number.
        """
        n_attributes = len(self.attributes)
        wanted = SHARE_OF_NOISE * self.choices.n_records / CELLS
        if self.budget.is_concentrated:
            wanted = wanted**2 * share
        else:  # the standard deviation of Laplace noise is the root of 8 over its epsilon
            wanted = root((wanted * share) ** 2 / 8)
        least, most = LEAST_TABLES * n_attributes, MOST_TABLES * n_attributes
        n_pairs = n_attributes * (n_attributes - 1) // 2
        return min(math.floor(min(max(wanted, least), most)), n_pairs)

    def _halves(self, target: int) -> dict[int, int | None]:
        """Return the grid value at which a target of numbers is cut; None is its median."""
        attribute, (_, given) = self.attributes[target], self.choices["target"] or ("", None)
        is_listed, place = attribute.categories is not None, f"target '{attribute.name}'"
        if given is None:
            return {} if is_listed else {target: None}
        if is_listed:
            raise RequestError(
                place,
                "its values are categories: they are not cut in two",
                "name it without a threshold",
            )
        lower, upper = attribute.grid_bounds or (0, 0)
        cut = _position(given, attribute.kind)
        at = lower if cut is None else math.ceil(cut / attribute.resolution)
        if not lower < at <= upper:
            kind = "a date" if attribute.kind is Kind.DATE else "a number"
            raise RequestError(
                place,
                f"its threshold must be {kind} inside the declared bounds",
                "pass one between them, or none for the median",
            )
        return {target: at}


def room_of(noise: CountNoise, n_records: int, *, has_target: bool) -> Fraction:
    """Return how many cells a table may have that still stand out of its noise."""
    deviation = Fraction(math.sqrt(noise.variance)) * (TARGET_NOISE if has_target else 1)
    return SHARE_OF_NOISE * n_records / deviation


def is_learnt(attribute: Attribute) -> bool:
    """Whether values that occur are learnt of an attribute: no grid or list of them is declared."""
    return Source.LEARNT in (attribute.domain_source, attribute.resolution_source)


def _is_cut(attribute: Attribute) -> bool:
    """Whether an attribute is one of numbers with so many values that cuts serve better."""
    if is_learnt(attribute):
        return attribute.kind in {Kind.WHOLE, Kind.DECIMAL, Kind.DATE}
    lower, upper = attribute.grid_bounds or (0, 0)
    return attribute.categories is None and upper - lower >= FEW_VALUES


def _upwards(number: float) -> str:
    """Write a number with two digits, rounded up."""
    digits = 1 - math.floor(math.log10(number))
    return f"{math.ceil(number * 10**digits) / 10**digits:.{max(digits, 0)}f}"


def _position(given: Any, kind: Kind) -> Fraction | None:
    """Return where an attribute is cut, in its own units; None where that is no value of it."""
    if isinstance(given, datetime.date) or kind is Kind.DATE:
        if not isinstance(given, datetime.date) or kind is not Kind.DATE:
            return None
        return Fraction(given.toordinal() - EPOCH.toordinal())
    if isinstance(given, Fraction):
        return given
    return exact_number(given) if math.isfinite(given) else None
