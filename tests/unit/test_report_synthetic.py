"""The pages of a new table: what was measured and its margins, and nothing that needs pairs."""

import itertools
from dataclasses import replace

import numpy as np
import polars
import pytest

import microveil as mv
from html_page import read, table_of
from microveil.errors import DataError
from microveil.protect.release import Manifest, Release
from microveil.report import (
    custodian_report,
    publishable_report,
)
from microveil.report.charts import cells_chart
from microveil.report.measured import FROM, bins_of, known_of, measured_tables
from microveil.report.wording import number, percent
from microveil.synthesis.fitting import measured_pairs
from microveil.synthesis.tables import axes_of
from microveil.table import open_table
from microveil.text.figures import figure

N, DRAWN = 3000, 1700
REGIONS = ["East", "North", "South", "West"]
SIZES = ["small", "medium", "large"]
BOUNDS = {"AGE": (0, 120), "INCOME": (0, 400_000), "HOUSEHOLD": (1, 10), "EMPLOYED": (0, 1)}
NAMES = ["AGE", "INCOME", "HOUSEHOLD", "EMPLOYED", "REGION", "SIZE"]


def people_with_sizes(n=N, seed=1):
    """Invented people, one income in ten missing, and a size that follows the income."""
    people = mv.invented_people(n, seed=seed)
    income = people["INCOME"].to_numpy()
    gone = np.random.default_rng(seed).random(n) < 0.1
    return people.select(
        "AGE",
        polars.Series("INCOME", np.where(gone, np.nan, income)).fill_nan(None),
        "HOUSEHOLD",
        "EMPLOYED",
        "REGION",
        polars.Series("SIZE", np.array(SIZES)[np.searchsorted([15_000, 40_000], income)]),
    )


def drawn_from(people, **asked):
    """A new table of these people, by default of fewer records."""
    default = {
        "epsilon": 20,
        "attributes": NAMES,
        "bounds": BOUNDS | {"REGION": REGIONS, "SIZE": mv.ordered(*SIZES)},
        "resolution": {"INCOME": 0.01},
        "missing": "protect",
        "n_records": DRAWN,
    }
    return mv.protect(people, method="dp-synthetic", **default | asked)


@pytest.fixture(scope="module")
def people():
    return people_with_sizes()


@pytest.fixture(scope="module")
def release(people):
    return drawn_from(people)


@pytest.fixture(scope="module")
def assessment(people, release):
    return mv.assess(people, release)


@pytest.fixture(scope="module")
def custodian(people, release, assessment):
    return read(custodian_report(release, people, assessment))


@pytest.fixture(scope="module")
def public(release):
    return read(publishable_report(release))


@pytest.fixture(scope="module")
def tables(people, release):
    """All measured tables with the shares of both sides."""
    return measured_tables(known_of(release), open_table(release.data), open_table(people), 99)


def test_the_custodians_page_holds_what_needs_no_pairs_and_nothing_else(custodian, assessment):
    """Measured pairs, correlations, closest records; no linkage and no audit."""
    assert "Pairs that were measured" in [node.text for node in custodian.all("h3")]
    text = custodian.text
    for words in ("record linkage, standardised", "Audit"):
        assert words not in text
    assert f"{N:,} records of the original, {DRAWN:,} rows released" in text
    figures = assessment.to_dict()["closest_records"]
    rows = (row for rows in all_tables(custodian) for row in rows)
    row = next(row for row in rows if row[0].startswith("median distance"))
    sides = (figure(figures[side]["median"]) for side in ("released", "left_out"))
    assert (row[1], row[3]) == (*sides,)


def test_unpaired_figures_stand_for_those_that_need_pairs(assessment):
    """Two-way total variation for the loss, the closest record for the records found again."""
    promised, varied, moved, near, _ = assessment.key_figures
    figures = assessment.to_dict()
    assert "epsilon 20 at cluster, vector and row scope" in promised.value
    assert varied.name == "two-way total variation"
    assert varied.value == figure(figures["total_variation"]["two_way"])
    worst = figures["worst_attribute"]["attribute"]
    assert f"; '{worst}': distribution moved by" in moved.value
    assert near.name == "closest record"
    assert near.value.startswith(figure(figures["closest_records"]["released"]["median"]))


def test_a_delta_stands_beside_its_epsilon(people):
    """A promise of epsilon and delta is never shown as one of epsilon alone."""
    asked = {"attributes": ["REGION"], "bounds": {"REGION": REGIONS}, "missing": "error"}
    release = drawn_from(people, epsilon=1, delta=1e-9, resolution=None, **asked)
    promised, *_ = mv.assess(people, release).key_figures
    assert "epsilon 1 at cluster, vector and row scope; delta 1e-09" in promised.value


