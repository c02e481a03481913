"""The pages as a browser and a screen reader get them."""

import base64
import datetime
import hashlib
import itertools
import json
import re
from dataclasses import replace

import altair
import numpy as np
import polars
import pytest

import microveil as mv
from html_page import read, table_of
from microveil.errors import DataError
from microveil.measures.linkage import RECORD_LINKAGE
from microveil.protect.release import Manifest
from microveil.report import custodian_report, publishable_report
from microveil.report.drawing import DARK, LIGHT, PAPER
from microveil.report.wording import number, rounded_up
from microveil.text.document import Items, Tabulated, plain
from microveil.text.figures import figure

IS_DRAWN = True  # pictures are looked at here
HOSTILE = '<script>alert("1")</script>'
LONG = "wide_" * 40
NAMES = (HOSTILE, "a|b **x** `c`\n# d", LONG, "SINCE", "YES", "CONSTANT", "MISSING")


def hostile_table(n=120):
    random = np.random.default_rng(5)
    days = random.integers(0, 9000, n).tolist()
    return polars.DataFrame(
        {
            HOSTILE: random.integers(0, 100, n),
            NAMES[1]: random.normal(0, 1, n).round(3),
            LONG: random.lognormal(8, 2, n).round(2),
            "SINCE": [datetime.date(1990, 1, 1) + datetime.timedelta(days=d) for d in days],
            "YES": random.random(n) < 0.3,
            "CONSTANT": [5] * n,
            "MISSING": [None if i % 7 == 0 else i % 60 for i in range(n)],
            "TEXT": random.choice(["x<b>", "z & w"], n),
        }
    )


BOUNDS = {
    HOSTILE: (0, 100),
    NAMES[1]: (-10, 10),
    LONG: (0, 10_000_000),
    "SINCE": ("1980-01-01", "2020-01-01"),
    "YES": (0, 1),
    "CONSTANT": (0, 10),
    "MISSING": (0, 60),
}
ASKED = {
    "bounds": BOUNDS,
    "resolution": {NAMES[1]: 0.001, LONG: 0.01},
    "attributes": NAMES,
    "keep": ["TEXT"],
    "missing": "keep",
}


@pytest.fixture(scope="module")
def people():
    return mv.invented_people(300)


@pytest.fixture(scope="module")
def demonstrated(people):
    releases = {}
    for method in ("laplace", "idp-vector", "idp-cbls"):
        release = mv.protect(
            people,
            method=method,
            k=10,
            epsilon=1,
            exact_cells="allow",
            attributes=["AGE", "INCOME"],
            keep=["REGION"],
            bounds={"AGE": (16, 110), "INCOME": (0, 400_000)},
            resolution={"INCOME": 0.01},
        )
        releases[method] = (release, mv.assess(people, release.data, ["AGE", "INCOME"]))
    return releases


@pytest.fixture(scope="module")
def hostile():
    table = hostile_table()
    release = mv.protect(table, method="idp-cbls", k=5, epsilon=1, exact_cells="allow", **ASKED)
    return table, release


@pytest.fixture(scope="module")
def drawn():
    """A table with hostile names, and a new one of other many records drawn after it."""
    table = hostile_table(2000)
    asked = {**ASKED, "attributes": [*NAMES, "TEXT"], "missing": "protect"}
    del asked["keep"]
    release = mv.protect(
        table,
        method="dp-synthetic",
        epsilon=30,
        n_records=700,
        **asked | {"bounds": BOUNDS | {"TEXT": ["x<b>", "z & w"]}},
    )
    return table, release


@pytest.fixture(scope="module")
def pages(people, demonstrated, hostile, drawn):
    table, release = hostile
    shuffled = mv.protect(table, method="dp-um", k=5, epsilon=9, shuffle=True, **ASKED)
    words = mv.protect(
        table, method="pram", epsilon=2, attributes=["TEXT"], bounds={"TEXT": ["x<b>", "z & w"]}
    )
    ranked = mv.protect(people, method="ranking", k=5, attributes=["AGE", "VISITS"])
    return {
        "custodian": custodian_report(demonstrated["idp-cbls"][0], people),
        "hostile": custodian_report(release, table, units={LONG: "<EUR>"}),
        "shuffled": custodian_report(shuffled, table),
        "words": custodian_report(words, table),
        "no epsilon": custodian_report(ranked, people),
        "synthetic": custodian_report(drawn[1], drawn[0]),
        "synthetic, published": publishable_report(drawn[1]),
        "seeded": publishable_report(
            mv.protect(table, method="laplace", epsilon=1, seed=1, **ASKED)
        ),
        "publishable": publishable_report(release),
    }


