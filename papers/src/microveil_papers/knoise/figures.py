"""Figures 2, 3 and 5 of KNOISE, and ours on the spread of runs and the price of epsilon."""

import numpy as np
import polars

from microveil.measures.neighbourhoods import expected_neighbours, original_neighbours
from microveil_papers.given import SEE
from microveil_papers.knoise.error_claims import (
    FIGURES,
    PUBLISHED,
    bins_of,
    critical_distance,
)
from microveil_papers.knoise.experiments import (
    EPSILONS,
    GUARANTEED,
    K_NOISE,
    K_PRAM,
    Measured,
)
from microveil_papers.knoise.measures import (
    Runs,
    counts_in_bins,
    distances_of_laws,
    errors_by_place,
    expected_within,
    within,
)
from microveil_papers.knoise.spread import spread_of
from microveil_papers.paper import Chart, Figure, Mark, Series

__all__ = ["figures_of"]

AGE = "age (years)"
N_BINS = 30


def figures_of(found: Measured) -> tuple[Figure, ...]:
    """Lay out all figures."""
    return (
        _histograms(found),
        _scatter(found),
        _pull(found),
        _runs(found),
        _neighbours(found),
        _distances(found),
        _prices(found),
    )


def _floats(values: Runs) -> tuple[float, ...]:
    return tuple(map(float, values))


def _histograms(found: Measured) -> Figure:
    """Figure 2: original and noisy ages by the same bins."""
    edges = bins_of(found)
    before = counts_in_bins(edges, found.ages.values[None, :])[0]
    outlines = {
        name: counts_in_bins(edges, found.released[name][:1])[0] for name in (K_NOISE, K_PRAM)
    }
    rows = [
        {"name": name, "from": low, "to": high, "records": count}
        for name, counts in {"original": before, **outlines}.items()
        for low, high, count in zip(_floats(edges), _floats(edges[1:]), counts, strict=False)
    ]
    original = Series(name="original", x=_floats(edges), y=_floats(before), mark="steps")
    charts = tuple(
        Chart(
            title=f"original and {name}",
            series=(
                original,
                Series(name=name, x=_floats(edges), y=_floats(counts), mark="steps"),
            ),
            x_title=AGE,
            y_title="records",
            from_zero=True,
            description=f"Histograms of ages before and after {name}; the largest bin has "
            f"{before.max():.0f} records before and {counts.max():.0f} after.",
        )
        for name, counts in outlines.items()
    )
    return Figure(
        identifier="figure-2",
        title="Figure 2: ages before and after, by the same bins",
        caption="One run of each. The paper has k-noise alone. Bins are as wide as the intervals "
        "and begin halfway between two ages, so that noise moves whole years to either side alike.",
        charts=(charts,),
        table=polars.DataFrame(rows),
    )


def _scatter(found: Measured) -> Figure:
    """Figure 3: released against original ages."""
    values = found.ages.values
    charts = tuple(
        Chart(
            title=name,
            series=(
                Series(
                    name=name,
                    x=_floats(values),
                    y=_floats(found.released[name][0]),
                    mark="points",
                ),
            ),
            x_title=f"original {AGE}",
            y_title=f"released {AGE}",
            description="Squares along the diagonal, one for each interval."
            if name == K_PRAM
            else "A band of one width along the diagonal, without steps.",
        )
        for name in (K_PRAM, K_NOISE)
    )
    return Figure(
        identifier="figure-3",
        title="Figure 3: released against original ages",
        caption="One run of each; the paper lays both over each other. What k-pram releases "
        "depends on the interval alone; whole years stay whole, so that dots hide others.",
        charts=(charts,),
        table=polars.DataFrame(
            {"original": values, **{name: found.released[name][0] for name in (K_PRAM, K_NOISE)}}
        ),
    )


def _pull(found: Measured) -> Figure:
    """Draw the mean error by the place in the interval."""
    ages = found.ages
    closing = np.count_nonzero(ages.values >= ages.intervals.edges[-1])
    series, rows = [], []
    for name in (K_PRAM, K_NOISE):
        places, errors = errors_by_place(found.ages, found.released[name])
        spreads = [spread_of(column) for column in errors.T]
        series.append(
            Series(
                name=name,
                x=_floats(places),
                y=tuple(spread.mean for spread in spreads),
                low=tuple(spread.low for spread in spreads),
                high=tuple(spread.high for spread in spreads),
            )
        )
        rows += [
            {"method": name, "place": place, "mean": s.mean, "low": s.low, "high": s.high}
            for place, s in zip(_floats(places), spreads, strict=True)
        ]
    return Figure(
        identifier="figure-3-pull",
        title="Mean error by the place in the interval",
        caption="Means over runs with 95 % intervals. k-pram pulls every age to the mean of its "
        f"interval; over all records the pulls cancel. {closing} of {len(ages.values)} records "
        "close the last interval, at a place of their own.",
        charts=(
            (
                Chart(
                    title="mean error against place",
                    series=tuple(series),
                    x_title="years above the interval's lower end",
                    y_title="mean error (years)",
                ),
            ),
        ),
        table=polars.DataFrame(rows),
        ours=True,
    )


