"""The margins of noise of each attribute of a new table, as its pictures and tables show them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from microveil.protect.release import Release
from microveil.schema import Attribute, Kind
from microveil.synthesis.measurements import AttributeMargins, Interval, Margins, Measurements
from microveil.synthesis.one_way import AttributeMeasured

__all__ = ["MISSING", "ColumnMargins", "Known", "is_declared", "known_of", "margins_by_name"]

# What categories are called that are none.
MISSING = "(missing)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMargins:
    """Figures of an attribute as they were measured, each with where it lies but for the noise.

    Attributes
    ----------
    confidence : float
        Of each interval by itself.
    categories : dict of Interval
        Shares, by category as a page names it; of numbers that may be missing that share alone.
    values : tuple of (float, Interval)
        Shares of the values of a number that was counted.
    quantiles : tuple of (float, Interval)
        By the share of the values below.
    mean : Interval or None
    """

    confidence: float
    categories: Mapping[str, Interval] = field(default_factory=dict)
    values: tuple[tuple[float, Interval], ...] = ()
    quantiles: tuple[tuple[float, Interval], ...] = ()
    mean: Interval | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Known:
    """What a page may say of the measurements that a new table was drawn from.

    Attributes
    ----------
    measurements : Measurements
    margins : Margins
    """

    measurements: Measurements
    margins: Margins


def known_of(release: Release) -> Known | None:
    """Return what a new table was drawn from; None where nothing, or where a seed drew its noise.

    Whoever knows the seed takes that noise off again.
    """
    measurements = release.measurements
    if measurements is None or release.guarantee.randomness == "seeded":
        return None
    return Known(measurements=measurements, margins=release.margins())


def is_declared(attribute: Attribute) -> bool:
    """Whether domain and grid were declared: measurements on others show what was read."""
    return not (
        attribute.bounds_from_data
        or attribute.categories_from_data
        or attribute.resolution_from_data
    )


def margins_by_name(
    known: Known | None, *, declared_only: bool = False
) -> dict[str, ColumnMargins]:
    """Return the margins of each attribute, by name; none where nothing is known.

    Parameters
    ----------
    known : Known or None
    declared_only : bool
        For a page to be published: of attributes alone whose domain and grid were declared.
    """
    if known is None:
        return {}
    margins = known.margins
    return {
        measured.attribute.name: _of(
            measured, margins.attributes[measured.attribute.name], margins.confidence
        )
        for measured in known.measurements.attributes
        if is_declared(measured.attribute) or not declared_only
    }


def _of(measured: AttributeMeasured, own: AttributeMargins, confidence: float) -> ColumnMargins:
    if measured.distribution is not None:
        shares = [float(one.label) for one in own.quantiles]
        # Last of the values that were counted, those of atoms among them.
        of_both = ("(present)", MISSING) if measured.atoms is None else (MISSING,)
        last = of_both if measured.has_missing else ()
        return ColumnMargins(
            confidence=confidence,
            categories=dict(zip(last, own.shares[len(own.shares) - len(last) :], strict=True)),
            quantiles=tuple(zip(shares, own.quantiles, strict=True)),
            mean=own.mean,
        )
    attribute = measured.attribute
    n_values = len(own.shares) - measured.has_missing
    present, missing = own.shares[:n_values], own.shares[n_values:]
    absent = dict(zip((MISSING,), missing, strict=False))
    lower, _ = attribute.grid_bounds or (0, 0)
    if attribute.categories is None and attribute.kind is not Kind.BOOLEAN:
        step = float(attribute.resolution)
        return ColumnMargins(
            confidence=confidence,
            categories=absent,
            values=tuple(((lower + place) * step, one) for place, one in enumerate(present)),
            mean=own.mean,
        )
    names = (
        ["no", "yes"][lower:]
        if attribute.categories is None
        else [str(value) or MISSING for value in attribute.categories.values]
    )
    return ColumnMargins(
        confidence=confidence,
        categories=dict(zip(names, present, strict=False)) | absent,
    )