KINDS = (
    "custodian",
    "hostile",
    "shuffled",
    "words",
    "no epsilon",
    "synthetic",
    "synthetic, published",
    "seeded",
    "publishable",
)


@pytest.fixture(scope="module", params=KINDS)
def html(request, pages):
    return pages[request.param]


@pytest.fixture(scope="module")
def root(html):
    return read(html)


def test_a_page_says_its_language_and_title_and_fits_its_window(root):
    """Language, title, character set and width are given; a heading repeats the title."""
    (document,) = root.all("html")
    (title,) = root.all("title")
    (heading,) = root.all("h1")
    metas = [meta.attributes for meta in root.all("meta")]
    assert document.attributes["lang"] == "en"
    assert title.text == heading.text
    assert {"charset": "utf-8"} in metas
    assert any(meta.get("name") == "viewport" for meta in metas)


def test_a_page_loads_nothing_and_runs_what_it_came_with(root, html):
    """No handler, no address from outside; a policy names the digest of each program."""
    assert not [*root.all("iframe", "img", "link", "object", "form", "base", "image")]
    for node in root.all():
        assert not [name for name in node.attributes if name.startswith("on")]
        for name in ("src", "href", "action", "xlink:href"):
            assert node.attributes.get(name, "#").startswith("#")
    assert not re.search(r"url\((?!#)|@import|https?:|//", html.split("</style>")[0])
    (policy,) = (meta for meta in root.all("meta") if "http-equiv" in meta.attributes)
    directives = dict(own.split(" ", 1) for own in policy.attributes["content"].split("; "))
    assert directives["default-src"] == "'none'"
    run = [own.text for own in root.all("script") if own.attributes.get("type") is None]
    digests = (base64.b64encode(hashlib.sha256(own.encode()).digest()).decode() for own in run)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    assert directives["script-src"] == allowed


def test_pages_that_may_be_published_hold_no_program(pages):
    """Unless they are asked for: then charts answer to the mouse."""
    for kind in ("publishable", "seeded", "synthetic, published"):
        assert "<script" not in pages[kind]
    assert "<script" in pages["custodian"]


def test_identifiers_are_unique_and_references_lead_somewhere(root):
    """No two elements share an id, and every link names one that exists."""
    identifiers = [node.attributes["id"] for node in root.all() if "id" in node.attributes]
    assert len(identifiers) == len(set(identifiers))
    named = [node.attributes["href"] for node in root.all() if "href" in node.attributes]
    assert {name.removeprefix("#") for name in named} <= set(identifiers)


def test_headings_go_down_one_level_at_a_time(root):
    """A reader who moves from heading to heading misses none and finds none empty."""
    headings = [*root.all("h1", "h2", "h3", "h4", "h5", "h6")]
    levels = [int(node.tag[1]) for node in headings]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert all(node.text.strip() for node in headings)


def test_every_table_can_be_read_aloud_and_scrolled_by_keys(root):
    """Each has a name, heads with scopes, and rows as long as its head."""
    regions = [node for node in root.all("div") if node.attributes.get("class") == "scroll"]
    assert len(regions) == len([*root.all("table")])
    for region in regions:
        assert region.attributes["tabindex"] == "0"
        assert region.attributes["aria-label"]
        (table,) = (node for node in region.children if not isinstance(node, str) and node.tag)
        head, *rows = (row for row in rows_in(table) if row.attributes.get("class") != "opens")
        assert all(cell.attributes["scope"] == "col" and cell.text.strip() for cell in cells(head))
        for row in rows:
            assert len(cells(row)) == len(cells(head))
            assert cells(row)[0].attributes["scope"] == "row"


def rows_in(table):
    """The rows of a table, but for those of tables within."""
    for part in (node for node in table.children if not isinstance(node, str)):
        yield from (row for row in part.children if not isinstance(row, str))


def cells(row):
    return [cell for cell in row.children if not isinstance(cell, str)]


def charts_of(root):
    """Every figure: what it says, its picture, and its specification where there is one."""
    for drawn in root.all("figure"):
        (named,) = (node for node in drawn.all("div") if node.attributes.get("role") == "img")
        (picture,) = named.all("svg")
        specs = [json.loads(own.text) for own in drawn.all("script")]
        yield named.attributes["aria-label"], picture, specs