def _outline(name: str, runs: Runs, edges: Runs) -> Series:
    """Draw how often runs come out where, in percent."""
    shares = 100 * np.histogram(runs, edges)[0] / len(runs)
    return Series(name=name, x=_floats(edges), y=_floats(shares), mark="steps")


def _edges(*runs: Runs) -> Runs:
    """Return edges of bins over all that is to be shown."""
    least, greatest = min(map(np.min, runs)), max(map(np.max, runs))
    if least == greatest:
        least, greatest = least - 0.5, greatest + 0.5
    return np.linspace(least, greatest, N_BINS + 1)


def _runs(found: Measured) -> Figure:
    """Draw single runs and the paper's one beside each other."""
    table = polars.concat(
        polars.DataFrame(
            {
                "method": name,
                "run": range(len(found.released[name])),
                **{label: figure(found, name) for label, figure in FIGURES.items()},
            }
        )
        for name in PUBLISHED
    )
    return Figure(
        identifier="table-1-runs",
        title="Table 1 and the spread of single runs",
        caption="Outlines: how our runs are distributed. Marks near the axis: the paper's run, at "
        "a height that means nothing.",
        charts=(tuple(_chart_of_runs(found, label) for label in FIGURES),),
        table=table,
        ours=True,
    )


def _chart_of_runs(found: Measured, label: str) -> Chart:
    """Draw one figure of Table 1."""
    runs = {name: FIGURES[label](found, name) for name in PUBLISHED}
    printed = {name: numbers[label] for name, numbers in PUBLISHED.items()}
    edges = _edges(*runs.values(), np.array(list(printed.values())))
    outlines = [_outline(name, values, edges) for name, values in runs.items()]
    height = max(max(outline.y) for outline in outlines) / 20
    words = ". ".join(
        f"{name}: middle 95 % of the runs {spread_of(values).of_runs}, paper {printed[name]:.3g}"
        for name, values in runs.items()
    )
    return Chart(
        title=f"{label} of single runs",
        series=(
            *outlines,
            *(
                Series(name=f"{name}, paper", x=(number,), y=(height,), mark="points")
                for name, number in printed.items()
            ),
        ),
        x_title=f"{label} ({'years squared' if label == 'MSE' else 'years'})",
        y_title="runs (%)",
        from_zero=True,
        description=words,
    )


def _neighbours(found: Measured) -> Figure:
    """Figure 5: the expected number of records near each noised record."""
    ages = found.ages
    by_age = _near_by_age(found)
    k = ages.average_size
    common = (
        Series(
            name="k, the own interval's size",
            x=_floats(ages.intervals.edges),
            y=_floats(ages.intervals.sizes.astype(np.float64)),
            mark="steps",
        ),
        Series(name=f"k = {k}, average", y=(float(k),), mark="level"),
        Series(name="k/2, average", y=(k / 2,), mark="level"),
    )
    closed, simulated = "in closed form", "simulated"
    charts = tuple(
        Chart(
            title=title,
            series=(
                *common,
                _by_age(by_age, f"{closed}{radius}", closed),
                *bound,
                _by_age(by_age, f"{simulated}{radius}", simulated, "points"),
            ),
            x_title=f"original {AGE}",
            y_title="expected records",
            from_zero=True,
        )
        for title, radius, bound in (
            (f"originals within {ages.delta:g} years of a noised record", "", ()),
            (
                f"noised records within {2 * ages.delta:g} years (Theorem 1)",
                ", 2 delta",
                (_by_age(by_age, HALF, "Theorem 1's bound"),),
            ),
        )
    )
    return Figure(
        identifier="figure-5",
        title="Figure 5: expected number of records near each noised record",
        caption="Means over runs and the same in closed form, by original age; k is the size of "
        f"the record's interval, or of an interval on average. {_below_words(found)}",
        charts=(charts,),
        table=by_age,
    )