def test_the_original_has_as_many_records_as_were_counted(people, release):
    """The release may have other many, the original may not."""
    with pytest.raises(DataError, match="as many records"):
        custodian_report(release, people.head(DRAWN))


def test_the_public_page_depends_on_release_guarantee_and_measurements_alone(release):
    """With another original's manifest and notes, or none, the page is the same in every letter."""
    other = drawn_from(people_with_sizes(seed=2))
    pages = {
        publishable_report(
            Release(
                data=release.data,
                guarantee=release.guarantee,
                notes=notes,
                manifest=manifest,
                measurements=release.measurements,
            )
        )
        for notes, manifest in [
            (release.notes, release.manifest),
            (("of another original",), other.manifest),
            ((), Manifest(contents=None)),
        ]
    }
    assert len(pages) == 1
    assert publishable_report(other) not in pages
    assert "original, release" not in read(pages.pop()).text


def behind(root, name):
    """The tables behind the charts of a column of the public page."""
    (own,) = (one for one in root.all("section") if next(one.all("h3")).text == name)
    return [
        [[cell.text for cell in row.all("th", "td")] for row in table.all("tr")]
        for table in own.all("table")
    ]


def test_the_public_page_shows_measurements_and_margins(release, public):
    """Means with intervals, shares, quantiles and measured pairs; no side is the original's."""
    margins = release.margins()
    rows = {row[0]: row[1:] for row in table_of(public, "mean of")[1:]}
    assert set(rows) == {"AGE", "INCOME", "HOUSEHOLD"}
    for name, row in rows.items():
        mean = margins.attributes[name].mean
        ends = [number(end, 5) for end in (mean.estimate, mean.lower, mean.upper)]
        assert row == ["{} ({} to {})".format(*ends), number(release.data[name].mean(), 5)]
    quantiles = behind(public, "AGE")[1][1:]
    every = margins.attributes["AGE"].quantiles
    listed = [one for one in every if (32 * float(one.label)).is_integer()]
    for row, one in zip(quantiles, listed, strict=True):
        ends = (f"{end:,.0f}" for end in (one.estimate, one.lower, one.upper))
        assert row == [percent(float(one.label)), *ends]
    regions = {row[0]: row[1:] for row in behind(public, "REGION")[0][1:]}
    for one in margins.attributes["REGION"].shares[:4]:
        ends = [percent(end) for end in (one.estimate, one.lower, one.upper)]
        is_there = (release.data["REGION"] == one.label).fill_null(False)  # noqa: FBT003
        assert regions[one.label] == [percent(float(is_there.mean())), *ends]
    assert len(table_of(public, "pair")) == 1 + len(measured_pairs(release.measurements))
    heads = [cell for table in public.all("table") for cell in table.all("th")]
    assert not [cell.text for cell in heads if "original" in cell.text]


def test_a_counted_number_has_the_margin_of_each_value(release, public):
    """Its shares as they were measured, value by value; that nobody lacks one noise may hide."""
    shares = release.margins().attributes["HOUSEHOLD"].shares
    rows = behind(public, "HOUSEHOLD")[1][1:]
    names = [*map(str, range(1, 11)), "(missing)"][: max(10, len(rows))]
    for row, name, one in zip(rows, names, shares, strict=True):
        assert row == [name, *(percent(end) for end in (one.estimate, one.lower, one.upper))]


MEASURED = ("margin from", "measured pair", "margin of noise")


def test_what_was_read_from_the_data_has_no_margins_on_the_public_page(people):
    """Cuts and counts lie in a domain: where it was read from the data they are not shown."""
    ages = people.select("AGE", "HOUSEHOLD")
    asked = {"attributes": ["AGE", "HOUSEHOLD"], "missing": "error", "resolution": None}
    known = mv.bounds_from_data(ages)
    read_off = drawn_from(ages, bounds=known, **asked)
    text = read(publishable_report(read_off)).text
    assert not [words for words in MEASURED if words in text]
    kept = read(custodian_report(read_off, ages)).text
    assert not [words for words in MEASURED if words not in kept]
    declared = drawn_from(ages, bounds={name: BOUNDS[name] for name in ages.columns}, **asked)
    public = read(publishable_report(declared)).text
    assert not [words for words in MEASURED if words not in public]


def test_what_a_seed_drew_is_on_no_page(people):
    """Whoever knows the seed takes its noise off: no page shows the measurements."""
    seeded = drawn_from(people, seed=1)
    for page in (publishable_report(seeded), custodian_report(seeded, people)):
        assert not [words for words in MEASURED if words in read(page).text]