def test_every_chart_says_in_words_what_it_shows_and_is_a_picture_too(root):
    """Where nothing may run, and on paper, there is an SVG; else a chart of Vega-Lite besides."""
    is_still = not [own for own in root.all("script") if own.attributes.get("type") is None]
    for said, picture, specs in charts_of(root):
        assert said.endswith(".")
        assert [*picture.all("path")]
        assert len(specs) == (0 if is_still else 1)
    assert [*charts_of(root)]


def test_charts_are_what_the_schema_of_vega_lite_allows(pages):
    """Altair takes each of them, which checks names and values."""
    for kind in ("custodian", "hostile", "synthetic"):
        for _, _, (spec,) in charts_of(read(pages[kind])):
            plain = json.loads(re.sub(r"var\(--[\w-]+\)", "#000000", json.dumps(spec)))
            altair.Chart.from_dict(plain)


def test_names_of_columns_are_text_and_nothing_else(pages):
    """A column named as a script, a heading or a table shows under its very name."""
    for kind in ("hostile", "shuffled", "publishable", "synthetic", "synthetic, published"):
        root = read(pages[kind])
        shown = [node.text.strip() for node in root.all("h3", "th")]
        for name in NAMES:
            assert name.replace("\n", " ") in shown
        assert "d" not in shown
        assert HOSTILE not in pages[kind]


@pytest.mark.parametrize(
    "kept",
    [
        "PLACE\n\n## Everything is safe\n\n- safe",
        "# Everything is safe",
        "- safe",
        "| safe |",
    ],
)
def test_a_name_starts_no_heading_and_no_list(kept):
    """A column kept under a name of that kind is told in the sentence that it belongs to."""
    table = {"AGE": np.arange(30), kept: np.array(["a", "b", "c"] * 10)}
    release = mv.protect(table, method="ranking", k=3, attributes=["AGE"], keep=[kept])
    root = read(publishable_report(release))
    headings = [node.text for node in root.all("h2", "h3", "h4")]
    assert not [heading for heading in headings if "safe" in heading]
    assert not [item for item in root.all("li") if item.text.startswith("safe")]
    (told,) = (node.text for node in root.all("p") if "exactly as in the original" in node.text)
    assert " ".join(kept.split()) in told


@pytest.mark.parametrize("n_attributes", [15, pytest.param(100, marks=pytest.mark.slow)])
def test_a_page_of_many_attributes_stays_small(n_attributes):
    """Beside Vega's programs a megabyte is enough for a hundred attributes with long names."""
    random = np.random.default_rng(8)
    names = [f"attribute {place:03} {'x' * 50}" for place in range(n_attributes)]
    table = {name: random.normal(0, 1, 1000).round(3) for name in names}
    asked = {"bounds": dict.fromkeys(names, (-9, 9)), "resolution": dict.fromkeys(names, 0.001)}
    release = mv.protect(table, method="idp-cbls", k=10, epsilon=1, exact_cells="allow", **asked)
    page = custodian_report(release, table)
    programs = re.findall(r"<script>.*?</script>", page, re.DOTALL)
    assert len(page.encode()) - sum(len(own.encode()) for own in programs) < 1_300_000
    assert len(publishable_report(release).encode()) < 1_300_000


