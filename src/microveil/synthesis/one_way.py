"""What was measured of one attribute by itself: counts of values, cuts, atoms, coarse cells."""

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.guarantee import exact_number
from microveil.noise.counts import NoisyCounts
from microveil.schema import EPOCH, Attribute, Bounds, Categories, Kind, Source
from microveil.synthesis.cuts import Candidates, Cuts
from microveil.synthesis.distribution import Counted, Distribution, of_cells, of_cuts

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
# Records that a bin is taken to have at least: no distribution has a mass of 0 or less.
LEAST = 0.5
# Cells, a run of them together, by so many; by more where numbers hardly ever are. And every outer
# part of a run, and a cell next to what stands out, by so many: the noise of cells behind the last
# person's would else go along.
FAR_OUT, FARTHER_OUT, USUAL = 4.3, 5.5, (-64, 1 << 24)
OUTER = 2.5
# Of Laplace noise, whose tails are longer, so many times as many.
LAPLACE = 1.5
# Where what the atoms leave stands out by less than so many deviations all values may be atoms: a
# run of cells needs more then.
ALL_ATOMS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """Coarse cells of numbers, from each border up to the next, and how many records each has."""

    borders: Whole
    counts: NoisyCounts

    def held(self, atoms: Counted, n_present: float) -> Counted:
        """Return the cells up to the outermost that stand out, none with less than no record.

        Both counts of atoms are joined by the inverse of their variances.
        """
        starts, ends = self.borders[:-1], self.borders[1:]
        counts, variances = self.counts.counts, np.full(len(starts), self.counts.variance)
        rest, of_atoms = n_present - atoms.masses.sum(), atoms.deviations**2
        if len(atoms.starts):
            place = np.searchsorted(starts, atoms.starts)
            total = counts[place] / variances[place] + atoms.masses / of_atoms
            variances[place] = 1 / (1 / variances[place] + 1 / of_atoms)
            counts[place] = total * variances[place]
        is_there = rest >= ALL_ATOMS * math.sqrt(of_atoms.sum())
        longer = 1.0 if self.counts.noise.is_gaussian else LAPLACE
        usual = FAR_OUT if is_there else FARTHER_OUT
        least = [longer * own for own in (OUTER, usual, FARTHER_OUT)]
        kept = _reach(starts, counts, variances, least)
        found = Counted(starts[kept], ends[kept], counts[kept], np.sqrt(variances[kept]))
        masses, held = (
            np.zeros(len(found.masses)),
            _standing(counts[kept], variances[kept], least[0]),
        )
        masses[held] = nearest_counts(found.masses[held], n_present)
        return replace(found, masses=masses)

    @classmethod
    def from_dict(cls, contents: Mapping[str, Any]) -> "Cells":
        """Make cells of their plain values."""
        borders = np.array(contents["borders"], dtype=np.int64)
        return cls(borders=borders, counts=NoisyCounts.from_dict(contents))

    def to_dict(self) -> dict[str, Any]:
        """Return the cells as plain values."""
        return {"borders": self.borders.tolist(), **self.counts.to_dict()}