def test_strengths_are_distances_from_independence(release):
    """Half the sum over cells of what a table has beyond the product of its sums."""
    pairs = measured_pairs(release.measurements)
    assert [pair.strength for pair in pairs] == sorted((p.strength for p in pairs), reverse=True)
    for pair in pairs:
        rows, columns = (pair.shares.sum(axis=axis) for axis in (1, 0))
        cells = itertools.product(range(len(rows)), range(len(columns)))
        apart = sum(abs(pair.shares[i, j] - rows[i] * columns[j]) for i, j in cells)
        assert pair.strength == pytest.approx(apart / 2, abs=1e-9)
        assert pair.shares.sum() == pytest.approx(1)
        assert pair.shares.min() >= 0
    names = [measured.attribute.name for measured in release.measurements.attributes]
    strongest = {names[one] for one in pairs[0].positions}
    assert strongest == {"INCOME", "SIZE"}


def test_independent_attributes_have_no_strength():
    """What noise alone makes of a table is taken off before its strength is measured."""
    random = np.random.default_rng(3)
    table = {name: random.choice(REGIONS, 5000) for name in "ABCD"}
    drawn = [
        drawn_from(
            table,
            epsilon=1,
            attributes=list("ABCD"),
            bounds=dict.fromkeys("ABCD", REGIONS),
            resolution=None,
            missing="error",
        )
        for _ in range(5)
    ]
    strengths = [pair.strength for one in drawn for pair in measured_pairs(one.measurements)]
    noise = [
        float(np.abs(pair.noisy - np.outer(pair.noisy.sum(1), pair.noisy.sum(0))).sum() / 2)
        for one in drawn
        for pair in measured_pairs(one.measurements)
    ]
    assert np.mean(strengths) < 0.5 * np.mean(noise)


def test_tables_of_three_attributes_hold_three_pairs(people):
    """With a target each table is summed over the third attribute, and counted once a pair."""
    found = drawn_from(people, epsilon=40, target="SIZE")
    pairs = measured_pairs(found.measurements)
    scopes = [set(scope) for scope in found.measurements.tables]
    assert {len(scope) for scope in scopes} == {3}
    expected = {frozenset(two) for scope in scopes for two in itertools.combinations(scope, 2)}
    assert {frozenset(pair.positions) for pair in pairs} == expected
    assert len(pairs) == len(expected)
    for pair in pairs:
        table = found.measurements.tables[pair.scope]
        (third,) = set(range(3)) - {pair.scope.index(one) for one in pair.positions}
        assert pair.n_summed == table.steps.shape[third]
        assert pair.noisy.sum() == pytest.approx(table.counts.sum() / N)
    assert "Pairs that were measured" in custodian_report(found, people)


def values_of(labels, name):
    """The values that each bin of an attribute names, ages up to 120."""
    starts = [int(label.removeprefix(FROM)) for label in labels if label.startswith(FROM)]
    orders = {"SIZE": SIZES, "REGION": REGIONS, "EMPLOYED": ["no", "yes"]}
    order = orders.get(name, list(range(121)))
    found = []
    for label in labels:
        if label.startswith("< "):
            found.append(set(range(starts[0])))
        elif label.startswith(FROM):
            start = int(label.removeprefix(FROM))
            stop = min((one for one in starts if one > start), default=121)
            found.append(set(range(start, stop)))
        elif " to " in label:
            low, high = label.split(" to ")
            ends = [order.index(type(order[0])(end)) for end in (low, high)]
            found.append(set(order[ends[0] : ends[1] + 1]))
        else:
            own = label.split(", ")
            found.append({one if one == "(missing)" else type(order[0])(one) for one in own})
    return found


def as_named(value):
    if value is None:
        return "(missing)"
    return ("no", "yes")[value] if isinstance(value, bool) else value


def test_each_record_is_in_the_bin_that_names_its_value(people, release):
    """Numbers between cuts, counted values and categories, joined or not, and missing ones."""
    measurements = release.measurements
    axes = axes_of(measurements)
    for measured, axis in zip(measurements.attributes, axes, strict=True):
        bins, name = bins_of(measured, axis), measured.attribute.name
        if name == "INCOME":
            continue  # its names are rounded
        for table in (people, release.data):
            named = values_of(bins.labels, name)
            codes = bins.codes(open_table(table)).tolist()
            for code, value in zip(codes, table[name].to_list(), strict=True):
                places = [place for place, own in enumerate(named) if as_named(value) in own]
                assert places == [code]