def test_the_first_screen_says_what_is_promised_and_shows_what_moved(pages, demonstrated):
    """The promise with its conditions; every column, the worst first; pairs; what is found."""
    release, assessment = demonstrated["idp-cbls"]
    root = read(pages["custodian"])
    (header,) = root.all("header")
    for words in ("Promised: ", "epsilon 1 at cluster", *release.guarantee.provisos):
        assert words in header.text
    assert "For the custodian only" in header.text
    (first,) = (node for node in root.all("div") if node.attributes.get("class") == "first")
    titles = [node.text for node in first.all("h2")]
    assert titles == ["Columns, the worst first", "Pairs of columns", "Found again"]
    columns, pairs, found = (spec for _, _, (spec,) in charts_of(first))
    moves = assessment.column_moves
    worst = sorted(moves, key=lambda name: moves[name].rank, reverse=True)
    rows = columns["data"]["values"]
    assert [row["column"] for row in rows] == worst
    for row in rows:
        assert row["distance"] == pytest.approx(moves[row["column"]].distance, rel=1e-5)
        assert 0 < row["sampling"] < 0.2
        is_beyond = moves[row["column"]].distance > row["sampling"]
        assert row["beyond"].startswith("farther") is is_beyond
        assert ("mean" in row["marks"]) is (abs(moves[row["column"]].mean_change) >= 0.1)
        assert ("spread" in row["marks"]) is (abs(moves[row["column"]].spread_change) >= 0.1)
    variation = assessment.result("two_way_total_variation")
    (pair,) = pairs["data"]["values"]
    assert {pair["one"], pair["other"]} == set(variation.names)
    assert pair["moved"] == pytest.approx(variation.two_way, rel=1e-5)
    strongest = assessment.strongest_linkage.figure
    (row,) = found["data"]["values"]
    linked = [row["found"], row["chance"], row["low"], row["high"]]
    assert linked == pytest.approx(
        [strongest.value, strongest.beside, *strongest.interval], rel=1e-5
    )


def test_every_figure_of_an_assessment_is_on_the_page(demonstrated, pages):
    """Its document in whole: each text of it, tables cell by cell."""
    release, assessment = demonstrated["idp-cbls"]
    root = read(pages["custodian"])
    assessment = replace(assessment, guarantee=release.guarantee)
    texts = {" ".join(node.text.split()) for node in root.all("p", "li", "th", "td", "summary")}
    blocks = assessment.document().blocks[1:]
    assert len(blocks) > 20
    for block in blocks:
        if isinstance(block, Tabulated):
            wanted = [cell for row in (block.heads, *block.rows) for cell in row]
        else:
            wanted = block.items if isinstance(block, Items) else [block.text]
        assert {" ".join(plain(own).split()) for own in wanted} <= texts


def test_a_release_of_text_alone_is_assessed_on_its_page(pages):
    """How far its distribution moved is shown; what needs numbers says so, and blames no order."""
    text = read(pages["words"]).text
    assert "total variation" in text
    assert "Information loss: not measured: there are no numbers to compare." in text
    assert "in random order" not in text


def test_the_custodians_page_holds_every_part(demonstrated, people):
    """Figures of the release, assessment, audit and manifest are on the page."""
    release, assessment = demonstrated["idp-cbls"]
    manifest = Manifest(
        contents={
            **release.manifest.to_dict(),
            "input": {"name": "people.csv", "sha256": "0123abcd"},
            "output": {"name": "data.csv", "sha256": "4567ef"},
        }
    )
    html = custodian_report(
        replace(release, manifest=manifest),
        people,
        assessment,
        units={"INCOME": "EUR a year"},
    )
    text = read(html).text
    told = release.manifest.to_dict()
    figures = assessment.to_dict()
    linked = figures["record_linkage_by_rank"]
    wanted = [
        "Not released",
        *release.notes,
        *release.guarantee.notes,
        f"{figures['information_loss']:.3g}",
        f"{linked:.3g} %",
        f"{told['audit']['attributes']['AGE']['exact_cells']:,}",
        "0123abcd",
        "4567ef",
        told["versions"]["numba"],
        "EUR a year",
    ]
    assert [entry for entry in wanted if entry not in text] == []


def test_each_linkage_stands_with_its_interval_beside_chance(demonstrated, people):
    """A row to each distance: what it finds, the lower end first, and what a guess would."""
    release, assessment = demonstrated["idp-cbls"]
    root = read(custodian_report(release, people, assessment))
    for one in assessment.of(RECORD_LINKAGE):
        linked = one.figure
        low, high = linked.interval
        assert low < linked.value < high
        (row, *_) = (r for rows in tables_of(root) for r in rows if r[0] == one.measure.label)
        assert row[1:4] == [
            f"{figure(linked.value)} %",
            f"{figure(low)} to {figure(high)}",
            figure(linked.beside),
        ]