@dataclass(frozen=True, kw_only=True, eq=False)
class AttributeMeasured:
    """What was measured of one attribute.

    Of an attribute whose values are all counted ``counts`` has one for each value of the domain,
    and last one of the records without a value where these were counted. Of a number with
    ``atoms``, values in grid units that have counts of their own, it has one for each of them, and
    last the same; of one with cuts alone the records with and without a value, where missing is
    protected. ``rates`` are those of the exponential mechanism by level of ``cuts``, and ``cells``
    are measured in their place where too few records are left for them. Where ``has_rest``, the
    last category is the rest of the records: nobody counted them. ``kinds`` are the counts of
    cells by what they are, where it was learnt of these what the attribute holds.
    """

    attribute: Attribute
    counts: NoisyCounts | None
    has_missing: bool
    cuts: Cuts | None = None
    rates: tuple[float, ...] = ()
    atoms: Whole | None = None
    cells: Cells | None = None
    candidates: Candidates | None = None
    n_records: int = 0
    has_rest: bool = False
    kinds: NoisyCounts | None = None

    @property
    def is_unknown(self) -> bool:
        """Whether nothing was learnt of a column of text: no word of it has enough records."""
        categories = self.attribute.categories
        return self.has_rest and categories is not None and len(categories.values) == 1

    @property
    def levels(self) -> NoisyCounts:
        """The counts of all values, of an attribute without cuts."""
        assert self.counts is not None  # noqa: S101 -- all values were counted
        return self.counts

    def present(self, n_records: int) -> Real:
        """Return the shares of records with a value and without one, of numbers."""
        if not self.has_missing or self.counts is None:
            return np.array([1.0, 0.0])
        if self.atoms is None:
            counts, weight = self.counts.counts, np.full(2, 1 / self.counts.variance)
            return positive_shares(counts * weight, weight)
        absent = min(max(float(self.counts.counts[-1]), 0.0), n_records - LEAST)
        return np.array([n_records - absent, absent]) / n_records

    @cached_property
    def distribution(self) -> Distribution | None:
        """How its values lie; None of an attribute whose values are all counted."""
        candidates = self.candidates if self.cuts is None else self.cuts.candidates
        if candidates is None:
            return None
        lower, upper = self.attribute.grid_bounds or (0, 0)
        scale = replace(candidates, lower=lower, upper=upper)
        if self.cells is not None:
            return of_cells(candidates, scale, self.held)
        assert self.cuts is not None  # noqa: S101 -- one of both is there
        n_rest = max(self._n_present - float(self.counted.masses.sum()), 0.0)
        return of_cuts(self.cuts, self.rates, scale, self.counted, n_rest)

    @property
    def _n_present(self) -> float:
        return float(self.present(self.n_records)[0] * self.n_records)

    @property
    def held(self) -> Counted:
        """Its cells, atoms among them, of a number that cells were counted of."""
        assert self.cells is not None  # noqa: S101 -- asked of no other
        return self.cells.held(self.counted, self._n_present)

    @property
    def counted(self) -> Counted:
        """Its atoms, with their noisy counts."""
        if self.atoms is None or self.counts is None:
            nothing = np.zeros(0, dtype=np.int64)
            return Counted(nothing, nothing, np.zeros(0), np.zeros(0))
        found = np.maximum(self.counts.counts[: len(self.atoms)], 0.0)
        deviation = math.sqrt(self.counts.variance)
        return Counted(self.atoms, self.atoms + 1, found, np.full(len(found), deviation))

    @classmethod
    def from_dict(
        cls, attribute: Attribute, contents: Mapping[str, Any], n_records: int
    ) -> "AttributeMeasured":
        """Make what was measured of its plain values; ValueError if it is not of the domain."""
        if "kinds" in contents:
            rest = {name: value for name, value in contents.items() if name != "kinds"}
            found = cls.from_dict(_of_kind(attribute, contents["kinds"]), rest, n_records)
            return replace(found, kinds=NoisyCounts.from_dict(contents["kinds"]))
        attribute, kind = _learnt(attribute, contents), contents["kind"]
        lower, upper = attribute.grid_bounds or (0, 0)
        if kind == "counts":
            counts, has_missing = NoisyCounts.from_dict(contents), contents["has_missing"] is True
            if counts.steps.shape != (upper - lower + 1 + has_missing,):
                raise ValueError(attribute.name)
            has_rest = contents.get("has_rest") is True
            return cls(
                attribute=attribute, counts=counts, has_missing=has_missing, has_rest=has_rest
            )
        if kind not in {"cuts", "atoms"}:
            raise ValueError(attribute.name)
        given = contents["present" if kind == "cuts" else "counts"]
        candidates = Candidates(lower=lower, upper=upper, count=int(contents["candidates"]))
        if "over" in contents:
            candidates = replace(
                candidates, **dict(zip(("lower", "upper"), contents["over"], strict=True))
            )
        cells = contents.get("cells")
        return cls(
            attribute=attribute,
            counts=None if given is None else NoisyCounts.from_dict(given),
            has_missing=given is not None if kind == "cuts" else contents["has_missing"] is True,
            cuts=None if cells else _cuts(attribute, candidates, contents),
            rates=tuple(map(float, contents["rates"])),
            atoms=None if kind == "cuts" else np.array(contents["atoms"], dtype=np.int64),
            cells=None if cells is None else Cells.from_dict(cells),
            candidates=candidates,
            n_records=n_records,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what was measured as plain values; positions in grid units of the attribute."""
        if self.kinds is not None:
            kinds = {"learnt": self.attribute.kind.value, **self.kinds.to_dict()}
            return {"kinds": kinds, **replace(self, kinds=None).to_dict()}
        counts, categories = self.counts and self.counts.to_dict(), self.attribute.categories
        learnt: dict[str, Any] = {}
        if Source.LEARNT in (self.attribute.domain_source, self.attribute.resolution_source):
            domain = self.attribute.written_domain
            learnt = {"domain": list(domain or ()), "resolution": str(self.attribute.resolution)}
        if self.candidates is None:
            if categories is not None and learnt:
                learnt["has_rest"] = self.has_rest
            found = {"kind": "counts", "has_missing": self.has_missing, **(counts or {})}
            return {**found, **learnt}
        cuts = self.cuts
        found = {"kind": "cuts", "candidates": self.candidates.count}
        if learnt:
            found["over"] = [self.candidates.lower, self.candidates.upper]
        if cuts is not None:
            columns = cuts.numbers.tolist(), cuts.codes.tolist(), cuts.positions.tolist()
            found |= {
                "depth": cuts.depth,
                "cuts": [
                    {"number": number, "candidate": code, "position": position}
                    for number, code, position in zip(*columns, strict=True)
                ],
            }
        found["rates"] = list(self.rates)
        if self.atoms is None:
            return {**found, "present": counts, **learnt}
        found |= {"kind": "atoms", "has_missing": self.has_missing, "atoms": self.atoms.tolist()}
        if self.cells is not None:
            found["cells"] = self.cells.to_dict()
        return {**found, "counts": counts, **learnt}


def _cuts(attribute: Attribute, candidates: Candidates, contents: Mapping[str, Any]) -> Cuts:
    entries = contents["cuts"]
    cuts = Cuts(
        candidates=candidates,
        depth=int(contents["depth"]),
        numbers=np.array([cut["number"] for cut in entries], dtype=np.int64),
        codes=np.array([cut["candidate"] for cut in entries], dtype=np.int64),
    )
    if not np.allclose(cuts.positions, [cut["position"] for cut in entries]):
        raise ValueError(attribute.name)
    return cuts


def _learnt(attribute: Attribute, contents: Mapping[str, Any]) -> Attribute:
    """Give an attribute the domain that was learnt, where one was."""
    if "domain" not in contents or contents["domain"] is None:
        return attribute
    resolution, domain = Fraction(contents["resolution"]), contents["domain"]
    if attribute.kind in {Kind.OTHER, Kind.NOMINAL}:
        return with_categories(attribute, tuple(map(str, domain)))
    ends = [_number(end) for end in domain]
    return replace(
        attribute,
        resolution=resolution,
        resolution_source=Source.LEARNT,
        domain=attribute.domain or Bounds(lower=ends[0], upper=ends[1], source=Source.LEARNT),
    )


def _of_kind(attribute: Attribute, contents: Mapping[str, Any]) -> Attribute:
    """Give an attribute the kind that was learnt; of listed categories it is that of text."""
    kind = Kind(contents["learnt"])
    found = attribute if kind is Kind.NOMINAL else attribute.of_kind(kind)
    return replace(found, kind_source=Source.LEARNT)


def _number(end: Any) -> Fraction:
    if isinstance(end, str):
        return Fraction((datetime.date.fromisoformat(end) - EPOCH).days)
    return exact_number(end)


def with_categories(attribute: Attribute, words: tuple[str, ...]) -> Attribute:
    """Give text the categories that were learnt of it."""
    domain = Categories(values=words, ordered=False, source=Source.LEARNT)
    return replace(attribute, kind=Kind.NOMINAL, domain=domain)


def _reach(starts: Whole, counts: Real, variances: Real, least: Sequence[float]) -> slice:
    """Return the cells up to the outermost that stand out, by themselves or with others beside.

    There are a hundred cells far away that nobody is in: one that noise alone made stand out
    would put records a million times too far. Most numbers lie in the others.
    """
    is_usual = (starts >= USUAL[0]) & (starts < USUAL[1])
    beside, usual, unusual = least
    far = np.where(is_usual, usual, unusual)
    clear = np.flatnonzero(counts > far * np.sqrt(variances))
    if not len(clear):  # nobody has a value, as far as is known: those drawn are about 0
        place = max(int(np.searchsorted(starts, 0, side="right")) - 1, 0)
        return slice(place, place + 1)
    first, last = int(clear[0]), int(clear[-1])
    above = slice(last + 1, None)
    last += _outermost(counts[above], variances[above], far[above], beside)
    below = slice(first - 1, None, -1) if first else slice(0, 0)
    first -= _outermost(counts[below], variances[below], far[below], beside)
    return slice(first, last + 1)


def _outermost(counts: Real, variances: Real, far: Real, beside: float) -> int:
    """Return how many cells, from a side on, go up to the end of what stands out together.

    Of all runs of cells that which stands out most, to where all its outer parts stand out, too;
    then the same of those beyond it.
    """
    if not len(counts):
        return 0
    scores = _of_runs(counts, variances)
    least = np.maximum.accumulate(np.concatenate(([0.0], far)))
    beyond = scores - least
    beyond[0, 1] = scores[0, 1] - beside
    start, end = divmod(int(beyond.argmax()), len(scores))
    if beyond.max() < 0:
        return 0
    while (weak := np.flatnonzero(scores[start:end, end] < OUTER)).size:
        end = start + int(weak[-1])
    if not end:
        return 0
    return end + _outermost(counts[end:], variances[end:], far[end:], beside)


def _standing(counts: Real, variances: Real, least: float) -> NDArray[np.bool_]:
    """Say which cells stand out by themselves, or in a run between such cells; all if none does.

    Noise alone would put one record in twenty into the single values beside a spike.
    """
    found = counts >= least * np.sqrt(variances)
    ends = [-1, *np.flatnonzero(found).tolist(), len(counts)]
    runs = [(before + 1, after) for before, after in pairwise(ends) if before + 1 < after]
    while runs:
        first, last = runs.pop()
        scores = _of_runs(counts[first:last], variances[first:last])
        start, end = (first + own for own in divmod(int(scores.argmax()), len(scores)))
        if scores.max() >= least:
            found[start:end] = True
            runs += [run for run in ((first, start), (end, last)) if run[0] < run[1]]
    return found if found.any() else ~found


def _of_runs(counts: Real, variances: Real) -> Real:
    """Return by how many deviations the runs of cells from each to each other stand out."""
    sums, squares = (np.concatenate(([0.0], np.cumsum(own))) for own in (counts, variances))
    deviations = np.sqrt(np.maximum(squares[None, :] - squares[:, None], variances.min()))
    scores = (sums[None, :] - sums[:, None]) / deviations
    return np.where(np.tri(len(sums), dtype=np.bool_), -np.inf, scores)


def positive_shares(total: Real, weight: Real) -> Real:
    """Shrink counts, sums of measurements over their weights, towards 0, and make them shares."""
    # James and Stein's rule for one number: of a count that is noise nearly nothing is left.
    noise = np.sqrt(weight) / np.maximum(total, np.sqrt(weight))
    counts = np.maximum(total / weight * (1 - noise**2), LEAST)
    return np.asarray(counts / counts.sum())


def nearest_counts(counts: Real, total: float) -> Real:
    """Find the nearest counts, by least squares, that sum to a total and are nowhere negative.

    Cutting negative counts off alone would leave the noise of all others in: where most true
    counts are 0, as in the tail of a number, it would add records that nobody was. The projection
    on a simplex, O(n log n) (Held, Wolfe and Crowder 1974).
    """
    falling = np.sort(counts)[::-1]
    taken_off = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    n_left = int(np.count_nonzero(falling > taken_off)) if total > 0 else 0
    if not n_left:
        return np.zeros_like(counts)
    return np.asarray(np.maximum(counts - taken_off[n_left - 1], 0.0))
