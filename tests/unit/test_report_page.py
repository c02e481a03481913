"""The pages as a browser and a screen reader get them."""

import datetime
import itertools
import re
from dataclasses import replace

import numpy as np
import polars
import pytest

import microveil as mv
from html_page import read, rows_of
from microveil.audit.empirical import EmpiricalAudit, ScopeFinding
from microveil.compare import compare
from microveil.errors import DataError
from microveil.measures.linkage import RECORD_LINKAGE
from microveil.protect.release import Manifest
from microveil.report import (
    MapPoint,
    Spread,
    comparison_report,
    custodian_report,
    demonstration_report,
    publishable_report,
    risk_utility_section,
)
from microveil.report.colours import DARK, LIGHT, PAPER
from microveil.report.page import Part, page
from microveil.report.wording import number, percent, rounded_up

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
        "demonstration": demonstration_report(demonstrated, people, lead="Invented people."),
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
        "comparison": comparison_report(compared()),
        "map": page("Map", warning=None, closing="", parts=[Part(sections=(small_map(),))]),
    }


def spread(value):
    return Spread(value=value, lower=0.9 * value, upper=1.1 * value)


def compared():
    """Compare methods on columns with hostile names, some cells refused."""
    ages = np.random.default_rng(3).integers(18, 90, 60)
    names = [HOSTILE, NAMES[1]]
    return compare(
        dict.fromkeys(names, ages),
        methods="laplace,dp-um:isotonic=true,idp-cbls,mdav,kanon-dp:composition=sequential",
        k=[3, 99],
        epsilon=[0.1, 1],
        runs=2,
        seed=1,
        attributes=names,
        bounds=dict.fromkeys(names, (0, 120)),
        exact_cells="allow",
    )


def small_map():
    points = [
        MapPoint(
            panel=panel,
            method=f"method {m}",
            label=f"k {k}",
            loss=spread(5.0 * k * (m + 1)),
            risk=spread(90.0 / k),
            on_frontier=m == 0,
        )
        for panel in ("row scope", "cluster scope")
        for m in range(9)
        for k in (2, 5)
    ]
    return risk_utility_section(points, loss_title="loss, %", risk_title="linked, %")