def test_errors_and_moments_stand_under_their_heads(demonstrated, people):
    """Each attribute's errors, the variance they are held against, and what was foreseen."""
    release, assessment = demonstrated["idp-cbls"]
    root = read(custodian_report(release, people, assessment))
    figures, foreseen = assessment.to_dict(), release.manifest.to_dict()["expected_error"]
    relative = next(rows for rows in tables_of(root) if "over variance" in rows[0])
    by_name = {row[0]: row for row in of_columns(root)}
    for name, *row in relative[1:]:
        own, moment = figures["errors"][name], figures["moments"][name]
        mean, variance = moment["mean"], moment["variance"]
        over_variance = foreseen[name]["mean_squared_error"] / foreseen[name]["variance"]
        expected = [own["mse"] / variance["original"], over_variance]
        assert row == [number(one, 3) for one in expected]
        cells = by_name[name]
        assert cells[2] == figure(figures["goodness_of_fit"][name]["ks"]["statistic"])
        assert cells[4:6] == [figure(mean[side]) for side in ("original", "protected")]
        spreads = (variance[side] ** 0.5 for side in ("original", "protected"))
        assert cells[6:8] == [figure(spread) for spread in spreads]


def of_columns(root):
    """The table of all columns."""
    return next(rows for rows in tables_of(root) if "by sampling up to" in rows[0])


def tables_of(root):
    return [
        [[cell.text for cell in row.all("th", "td")] for row in table.all("tr")]
        for table in root.all("table")
    ]


def test_a_correlation_that_fell_has_changed_downwards(people):
    """The change of a pair is that of the release, less the original's."""
    release = mv.protect(
        people,
        method="laplace",
        epsilon=1,
        seed=1,
        attributes=["INCOME", "TAX"],
        bounds={"INCOME": (0, 400_000), "TAX": (0, 200_000)},
        resolution={"INCOME": 0.01, "TAX": 0.01},
    )
    rows = table_of(read(custodian_report(release, people)), "pair")
    before, after, change = (float(cell.replace("\u2212", "-")) for cell in rows[1][2:])
    assert before > 0.8
    assert after < 0.6
    assert change == pytest.approx(after - before, abs=0.02)


def test_the_audit_stands_beside_what_is_published(demonstrated, people):
    """The words hold the published epsilon of vector scope against the loss that was found."""
    release, assessment = demonstrated["idp-cbls"]
    root = read(custodian_report(release, people, assessment))
    audit = release.manifest.to_dict()["audit"]
    published = release.guarantee.scopes.to_dict()
    assert published["cluster"]["epsilon"] < audit["vector_scope"] < published["vector"]["epsilon"]
    (words,) = (node.text for node in root.all("p") if node.text.startswith("The true loss is"))
    assert f"publishes an epsilon of {rounded_up(published['vector']['epsilon'])} at" in words
    assert f"the audit finds {rounded_up(audit['vector_scope'])} for this table" in words
    rows = audit_rows(root)[1:]
    for row, (name, entry) in zip(rows, audit["attributes"].items(), strict=False):
        assert row == [
            name,
            rounded_up(entry["share"]),
            rounded_up(entry["vector_scope"]),
            f"{entry['clusters']:,}",
            f"{entry['exact_cells']:,}",
        ]
    assert rows[-1][:3] == ["all together", "1", rounded_up(audit["vector_scope"])]


