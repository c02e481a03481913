"""What was measured of one attribute by itself: counts of values, cuts, atoms, coarse cells."""

import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.guarantee import exact_number
from microveil.noise.counts import NoisyCounts
from microveil.schema import EPOCH, Attribute, Bounds, Categories, Kind, Source
from microveil.synthesis.cells import Cells
from microveil.synthesis.cuts import Candidates, Cuts
from microveil.synthesis.distribution import Counted, Distribution, of_cells, of_cuts
from microveil.synthesis.nearest import LEAST, positive_shares

Whole = NDArray[np.int64]
Real = NDArray[np.float64]


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
        """Whether nothing was learnt: no word of it, or no number, has enough records."""
        attribute = self.attribute
        if self.cells is not None and attribute.domain_source is Source.LEARNT:
            return not len(self.counted.starts) and self.cells.is_blank
        categories = attribute.categories
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