def test_the_shares_of_each_side_are_those_of_its_records(people, release, tables):
    """Every record of a side is in one cell, in the picture as in the table behind it."""
    for table in tables.pairs:
        for side, frame in (("original", people), ("release", release.data)):
            shares = table.shares[side]
            assert shares.sum() == pytest.approx(1)
            first, second = (bins.codes(open_table(frame)) for bins in table.bins)
            for cell in itertools.product(*map(range, shares.shape)):
                found = np.mean((first == cell[0]) & (second == cell[1]))
                assert shares[cell] == pytest.approx(found)
            levels = [bins.labels for bins in table.bins]
            rows = cells_chart(table.names, levels, table.shares).spec["data"]["values"]
            drawn = sorted(row["share"] / 100 for row in rows if row["side"] == side)
            assert drawn == pytest.approx(sorted(shares[shares >= 0.0005]))


def test_each_measured_pair_is_an_edge_with_its_margin(custodian, tables, release, assessment):
    """The strongest first; and for the custodian how far each pair moved, the worst first."""
    of_pairs = [table for table in all_tables(custodian) if table[0][0] == "pair"]
    (edges,) = (rows[1:] for rows in of_pairs if "strength" in rows[0])
    (pairs,) = (rows[1:] for rows in of_pairs if "change" in rows[0])
    margins = release.margins().pairs
    for row, edge in zip(edges, tables.pairs, strict=True):
        assert row[0] == f"{edge.names[0]} and {edge.names[1]}"
        assert row[1] == f"{edge.strength:.3f}"
        assert row[3] == f"± {percent(margins[edge.names])}"
    variation = assessment.result("two_way_total_variation")
    moved = [
        (variation.of_pairs[one, other], {variation.names[one], variation.names[other]})
        for one, other in itertools.combinations(range(len(variation.names)), 2)
    ]
    moved.sort(key=lambda pair: -pair[0])
    for row, (distance, names) in zip(pairs, moved, strict=True):
        assert set(row[0].split(" and ")) == names
        assert row[1] == number(distance, 3)


def all_tables(root):
    return [
        [[cell.text for cell in row.all("th", "td")] for row in table.all("tr")]
        for table in root.all("table")
    ]


def test_margins_are_drawn_where_they_are_known(custodian):
    """Distribution functions, counted values and categories have theirs, and say so."""
    drawn = {}
    for drawing in custodian.all("figure"):
        said = next(drawing.all("div")).attributes["aria-label"]
        drawn[said.split(" with ")[0].split(":")[0].split(".")[0]] = drawing.text
    for name in ("AGE", "INCOME"):
        assert '"upper"' in drawn[f"Distribution function of {name},"]
        assert '"upper"' not in drawn[f"Distribution of {name}"]
    for name in ("EMPLOYED", "REGION", "SIZE"):
        assert '"upper"' in drawn[f"Shares of categories of {name}"]


@pytest.mark.parametrize("n_attributes", [15, pytest.param(60, marks=pytest.mark.slow)])
def test_a_page_of_many_attributes_stays_small(n_attributes):
    """Sixty attributes with long names and fine quantiles make no page that is too large."""
    values = np.random.default_rng(8).normal(0, 1, 2000).round(3)
    found = drawn_from(
        {"A": values},
        epsilon=60,
        attributes=["A"],
        bounds={"A": (-9, 9)},
        resolution={"A": 0.001},
        missing="error",
    )
    names = [f"attribute {place:03} {'x' * 50}" for place in range(n_attributes)]
    (measured,), (terms,) = found.measurements.attributes, found.guarantee.attributes
    assert measured.cuts.depth == 7
    alike = tuple(
        replace(measured, attribute=replace(measured.attribute, name=name)) for name in names
    )
    many = replace(
        found,
        data=dict.fromkeys(names, found.data["A"]),
        guarantee=replace(
            found.guarantee, attributes=tuple(replace(terms, name=name) for name in names)
        ),
        measurements=replace(found.measurements, attributes=alike),
    )
    page = publishable_report(many)
    assert names[-1] in page
    assert len(page.encode()) < 40_000 * n_attributes


def test_a_new_table_of_categories_alone_is_reported(people):
    """Without a number there are shares, pairs and total variation all the same."""
    asked = {"attributes": ["REGION", "SIZE"], "missing": "error", "resolution": None}
    bounds = {"REGION": REGIONS, "SIZE": mv.ordered(*SIZES)}
    found = drawn_from(people, bounds=bounds, **asked)
    page = read(custodian_report(found, people))
    assert "two-way total variation" in page.text
    assert [len(rows) for rows in all_tables(page) if rows[0][0] == "pair"] == [2, 2]
    alone = replace(found, measurements=None)
    assert "strength" in publishable_report(found)
    assert "strength" not in publishable_report(alone)