def test_the_audit_of_parts_says_by_which_method_each_attribute_was_drawn():
    """As on the terminal: shares are summed where each has one, and a unit's are the unit's."""
    table = {name: np.arange(60) % 20 for name in "ABC"} | {"HOME": np.arange(60) // 2}
    noisy = [mv.part("A", method="laplace", epsilon=1), mv.part("B", method="pram", epsilon=2)]
    bounds = dict.fromkeys("AB", (0, 19))
    asked = {"bounds": bounds, "unit": "HOME", "max_rows": 2}
    root = read(custodian_report(mv.protect(table, parts=noisy, **asked), table))
    rows = audit_rows(root)
    assert [row[:3] for row in rows] == [
        ["attribute", "method", "share of epsilon"],
        ["A", "laplace", "1"],
        ["B", "pram", "2"],
        ["all together", "", "3"],
    ]
    (words,) = (node.text for node in root.all("p") if node.text.startswith("The true loss is"))
    assert "at most what all records of one unit (HOME, 2 at most) can change" in words
    some = [noisy[0], mv.part("C", method="ranking", k=3)]
    root = read(custodian_report(mv.protect(table, parts=some, bounds={"A": (0, 19)}), table))
    assert [row[2] for row in audit_rows(root)[1:]] == ["1", "none", "none"]


def audit_rows(root):
    return next(rows for rows in tables_of(root) if "true loss" in rows[0])


def test_neighbours_stand_under_their_heads(people):
    """The fewest neighbours: in the original, expected, and in the release, in this order."""
    release = mv.protect(people, method="k-noise", k=25, attributes=["AGE"], seed=1)
    assessment = mv.assess(people, release.data, ["AGE"], k=25)
    root = read(custodian_report(release, people, assessment))
    (row,) = next(rows for rows in tables_of(root) if "delta" in rows[0])[1:]
    found = assessment.to_dict()["neighbourhoods"]["AGE"]
    sides = [found[side]["min"] for side in ("original", "expected", "observed")]
    assert len(set(sides)) == 3
    assert row == ["AGE", number(found["delta"]), *(number(side, 3) for side in sides)]


def test_odds_that_are_certain_are_told_as_such(people):
    """Where a category that is seen must be the original one, no number stands for the odds."""
    asked = {"method": "pram", "attributes": ["REGION"]}
    regions = sorted(set(people["REGION"]))
    same = np.eye(len(regions))
    for matrix, certain in ((same, True), (0.5 * same + 0.5 / len(regions), False)):
        release = mv.protect(
            people, **asked, bounds={"REGION": regions}, matrix={"REGION": matrix.tolist()}
        )
        (row,) = table_of(read(custodian_report(release, people)), "categories of")[1:]
        assert (row[2] == "unbounded: some category is certain") is certain


def test_a_bin_holds_what_lies_from_its_one_end_through_the_other(demonstrated, people):
    """Of whole numbers both ends belong to it, and the next begins one above."""
    release, assessment = demonstrated["idp-cbls"]
    root = read(custodian_report(release, people, assessment))
    spec = next(
        own for said, _, (own,) in charts_of(root) if said.startswith("Distribution of AGE")
    )
    sides = {"original": people, "release": release.data}
    for side, table in sides.items():
        ages = table["AGE"].to_numpy()
        rows = [row for row in spec["data"]["values"] if row["side"] == side][:-1]
        for row in rows:
            low, high = (int(end) for end in (row["values"].split(" to ") * 2)[:2])
            within = 100 * float(np.mean((ages >= low) & (ages <= high)))
            assert row["share"] == pytest.approx(within, rel=1e-4)
        assert sum(row["share"] for row in rows) == pytest.approx(100, rel=1e-4)


def test_missing_values_are_told_as_a_share(hostile):
    """18 of 120 are 15 %."""
    table, release = hostile
    assert table["MISSING"].null_count() == 18
    rows = of_columns(read(custodian_report(release, table)))
    (row,) = (row for row in rows if row[0] == "MISSING")
    assert row[rows[0].index("missing, %") :][:2] == ["15", "15"]


def test_another_table_is_refused(people):
    """A page does not set a release against a table that was not protected."""
    release = mv.protect(people, method="ranking", k=5, attributes=["AGE"])
    with pytest.raises(DataError, match="as many records"):
        custodian_report(release, people.head(100))
    with pytest.raises(DataError, match="no such column"):
        custodian_report(release, people.rename({"AGE": "YEARS"}))
    kept = mv.protect(people, method="ranking", k=5, attributes=["AGE"], keep=["SINCE"])
    with pytest.raises(DataError, match="every column"):
        custodian_report(kept, people.drop("SINCE"))
    gap = people.with_columns(
        polars.when(polars.int_range(polars.len()) > 0).then("AGE").alias("AGE")
    )
    with pytest.raises(DataError, match="no more missing cells"):
        custodian_report(release, gap)


def test_records_that_lack_a_value_lose_the_others_in_clusters_of_whole_records():
    """The page is made all the same, and the custodian reads how many records that is."""
    ages = [30.0, 31, 32, 40, 41, 42, 50, None]
    table = polars.DataFrame({"AGE": ages, "TAX": range(8)})
    asked = {"attributes": ["AGE", "TAX"], "resolution": {"AGE": 1}, "missing": "keep"}
    release = mv.protect(table, method="mdav", k=3, **asked)
    assert release.data["TAX"].null_count() == 1
    (note,) = (n for n in release.manifest.custodian_notes if "without any value" in n)
    assert note.startswith("1 of 8 records are released without any value of AGE, TAX")
    assert "AGE" in custodian_report(release, table)
    apart = mv.protect(table, method="ranking", k=3, **asked)
    assert not any("without any value" in note for note in apart.manifest.custodian_notes)


def test_records_that_lack_a_value_of_a_block_are_no_other_table(people):
    """A method over records leaves more cells empty than the original has, and is reported."""
    gap = people.with_columns(
        polars.when(polars.int_range(polars.len()) > 0).then("AGE").alias("AGE")
    )
    release = mv.protect(gap, method="mdav", k=5, attributes=["AGE", "VISITS"], missing="keep")
    assert release.data["VISITS"].null_count() == 1
    assert "VISITS" in custodian_report(release, gap)
    with pytest.raises(DataError, match="no more missing cells"):
        custodian_report(release, gap.with_columns(AGE=polars.lit(None).cast(polars.Int64)))


def test_a_shuffled_release_is_not_compared_record_by_record(pages):
    """Without a common order there is no loss and no linkage."""
    text = read(pages["shuffled"]).text
    for words in ("information loss", "record linkage, standardised"):
        assert words in read(pages["custodian"]).text
    assert "record linkage, standardised" not in text
    assert "Record linkage was not measured" in text


def test_a_seeded_release_says_that_it_protects_nobody(pages):
    """Its publishable page opens with the warning."""
    assert "protects nobody: do not publish" in read(pages["seeded"]).text


MARK = "73737373"


def test_the_publishable_page_takes_nothing_from_the_custodians_figures(hostile):
    """With a marked manifest and marked notes the page is the same, letter by letter."""
    _, release = hostile
    marked = replace(
        release,
        manifest=Manifest(contents=marked_values(release.manifest.to_dict())),
        notes=(f"{MARK} cells",),
    )
    assert publishable_report(marked) == publishable_report(release)
    assert MARK not in publishable_report(marked)


def marked_values(contents):
    if isinstance(contents, dict):
        return {name: marked_values(value) for name, value in contents.items()}
    return MARK


def test_the_publishable_page_keeps_what_was_read_from_the_data(people):
    """Bounds and steps that were read off the original are neither shown nor used."""
    ages = people.select("AGE", "INCOME")
    release = mv.protect(
        ages,
        method="dp-um",
        k=5,
        epsilon=1,
        bounds=mv.bounds_from_data(ages, 1.5),
        resolution=mv.resolution_from_data(ages),
    )
    by_name = {terms.name: terms for terms in release.guarantee.attributes}
    assert by_name["INCOME"].domain is by_name["INCOME"].resolution is by_name["AGE"].domain is None
    marked = marked_values(release.manifest.to_dict())
    without = replace(release, manifest=replace(release.manifest, contents=marked))
    assert publishable_report(without) == publishable_report(release)
    assert "read from the data" in read(publishable_report(release)).text


def test_the_publishable_page_shows_no_value_of_the_original(demonstrated, people):
    """Of all original values that are not in the release, none is on the page."""
    release, _ = demonstrated["laplace"]
    text = read(publishable_report(release)).text
    hidden = {f"{value:,.2f}" for value in people["INCOME"]} - {
        f"{value:,.2f}" for value in release.data["INCOME"]
    }
    assert len(hidden) > 250
    assert [value for value in hidden if value in text] == []
    for word in ("original and", "audit", "expected", "exact cells", "clusters formed anew;"):
        assert word not in text.lower().replace("the original table", "")


def contrast(one, other):
    """Return the contrast of two colours as WCAG 2 defines it, 1 to 21."""

    def luminance(colour):
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    brighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("colour", [LIGHT, DARK, PAPER], ids=["light", "dark", "paper"])
def test_colours_can_be_told_from_their_ground(colour):
    """Words reach a contrast of 4.5, lines and marks one of 3, in every scheme."""
    for word, grounds in {
        "text": ("page", "raised", "h0", "h1", "h2", "h3"),
        "quiet": ("page", "raised"),
        "link": ("page",),
        "warning": ("raised",),
    }.items():
        for ground in grounds:
            assert contrast(colour[word], colour[ground]) >= 4.5, (word, ground)
    for mark in ("rule", "original", "protected", *(f"s{n}" for n in range(8))):
        assert contrast(colour[mark], colour["page"]) >= 3, mark


def test_every_colour_of_a_rule_is_one_of_the_schemes(pages):
    """No rule of a page asks for a colour that a scheme does not have, and each has all."""
    asked = set(re.findall(r"var\(--([\w-]+)\)", pages["custodian"]))
    assert asked <= set(LIGHT)
    assert set(LIGHT) == set(DARK) == set(PAPER)
