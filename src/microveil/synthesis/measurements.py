"""What was asked of the data, as it came out of the noise: exact integers, and public scales.

Everything here may be published: it is what differential privacy bounds, and every release by
`dp-synthetic` is a function of it and of fresh randomness.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.partition.quantiles import Candidates, Cuts
from microveil.schema import Attribute

__all__ = ["AttributeMeasured", "CountsMeasured", "CutsMeasured", "Measurements", "NoisyCounts"]

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
# What measurements.json calls the law of discrete Gaussian noise.
GAUSSIAN = "discrete Gaussian"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoisyCounts:
    """Counts with noise, as whole numbers of steps.

    Attributes
    ----------
    steps : int64 array
    bits : int
        A record is 2**bits steps.
    variance : float
        Of the noise on each count, in squared records.
    is_gaussian : bool
        Whether the noise is discrete Gaussian; else it is discrete Laplace.
    """

    steps: Whole
    bits: int
    variance: float
    is_gaussian: bool

    @property
    def counts(self) -> Real:
        """The counts in records."""
        return np.asarray(self.steps / (1 << self.bits))

    @classmethod
    def from_dict(cls, contents: Mapping[str, Any]) -> "NoisyCounts":
        """Make counts of their plain values."""
        return cls(
            steps=np.array(contents["steps"], dtype=np.int64),
            bits=int(contents["steps_per_record"]).bit_length() - 1,
            variance=float(contents["standard_deviation"]) ** 2,
            is_gaussian=contents["law"] == GAUSSIAN,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return {
            "steps": self.steps.tolist(),
            "steps_per_record": 1 << self.bits,
            "law": GAUSSIAN if self.is_gaussian else "discrete Laplace",
            "standard_deviation": float(np.sqrt(self.variance)),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CutsMeasured:
    """The private medians of a numeric attribute.

    Attributes
    ----------
    attribute : Attribute
    candidates : Candidates
    cuts : Cuts
    rates : tuple of float
        By level the rate of the exponential mechanism.
    present : NoisyCounts or None
        Records with and without a value, where missing is protected.
    """

    attribute: Attribute
    candidates: Candidates
    cuts: Cuts
    rates: tuple[float, ...]
    present: NoisyCounts | None = None

    @classmethod
    def from_dict(cls, attribute: Attribute, contents: Mapping[str, Any]) -> "CutsMeasured":
        """Make cuts of their plain values.

        Raises
        ------
        ValueError
            If they do not lie where the attribute's domain has them.
        """
        lower, upper = attribute.grid_bounds or (0, 0)
        candidates = Candidates(lower=lower, upper=upper, count=int(contents["candidates"]))
        cuts, present = contents["cuts"], contents["present"]
        codes = np.array([cut["candidate"] for cut in cuts], dtype=np.int64)
        if not np.allclose(candidates.positions(codes), [cut["position"] for cut in cuts]):
            raise ValueError(attribute.name)
        return cls(
            attribute=attribute,
            candidates=candidates,
            cuts=Cuts(
                depth=int(contents["depth"]),
                numbers=np.array([cut["number"] for cut in cuts], dtype=np.int64),
                codes=codes,
            ),
            rates=tuple(map(float, contents["rates"])),
            present=None if present is None else NoisyCounts.from_dict(present),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the cuts as plain values; positions in grid units of the attribute."""
        positions = self.candidates.positions(self.cuts.codes)
        return {
            "kind": "cuts",
            "candidates": self.candidates.count,
            "depth": self.cuts.depth,
            "cuts": [
                {"number": int(number), "candidate": int(code), "position": float(position)}
                for number, code, position in zip(
                    self.cuts.numbers, self.cuts.codes, positions, strict=True
                )
            ],
            "rates": list(self.rates),
            "present": None if self.present is None else self.present.to_dict(),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountsMeasured:
    """The noisy histogram of an attribute over its whole domain.

    Attributes
    ----------
    attribute : Attribute
    levels : NoisyCounts
        One count for each value of the domain, and behind these the records without a value,
        where missing is protected.
    has_missing : bool
    """

    attribute: Attribute
    levels: NoisyCounts
    has_missing: bool

    @classmethod
    def from_dict(cls, attribute: Attribute, contents: Mapping[str, Any]) -> "CountsMeasured":
        """Make a histogram of its plain values.

        Raises
        ------
        ValueError
            If there is not one count for each value of the attribute's domain.
        """
        lower, upper = attribute.grid_bounds or (0, 0)
        levels, has_missing = NoisyCounts.from_dict(contents), contents["has_missing"] is True
        if levels.steps.shape != (upper - lower + 1 + has_missing,):
            raise ValueError(attribute.name)
        return cls(attribute=attribute, levels=levels, has_missing=has_missing)

    def to_dict(self) -> dict[str, Any]:
        """Return the histogram as plain values."""
        return {"kind": "counts", "has_missing": self.has_missing, **self.levels.to_dict()}


AttributeMeasured = CutsMeasured | CountsMeasured


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measurements:
    """All that is known of a table once the budget is spent.

    Attributes
    ----------
    n_records : int
        Of the original: public.
    attributes : tuple of CutsMeasured or CountsMeasured
    tables : dict of NoisyCounts
        By the positions of their attributes, in the order in which they were measured: the
        bins of each are those that `axes.axis_of` makes of the attribute's own measurement.
    parts : int
        So many parts of equal mass an attribute's cuts make in tables, at most.
    halves : dict of int or None
        By position the attributes that have two bins in tables instead, and the grid
        value at which the second begins: None is the private median.
    """

    n_records: int
    attributes: tuple[AttributeMeasured, ...]
    tables: Mapping[tuple[int, ...], NoisyCounts]
    parts: int
    halves: Mapping[int, int | None] = field(default_factory=dict)

    @classmethod
    def from_dict(
        cls, contents: Mapping[str, Any], attributes: Sequence[Attribute]
    ) -> "Measurements":
        """Make measurements of their plain values, as measurements.json has them.

        Parameters
        ----------
        contents : mapping
        attributes : sequence of Attribute
            With their domains and grids, in any order.

        Raises
        ------
        KeyError, TypeError, ValueError
            If they are not measurements of these attributes.
        """
        known = {attribute.name: attribute for attribute in attributes}
        kinds: dict[str, type[CutsMeasured | CountsMeasured]] = {
            "cuts": CutsMeasured,
            "counts": CountsMeasured,
        }
        entries: Mapping[str, Any] = contents["attributes"]
        place = {name: number for number, name in enumerate(entries)}
        if known.keys() != place.keys():
            raise ValueError("attributes")
        return cls(
            n_records=int(contents["n_records"]),
            attributes=tuple(
                kinds[entry["kind"]].from_dict(known[name], entry)
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
        return {
            "n_records": self.n_records,
            "attributes": {
                measured.attribute.name: measured.to_dict() for measured in self.attributes
            },
            "tables": [
                {"attributes": [names[one] for one in scope], **table.to_dict()}
                for scope, table in self.tables.items()
            ],
            "parts": self.parts,
            "halves": {names[one]: at for one, at in self.halves.items()},
        }