def _below_words(found: Measured) -> str:
    """Count the records below the average k/2, and those of them that lack the premise."""
    values, delta, k = found.ages.values, found.ages.delta, found.ages.average_size
    below = expected_within(values, delta) < k / 2
    sparse = below & (original_neighbours(values, delta) < k)
    return (
        f"In closed form {np.count_nonzero(below)} of {below.size} records fall below k/2 of the "
        f"average within delta; {np.count_nonzero(sparse)} of these do not have k originals within "
        "2 delta, which Theorem 1 asks for."
    )


HALF = "half the originals within 2 delta"


def _near_by_age(found: Measured) -> polars.DataFrame:
    """Tabulate expected numbers of neighbours: equal ages have the same."""
    values, delta, noised = found.ages.values, found.ages.delta, found.released[K_NOISE]
    columns = {
        "k, the own interval's size": found.ages.own_sizes.astype(np.float64),
        "simulated": within(noised, values, delta).mean(axis=0),
        "in closed form": expected_within(values, delta),
        "simulated, 2 delta": within(values, noised, 2 * delta).mean(axis=0),
        "in closed form, 2 delta": expected_neighbours(values, delta),
        HALF: original_neighbours(values, delta) / 2,
    }
    every = polars.DataFrame({"age": values, **columns})
    return every.group_by("age").agg(polars.all().mean()).sort("age")


def _by_age(table: polars.DataFrame, column: str, name: str, mark: Mark = "line") -> Series:
    return Series(
        name=name,
        x=_floats(table["age"].to_numpy()),
        y=_floats(table[column].to_numpy()),
        mark=mark,
    )


def _distances(found: Measured) -> Figure:
    """Draw how far the distribution is off in single runs."""
    values = found.ages.values
    runs = {name: distances_of_laws(values, found.released[name]) for name in (K_PRAM, K_NOISE)}
    runs["drawn anew"] = found.fresh
    edges = _edges(*runs.values())
    means = "; ".join(f"{name} {spread_of(distances)}" for name, distances in runs.items())
    return Figure(
        identifier="distribution",
        title="How well the distribution of ages is kept",
        caption=f"Kolmogorov-Smirnov distances of single runs to the originals. Means: {means}. "
        f"Independent samples exceed {critical_distance(len(values)):.3g} in 5 % of the cases. "
        "Drawn anew: as many ages, from the originals with replacement.",
        charts=(
            (
                Chart(
                    title="distances of single runs",
                    series=tuple(
                        _outline(name, distances, edges) for name, distances in runs.items()
                    ),
                    x_title="Kolmogorov-Smirnov distance (0 to 1)",
                    y_title="runs (%)",
                    from_zero=True,
                    description=f"Histograms of distances. Means: {means}.",
                ),
            ),
        ),
        table=polars.concat(
            polars.DataFrame({"name": name, "run": range(len(d)), "distance": d})
            for name, d in runs.items()
        ),
        ours=True,
    )


def _prices(found: Measured) -> Figure:
    """Draw what the methods that keep an epsilon would cost."""
    series, rows = [], []
    held = {one.name: " ".join(c.id for c in one.conditions) for one in found.given}
    for variant in GUARANTEED:
        spreads = [spread_of(errors) for errors in found.costs[variant.name]]
        series.append(
            Series(
                name=variant.name,
                x=EPSILONS,
                y=tuple(spread.mean for spread in spreads),
                low=tuple(spread.low for spread in spreads),
                high=tuple(spread.high for spread in spreads),
            )
        )
        rows += [
            {"method": variant.name, "epsilon": epsilon, "rmse": s.mean, "low": s.low,
             "high": s.high, "conditions": held.get(variant.name)}
            for epsilon, s in zip(EPSILONS, spreads, strict=True)
        ]  # fmt: skip
    for name in (K_PRAM, K_NOISE):
        level = spread_of(found.rmse(name))
        series.append(Series(name=f"{name}, no epsilon", y=(level.mean,), mark="level"))
        rows.append({"method": name, "epsilon": None, "rmse": level.mean, "low": level.low,
                     "high": level.high, "conditions": None})  # fmt: skip
    return Figure(
        identifier="epsilon-error",
        title="What the same error costs in epsilon at vector scope",
        caption="RMSE on the same ages, means over runs with 95 % intervals. k-pram and k-noise "
        "are drawn as levels across all epsilons to compare errors alone: they keep none of them. "
        "Where a line crosses a level, a guarantee at vector scope costs no more error than having "
        f"none. Bounds are 24 and 79, by which the records were chosen. {SEE}",
        charts=(
            (
                Chart(
                    title="RMSE against epsilon",
                    series=tuple(series),
                    x_title="epsilon (log scale)",
                    y_title="RMSE (years, log scale)",
                    logarithmic=True,
                    logarithmic_across=True,
                ),
            ),
        ),
        table=polars.DataFrame(rows),
        ours=True,
    )