KINDS = (
    "custodian",
    "demonstration",
    "hostile",
    "shuffled",
    "words",
    "no epsilon",
    "synthetic",
    "synthetic, published",
    "seeded",
    "publishable",
    "map",
    "comparison",
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
    (title,) = (node for node in root.all("title") if "id" not in node.attributes)
    (heading,) = root.all("h1")
    metas = [meta.attributes for meta in root.all("meta")]
    assert document.attributes["lang"] == "en"
    assert title.text == heading.text
    assert {"charset": "utf-8"} in metas
    assert any(meta.get("name") == "viewport" for meta in metas)


def test_a_page_runs_nothing_and_loads_nothing(root, html):
    """There is no script, no handler, no style or address from outside, and a policy says so."""
    assert not [*root.all("script", "iframe", "img", "link", "object", "form", "base", "image")]
    for node in root.all():
        assert not [name for name in node.attributes if name.startswith("on")]
        for name in ("src", "href", "action"):
            assert node.attributes.get(name, "#").startswith("#")
    assert not re.search(r"url\(|@import|https?:|//", html.split("</style>")[0])
    policies = [meta for meta in root.all("meta") if "http-equiv" in meta.attributes]
    assert policies[0].attributes["content"].startswith("default-src 'none'")


def test_identifiers_are_unique_and_references_lead_somewhere(root):
    """No two elements share an id, and every link and label names one that exists."""
    identifiers = [node.attributes["id"] for node in root.all() if "id" in node.attributes]
    assert len(identifiers) == len(set(identifiers))
    assert all(re.fullmatch(r"[a-zA-Z][\w-]*", identifier) for identifier in identifiers)
    for node in root.all():
        named = node.attributes.get("aria-labelledby", "").split()
        if "href" in node.attributes:
            named.append(node.attributes["href"][1:])
        assert set(named) <= set(identifiers)


def test_headings_go_down_one_level_at_a_time(root):
    """A reader who moves from heading to heading misses none and finds none empty."""
    headings = [*root.all("h1", "h2", "h3", "h4", "h5", "h6")]
    levels = [int(node.tag[1]) for node in headings]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert all(node.text.strip() for node in headings)


def test_landmarks_are_there_and_have_names_of_their_own(root):
    """Header, navigation, main and footer come once; sections are told apart by their names."""
    assert [len([*root.all(tag)]) for tag in ("header", "nav", "main", "footer")] == [1] * 4
    labels = [node.attributes["aria-labelledby"] for node in root.all("section")]
    by_id = {node.attributes["id"]: node.text for node in root.all() if "id" in node.attributes}
    spoken = [" ".join(by_id[part] for part in label.split()) for label in labels]
    assert len(spoken) == len(set(spoken))
    (body,) = root.all("body")
    assert body.children[0].attributes["href"] == "#main"


def test_every_table_says_what_it_holds(root):
    """Each has a caption, heads with scopes, rows of one length, and can be scrolled by keys."""
    regions = [node for node in root.all("div") if node.attributes.get("class") == "scroll"]
    assert len(regions) == len([*root.all("table")])
    for region in regions:
        assert region.attributes["tabindex"] == "0"
        (table,) = region.all("table")
        assert table.children[0].tag == "caption"
        assert table.children[0].text.strip()
        rows = [*table.all("tr")]
        assert {len(row.children) for row in rows} == {len(rows[0].children)}
        assert all(cell.attributes["scope"] == "col" for cell in rows[0].children)
        assert all(cell.text.strip() for cell in rows[0].children)
        assert all(row.children[0].attributes.get("scope") == "row" for row in rows[1:])


def test_every_picture_says_in_words_what_it_shows(root):
    """Each has a title, a description and a caption; the numbers are in a table."""
    for figure in root.all("figure"):
        (picture,) = figure.all("svg")
        assert picture.attributes["role"] == "img"
        title, description = picture.children[0], picture.children[1]
        assert (title.tag, description.tag) == ("title", "desc")
        assert picture.attributes["aria-labelledby"] == " ".join(
            (title.attributes["id"], description.attributes["id"])
        )
        assert title.text
        assert description.text.endswith(".")
        assert len([*figure.all("figcaption")]) == 1


def test_pictures_stay_within_their_frames(root):
    """No shape is drawn outside the view, and none at a place that is no number."""
    for picture in root.all("svg"):
        width, height = map(float, picture.attributes["viewbox"].split()[2:])
        for shape in picture.all("path", "circle", "rect"):
            told = " ".join(str(value) for name, value in shape.attributes.items() if name != "id")
            assert "nan" not in told
            assert "inf" not in told
        for shape in picture.all("circle"):
            assert -1 <= float(shape.attributes["cx"]) <= width + 1
            assert -1 <= float(shape.attributes["cy"]) <= height + 1
        for shape in picture.all("path"):
            turns = re.findall(r"([MLHV])(-?[\d.]+)(?: (-?[\d.]+))?", shape.attributes["d"])
            across = [float(first) for letter, first, _ in turns if letter != "V"]
            upward = [
                float(first if letter == "V" else second)
                for letter, first, second in turns
                if letter != "H"
            ]
            assert all(-1 <= x <= width + 1 for x in across)
            assert all(-1 <= y <= height + 1 for y in upward)


def test_names_of_columns_are_text_and_nothing_else(pages):
    """A column named as a script, a heading or a table shows under its very name."""
    for kind in ("hostile", "shuffled", "publishable", "synthetic", "synthetic, published"):
        root = read(pages[kind])
        headings = [node.text for node in root.all("h3")]
        for name in NAMES:
            assert name.replace("\n", " ") in headings
        assert "d" not in headings


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


# Of thirty attributes there are pictures, of all beyond a line in a table.
@pytest.mark.parametrize(
    ("n_attributes", "most"),
    [(40, 770_000), pytest.param(100, 1_000_000, marks=pytest.mark.slow)],
)
def test_a_page_of_many_attributes_stays_below_a_megabyte(n_attributes, most):
    """A hundred attributes with long names and 1000 records make no page that is too large."""
    random = np.random.default_rng(8)
    names = [f"attribute {place:03} {'x' * 50}" for place in range(n_attributes)]
    table = {name: random.normal(0, 1, 1000).round(3) for name in names}
    release = mv.protect(
        table,
        method="idp-cbls",
        k=10,
        epsilon=1,
        exact_cells="allow",
        bounds=dict.fromkeys(names, (-9, 9)),
        resolution=dict.fromkeys(names, 0.001),
    )
    assert len(custodian_report(release, table).encode()) < most
    assert len(publishable_report(release).encode()) < most


def test_a_demonstration_is_one_comparison_with_each_way_folded(pages, demonstrated):
    """Open stand the figures and the original against each way; the rest is behind one summary."""
    root = read(pages["demonstration"])
    parts = [node for node in root.all("details") if "part" in node.attributes.get("class", "")]
    assert len(parts) == len(demonstrated)
    assert not any("open" in part.attributes for part in parts)
    folded = {id(node) for part in parts for node in part.all("section", "svg")}
    shown = [node for node in root.all("section") if id(node) not in folded]
    assert [section.children[0].text for section in shown] == [
        "Side by side",
        "The original against each release",
        *demonstrated,
    ]
    figures = [figure for row in root.all("div") if row.attributes.get("class") == "ways"
               for figure in row.all("figure")]  # fmt: skip
    captions = [caption.text for figure in figures for caption in figure.all("figcaption")]
    assert captions == [*demonstrated] * 2  # AGE and INCOME
    assert not folded & {id(drawn) for figure in figures for drawn in figure.all("svg")}
    assert folded


def test_what_one_way_does_not_release_is_said_beside_the_others(people):
    """A row of pictures has one place to each way."""
    releases = {}
    for names in (["AGE"], ["AGE", "VISITS"]):
        bounds = dict.fromkeys(names, (0, 110))
        release = mv.protect(people, method="laplace", epsilon=1, attributes=names, bounds=bounds)
        releases[f"{len(names)} columns"] = (release, mv.assess(people, release, names))
    root = read(demonstration_report(releases, people, lead="Invented people."))
    rows = [row for row in root.all("div") if row.attributes.get("class") == "ways"]
    assert [len(row.children) for row in rows] == [2, 2]
    assert rows[1].children[0].text == "1 columns: not released"


def test_a_release_of_text_alone_is_assessed_on_its_page(pages):
    """How far its distribution moved is shown; what needs numbers says so, and blames no order."""
    text = read(pages["words"]).text
    assert "total variation" in text
    assert "needs numbers" in text
    assert "No attribute of numbers was protected." in text
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
    finding = ScopeFinding(claimed=1.0, lower_bound=0.625, exact=None)
    html = custodian_report(
        replace(release, manifest=manifest),
        people,
        assessment,
        empirical=[
            EmpiricalAudit(attribute="AGE", runs=4321, confidence=0.95, scopes={"row": finding})
        ],
        units={"INCOME": "EUR a year"},
    )
    text = read(html).text
    told = release.manifest.to_dict()
    figures = assessment.to_dict()
    linked = figures["record_linkage_by_rank"]
    wanted = [
        "not released",
        *release.notes,
        *release.guarantee.notes,
        f"{figures['information_loss']:.4g}",
        f"{linked:.3g} %",
        f"{told['audit']['attributes']['AGE']['exact_cells']:,}",
        "0123abcd",
        "4567ef",
        told["versions"]["numba"],
        "EUR a year",
        "at least 0.625",
        "4,321",
    ]
    assert [entry for entry in wanted if entry not in text] == []


def test_attacks_stand_beside_their_baselines(people):
    """Each outcome of an attack report is a row with success, baseline and risk."""
    release = mv.protect(people, method="ranking", k=5, attributes=["AGE", "VISITS"])
    attacks = mv.attack(people, release.data, seed=1)
    root = read(custodian_report(release, people, attacks=attacks))
    rows = rows_of(root, "attacks-table")
    assert len(rows) == 1 + len(attacks.outcomes)
    for row, outcome in zip(rows[1:], attacks.outcomes, strict=True):
        assert row[0].startswith(outcome.attack)
        assert row[1] == f"{outcome.n_attacks:,}"
        figures = outcome.to_dict()
        for cell, name in zip(row[2:6], ("success", "baseline", "control", "risk"), strict=True):
            found = figures[name]
            if found is None or found["rate"] is None:
                assert cell == "–"
            elif found["n"] is None:
                assert cell == percent(found["rate"])
            else:
                low, high = map(percent, found["interval"])
                assert cell == f"{percent(found['rate'])} ({low} to {high})"
        assert row[6].startswith("yes" if outcome.beats_baseline else "no:")
    assert {outcome.beats_baseline for outcome in attacks.outcomes} == {True, False}


def test_each_linkage_stands_with_its_interval_beside_chance(demonstrated, people):
    """A row to each distance: what it finds, the lower end first, and what a guess would."""
    release, assessment = demonstrated["idp-cbls"]
    rows = rows_of(read(custodian_report(release, people, assessment)), "linkage-table")
    assert [row[0] for row in rows[1:]] == ["raw units", "standardised", "by rank"]
    found = [one.figure for one in assessment.of(RECORD_LINKAGE)]
    for row, linked in zip(rows[1:], found, strict=True):
        low, high = linked.interval
        assert low < linked.value < high
        assert row[1:] == [
            number(linked.value, 3),
            f"{number(low, 3)} to {number(high, 3)}",
            number(linked.beside, 2),
        ]


def test_errors_and_moments_stand_under_their_heads(demonstrated, people):
    """Each attribute's errors, the variance they are held against, and what was foreseen."""
    release, assessment = demonstrated["idp-cbls"]
    root = read(custodian_report(release, people, assessment))
    figures, foreseen = assessment.to_dict(), release.manifest.to_dict()["expected_error"]
    errors, moments = (rows_of(root, f"{name}-table")[1:] for name in ("errors", "moments"))
    for row, drawn, name in zip(errors, moments, ("AGE", "INCOME"), strict=True):
        own, moment = figures["errors"][name], figures["moments"][name]
        mean, variance = moment["mean"], moment["variance"]
        over_variance = foreseen[name]["mean_squared_error"] / foreseen[name]["variance"]
        assert row == [
            name,
            number(own["bias"], 4),
            number(own["mse"] ** 0.5, 4),
            number(own["mse"] / variance["original"], 3),
            number(over_variance, 3),
        ]
        assert drawn == [
            name,
            *(number(mean[side], 5) for side in ("original", "protected")),
            *(number(variance[side] ** 0.5, 5) for side in ("original", "protected")),
            number(figures["goodness_of_fit"][name]["ks"]["statistic"], 3),
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
    rows = rows_of(read(custodian_report(release, people)), "pairs-table")
    before, after, change = (float(cell.replace("\u2212", "-")) for cell in rows[1][1:])
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
    rows = rows_of(root, "audit-table")[1:]
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
    rows = rows_of(root, "audit-table")
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
    assert [row[2] for row in rows_of(root, "audit-table")[1:]] == ["1", "none", "none"]


@pytest.mark.parametrize(
    ("shown", "claimed", "verdict"),
    [(0.625, 1.0, "not contradicted, which proves nothing"), (1.25, 1.0, "CONTRADICTED")],
)
def test_runs_contradict_a_claim_only_if_they_show_more(demonstrated, people, shown, claimed,
                                                        verdict):  # fmt: skip
    """A lower bound above what is claimed is told as a contradiction, one below is not."""
    release, assessment = demonstrated["idp-cbls"]
    finding = ScopeFinding(claimed=claimed, lower_bound=shown, exact=None)
    audit = EmpiricalAudit(attribute="AGE", runs=50, confidence=0.95, scopes={"row": finding})
    html = custodian_report(release, people, assessment, empirical=[audit])
    (row,) = rows_of(read(html), "empirical-table")[1:]
    assert row[1:] == ["1", "no bound", f"at least {shown:g}", "50", verdict]


def test_neighbours_stand_under_their_heads(people):
    """The fewest neighbours: in the original, expected, and in the release, in this order."""
    release = mv.protect(people, method="k-noise", k=25, attributes=["AGE"], seed=1)
    assessment = mv.assess(people, release.data, ["AGE"], k=25)
    (row,) = rows_of(read(custodian_report(release, people, assessment)), "neighbours-table")[1:]
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
        (row,) = rows_of(read(custodian_report(release, people)), "odds-table")[1:]
        assert (row[2] == "unbounded: some category is certain") is certain


def test_a_bin_holds_what_lies_from_its_one_end_through_the_other(demonstrated, people):
    """Of whole numbers both ends belong to it, and the next begins one above."""
    release, assessment = demonstrated["idp-cbls"]
    root = read(custodian_report(release, people, assessment))
    rows = rows_of(root, "a0h-table")
    assert rows[0] == ["from", "through", "original", "protected"]
    closed = [row for row in rows[1:] if row[1]]
    for row in closed:
        low, high = int(row[0]), int(row[1])
        for cell, table in zip(row[2:], (people, release.data), strict=True):
            ages = table["AGE"].to_numpy()
            assert cell == percent(float(np.mean((ages >= low) & (ages <= high))))
    for before, after in itertools.pairwise(closed):
        assert int(after[0]) == int(before[1]) + 1
    (told,) = (node.text for node in root.all("desc") if node.attributes["id"].startswith("a0h"))
    for place, side in enumerate(rows[0][2:], start=2):
        fullest = max((row[place] for row in closed), key=float)
        assert f"In the {side} the fullest bin holds {fullest} % of the records" in told


def test_missing_values_are_told_as_a_share(hostile):
    """18 of 120 are 15 %."""
    table, release = hostile
    assert table["MISSING"].null_count() == 18
    for html in (custodian_report(release, table), publishable_report(release)):
        told = [node.text for node in read(html).all("p") if "values are missing" in node.text]
        assert told == ["15 % of the values are missing."]


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
    """Without a common order there is no picture of ranks, no loss and no linkage."""
    text = read(pages["shuffled"]).text
    for words in ("Ranks; Spearman's correlation", "Spearman's rank correlation is"):
        assert words in read(pages["custodian"]).text
        assert words not in text
    assert "random order" in text
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
        "text": ("page", "raised", "p1", "p2", "p3", "p4", "m1", "m2", "m3", "m4"),
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
