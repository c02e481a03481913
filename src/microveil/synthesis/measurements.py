"""What was asked of the data, as it came out of the noise: exact integers, and public scales.

Everything here may be published: it is what differential privacy bounds, and every release by
`dp-synthetic` is a function of it and of fresh randomness.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.noise.counts import CountNoise
from microveil.noise.noise import RandomSource
from microveil.schema import Attribute
from microveil.synthesis.cuts import Candidates, Cuts

__all__ = [
    "AttributeMeasured",
    "CountsMeasured",
    "CutsMeasured",
    "Measurements",
    "NoisyCounts",
    "Real",
    "Scope",
    "Whole",
]

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
# The positions of a table's attributes.
Scope = tuple[int, ...]
# What measurements.json calls the law of discrete Gaussian noise.
GAUSSIAN = "discrete Gaussian"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoisyCounts:
    """Counts with noise, as whole numbers of the steps of its law."""

    steps: Whole
    noise: CountNoise

    @classmethod
    def of(cls, counts: Whole, noise: CountNoise, source: RandomSource) -> "NoisyCounts":
        """Add noise to counts; what comes back may be published."""
        return cls(steps=noise.added(counts, source), noise=noise)

    @property
    def counts(self) -> Real:
        """The counts in records."""
        return np.asarray(self.steps / (1 << self.noise.bits))

    @property
    def variance(self) -> float:
        """Of the noise on one count, in squared records."""
        return self.noise.variance

    @classmethod
    def from_dict(cls, contents: Mapping[str, Any]) -> "NoisyCounts":
        """Make counts of their plain values, and the law of their noise as far as these say it."""
        deviation, is_gaussian = float(contents["standard_deviation"]), contents["law"] == GAUSSIAN
        bits = int(contents["steps_per_record"]).bit_length() - 1
        scale = deviation**2 if is_gaussian else round(deviation / math.sqrt(2) * (1 << bits))
        noise = CountNoise(is_gaussian=is_gaussian, scale=Fraction(scale), bits=bits)
        return cls(steps=np.array(contents["steps"], dtype=np.int64), noise=noise)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return {
            "steps": self.steps.tolist(),
            "steps_per_record": 1 << self.noise.bits,
            "law": GAUSSIAN if self.noise.is_gaussian else "discrete Laplace",
            "standard_deviation": float(np.sqrt(self.variance)),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CutsMeasured:
    """The private medians of a numeric attribute.

    ``rates`` are those of the exponential mechanism by level; ``present`` counts the records
    with and without a value, where missing is protected.
    """

    attribute: Attribute
    cuts: Cuts
    rates: tuple[float, ...]
    present: NoisyCounts | None = None

    @property
    def has_missing(self) -> bool:
        """Whether records without a value were counted."""
        return self.present is not None

    @classmethod
    def from_dict(cls, attribute: Attribute, contents: Mapping[str, Any]) -> "CutsMeasured":
        """Make cuts of their plain values; ValueError if the attribute's domain has no such."""
        lower, upper = attribute.grid_bounds or (0, 0)
        entries, present = contents["cuts"], contents["present"]
        cuts = Cuts(
            candidates=Candidates(lower=lower, upper=upper, count=int(contents["candidates"])),
            depth=int(contents["depth"]),
            numbers=np.array([cut["number"] for cut in entries], dtype=np.int64),
            codes=np.array([cut["candidate"] for cut in entries], dtype=np.int64),
        )
        if not np.allclose(cuts.positions, [cut["position"] for cut in entries]):
            raise ValueError(attribute.name)
        return cls(
            attribute=attribute,
            cuts=cuts,
            rates=tuple(map(float, contents["rates"])),
            present=None if present is None else NoisyCounts.from_dict(present),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the cuts as plain values; positions in grid units of the attribute."""
        cuts = self.cuts
        columns = cuts.numbers.tolist(), cuts.codes.tolist(), cuts.positions.tolist()
        return {
            "kind": "cuts",
            "candidates": cuts.candidates.count,
            "depth": cuts.depth,
            "cuts": [
                {"number": number, "candidate": code, "position": position}
                for number, code, position in zip(*columns, strict=True)
            ],
            "rates": list(self.rates),
            "present": None if self.present is None else self.present.to_dict(),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountsMeasured:
    """The noisy histogram of an attribute over its whole domain.

    ``levels`` has a count for each value of the domain, and last one of the records without a
    value, where missing is protected.
    """

    attribute: Attribute
    levels: NoisyCounts
    has_missing: bool

    @classmethod
    def from_dict(cls, attribute: Attribute, contents: Mapping[str, Any]) -> "CountsMeasured":
        """Make a histogram of its plain values; ValueError if it is not of the whole domain."""
        lower, upper = attribute.grid_bounds or (0, 0)
        levels, has_missing = NoisyCounts.from_dict(contents), contents["has_missing"] is True
        if levels.steps.shape != (upper - lower + 1 + has_missing,):
            raise ValueError(attribute.name)
        return cls(attribute=attribute, levels=levels, has_missing=has_missing)

    def to_dict(self) -> dict[str, Any]:
        """Return the histogram as plain values."""
        return {"kind": "counts", "has_missing": self.has_missing, **self.levels.to_dict()}


AttributeMeasured = CutsMeasured | CountsMeasured
KINDS: dict[str, type[AttributeMeasured]] = {"cuts": CutsMeasured, "counts": CountsMeasured}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measurements:
    """All that is known of a table once the budget is spent.

    ``tables`` are in the order in which they were measured; `tables.axis_at` makes the bins of each
    of an attribute's own measurement: ``parts`` of equal mass at most, or two of those in
    ``halves``, of which the second begins at a grid value, or the private median.
    """

    n_records: int
    attributes: tuple[AttributeMeasured, ...]
    tables: Mapping[Scope, NoisyCounts]
    parts: int
    halves: Mapping[int, int | None] = field(default_factory=dict)

    @classmethod
    def from_dict(
        cls, contents: Mapping[str, Any], attributes: Sequence[Attribute]
    ) -> "Measurements":
        """Make measurements of their plain values, as measurements.json has them.

        Attributes come with their domains and grids, in any order. KeyError, TypeError or
        ValueError if these are not measurements of them.
        """
        known = {attribute.name: attribute for attribute in attributes}
        entries: Mapping[str, Any] = contents["attributes"]
        place = {name: number for number, name in enumerate(entries)}
        if known.keys() != place.keys():
            raise ValueError("attributes")
        return cls(
            n_records=int(contents["n_records"]),
            attributes=tuple(
                KINDS[entry["kind"]].from_dict(known[name], entry)
                for name, entry in entries.items()
            ),
            tables={
                tuple(place[name] for name in table["attributes"]): NoisyCounts.from_dict(table)
                for table in contents["tables"]
            },
            parts=int(contents["parts"]),
            halves={place[name]: at for name, at in contents["halves"].items()},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the measurements as plain values."""
        names = [measured.attribute.name for measured in self.attributes]
        own = (measured.to_dict() for measured in self.attributes)
        return {
            "n_records": self.n_records,
            "attributes": dict(zip(names, own, strict=True)),
            "tables": [
                {"attributes": [names[one] for one in scope], **table.to_dict()}
                for scope, table in self.tables.items()
            ],
            "parts": self.parts,
            "halves": {names[one]: at for one, at in self.halves.items()},
        }
