"""Papers are reproduced: what is written, what is refused, and verdicts that follow from cases."""

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats
from typer.testing import CliRunner

from microveil.cli import app
from microveil.compare.store import opened
from microveil.errors import DataError, FileError, RequestError
from microveil.guarantee import Condition, Scope
from microveil.guarantee.condition import cluster_sizes, condition_of, noise_scales
from microveil_papers import PAPERS, drawing, reproduce, reproducing
from microveil_papers.command import named_files, summary
from microveil_papers.data import digest_of_column
from microveil_papers.estimates import Estimate, ratio_of
from microveil_papers.given import TITLE, given_in
from microveil_papers.page import reproduction_page
from microveil_papers.paper import (
    Case,
    Chart,
    Claim,
    DataSet,
    Figure,
    Listing,
    Paper,
    Reproduction,
    Series,
    Verdict,
)
from reproduced import check_conditions, rows_of


def claim(holding, text="The sky is <blue>.", section="1"):
    """A claim with a case to each letter: y holds, n does not."""
    cases = tuple(
        Case(where=f"case {i}", holds=letter == "y", measured="1")
        for i, letter in enumerate(holding)
    )
    return Claim(section=section, text=text, criterion="it is blue", cases=cases)


def invented(experiment):
    """A paper's experiment: the mean of a column, drawn again and again."""
    frame = experiment.tables["people"].frame
    experiment.progress("drawing", 1, 1)
    mean = float(frame["AGE"].mean())
    line = Series(
        name="a line", x=(3.0, 5.0), y=(mean, 2 * mean), low=(1.0, 2.0), high=(90.0, 99.0)
    )
    level = Series(name="a level", y=(mean,), low=(mean - 1,), high=(mean + 1,), mark="level")
    points = Series(name="points", x=(3.0, 4.0), y=(1.0, 2.0), mark="points")
    steps = Series(name="steps", x=(3.0, 4.0, 5.0), y=(1.0, 2.0), mark="steps")
    charts = tuple(
        Chart(
            title=f"chart {i}", series=s, x_title="k (records)", y_title="error", logarithmic=i < 1
        )
        for i, s in enumerate(((line, level), (line, points), (steps,)))
    )
    figure = Figure(
        identifier="figure-1", title="Figure 1: ages", caption="Ages & more.",
        charts=(charts[:2], charts[2:]), table=frame.head(2),
    )  # fmt: skip
    listing = Listing(
        identifier="means", title="Means", caption="Of ages", table=pl.DataFrame({"mean": [mean]})
    )
    return Reproduction(
        claims=(claim("y"), claim("yn"), claim("n")),
        figures=(figure,),
        listings=(listing,),
        settings={"runs in all": str(experiment.runs), "quick": str(experiment.quick)},
    )


PEOPLE = DataSet(name="people", title="people", published="https://example.org", columns=("AGE",))
INVENTED = Paper(
    id="invented",
    title="On ages",
    citation="Nobody, 2026.",
    data=(PEOPLE,),
    reproduce=invented,
    runs=7,
)


@pytest.fixture(autouse=True)
def _paper(monkeypatch):
    monkeypatch.setitem(PAPERS, "invented", INVENTED)


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    pl.DataFrame({"AGE": [20, 30, 40], "NAME": ["a", "b", "c"]}).write_csv(path)
    return path


@pytest.mark.parametrize(
    ("holding", "verdict"),
    [
        ("y", Verdict.HOLDS),
        ("yy", Verdict.HOLDS),
        ("ny", Verdict.IN_PART),
        ("nn", Verdict.FAILS),
    ],
)
def test_a_verdict_follows_from_the_cases(holding, verdict):
    """All cases: holds; some: in part; none: does not hold."""
    assert claim(holding).verdict is verdict


def test_everything_is_written(people, tmp_path):
    """Tables, pictures, claims and the page, with digests, for each figure."""
    told = []
    reproduce("invented", {"people": people}, tmp_path / "out", progress=lambda *t: told.append(t))
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == [
        "claims.csv", "figure-1.csv", "figure-1.png", "figure-1.svg", "means.csv", "report.html",
        "reproduction.json", "runs",
    ]  # fmt: skip
    assert told == [("drawing", 1, 1)]
    assert (tmp_path / "out" / "figure-1.png").read_bytes().startswith(b"\x89PNG")
    claims = pl.read_csv(tmp_path / "out" / "claims.csv")
    assert claims["verdict"].to_list() == [
        "holds", "holds in part", "holds in part", "does not hold",
    ]  # fmt: skip
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Of 3 claims of the paper" in page
    assert "1 holds, 1 holds in part, 1 does not hold" in page
    assert "The sky is &lt;blue&gt;." in page
    assert re.search(r"SHA-256 [0-9a-f]{64}", page)


def test_equal_runs_write_equal_files(people, tmp_path):
    """Nothing written hangs on the time, but for the page's line that says how long it took."""
    for name in ("one", "two"):
        reproduce("invented", {"people": people}, tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        if path.is_file():
            first, second = path.read_bytes(), (tmp_path / "two" / path.name).read_bytes()
            if path.name == "report.html":
                first, second = (re.sub(rb"\d+ s \(kept", b"s (kept", t) for t in (first, second))
            assert first == second, path.name


def test_the_page_refers_to_nothing_outside_and_names_things_once(people, tmp_path):
    """No request can leave the page; identifiers are its own; colours follow the scheme."""
    reproduce("invented", {"people": people}, tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    identifiers = re.findall(r'\bid="([^"]+)"', page)
    assert len(identifiers) == len(set(identifiers))
    wanted = set(re.findall(r'(?:href="#|url\(#)([^")]+)', page))
    assert wanted <= {*identifiers}
    assert not re.search(r'(?:src|href)="(?!#)', page)
    drawn = page[page.index('id="figure-1"') :]
    assert not re.search(r"#0072b2|#d55e00|#1a1c1f|<style|<metadata", drawn)
    assert "var(--s0)" in drawn
    assert drawn.count('role="img"') == 3


def test_quick_means_few_runs_and_a_warning(people, tmp_path):
    """The page warns; runs are the paper's, few, or those asked for."""
    cases = [
        ({}, "7"),
        ({"quick": True}, "2"),
        ({"quick": True, "runs": 4}, "4"),
        ({"runs": 1}, "1"),
    ]
    for number, (asked, runs) in enumerate(cases):
        folder = tmp_path / str(number)
        found = reproduce("invented", {"people": people}, folder, **asked)
        assert found.settings["runs in all"] == runs
        page = (folder / "report.html").read_text(encoding="utf-8")
        assert ("Made with --quick" in page) is asked.get("quick", False)


def test_fewer_runs_than_the_papers_are_told(people, tmp_path):
    """One run says nothing of the spread; a few say less than the paper's."""
    for runs, told in ((1, "One run says nothing"), (3, "3 runs instead of 7"), (7, None)):
        reproduce("invented", {"people": people}, tmp_path / str(runs), runs=runs)
        page = (tmp_path / str(runs) / "report.html").read_text(encoding="utf-8")
        assert told is None or told in page
        assert ('class="warning"' in page) is (told is not None)


def test_values_that_are_not_the_published_ones_are_told(people, tmp_path, monkeypatch):
    """Any file with the columns is taken; the page names those that differ."""
    column = pl.read_csv(people)["AGE"]
    for digest, differs in ((digest_of_column(column), False), ("another", True)):
        known = replace(PEOPLE, values={"AGE": digest})
        monkeypatch.setitem(PAPERS, "invented", replace(INVENTED, data=(known,)))
        folder = tmp_path / digest
        reproduce("invented", {"people": people}, folder)
        page = (folder / "report.html").read_text(encoding="utf-8")
        assert ("are not those that were published: AGE." in page) is differs


def test_a_folder_holds_one_paper(people, tmp_path, monkeypatch):
    """Neither another paper's folder nor anybody's files are written over."""
    monkeypatch.setitem(PAPERS, "other", replace(INVENTED, id="other"))
    out = tmp_path / "out"
    reproduce("invented", {"people": people}, out)
    before = {path: path.read_bytes() for path in out.iterdir() if path.is_file()}
    with pytest.raises(FileError, match="a reproduction of other, and holds something else"):
        reproduce("other", {"people": people}, out)
    assert {path: path.read_bytes() for path in out.iterdir() if path.is_file()} == before
    reproduce("invented", {"people": people}, out)
    with pytest.raises(FileError, match="holds something else"):
        reproduce("invented", {"people": people}, tmp_path)
    assert not (tmp_path / "runs").exists()


def test_what_an_experiment_refuses_leaves_nothing(people, tmp_path, monkeypatch):
    """And the remedy is one that this command has."""

    def refuse(_experiment):
        raise DataError("attribute 'AGE'", "it is constant", "add --bounds AGE=0:1")

    monkeypatch.setitem(PAPERS, "invented", replace(INVENTED, reproduce=refuse))
    with pytest.raises(DataError, match=r"'AGE': it is constant; pass the files as published"):
        reproduce("invented", {"people": people}, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("first", "then", "differs"),
    [
        ({"runs": 1}, {"runs": 2}, "its number of runs"),
        ({"runs": 2}, {"runs": 2, "quick": True}, r"its settings \(--quick\);"),
        ({}, {"quick": True}, r"its number of runs \(--runs\) and its settings"),
    ],
)
def test_other_arguments_do_not_continue(people, tmp_path, first, then, differs):
    """The folder asked for is named, and what differs; nothing in it changes."""
    out = tmp_path / "out"
    reproduce("invented", {"people": people}, out, **first)
    before = {path: path.read_bytes() for path in out.iterdir() if path.is_file()}
    with pytest.raises(FileError, match=differs) as refused:
        reproduce("invented", {"people": people}, out, **then)
    assert refused.value.place == str(out)
    assert {path: path.read_bytes() for path in out.iterdir() if path.is_file()} == before
    reproduce("invented", {"people": people}, out, **first)


def test_other_data_do_not_continue(people, tmp_path):
    """A file of other contents is another reproduction."""
    reproduce("invented", {"people": people}, tmp_path / "out")
    people.write_text("AGE\n1\n2\n")
    with pytest.raises(FileError, match="differs in its data;"):
        reproduce("invented", {"people": people}, tmp_path / "out")


def of_a_comparison(experiment):
    """A paper's experiment that keeps its runs as a comparison."""
    folder = experiment.folder / "r5" / "runs"
    folder.parent.mkdir(exist_ok=True)
    with opened(folder, {"runs": experiment.runs}):
        return invented(experiment)


def test_a_folder_that_notes_its_paper_alone_is_continued(people, tmp_path, monkeypatch):
    """As an earlier version left it; where its runs are of other arguments it is named itself."""
    monkeypatch.setitem(PAPERS, "invented", replace(INVENTED, reproduce=of_a_comparison))
    out = tmp_path / "out"
    reproduce("invented", {"people": people}, out, runs=1)
    (out / "reproduction.json").write_text('{"paper": "invented"}\n')
    reproduce("invented", {"people": people}, out, runs=1)
    with pytest.raises(FileError, match="differs in its number of runs") as refused:
        reproduce("invented", {"people": people}, out, runs=2)
    assert refused.value.place == str(out)
    reproduce("invented", {"people": people}, out, runs=1)


@pytest.mark.parametrize("was_there", [False, True])
def test_wrong_data_leave_nothing_that_was_begun(people, tmp_path, monkeypatch, was_there):
    """Not even runs from before the refusal; the right data can be passed then."""

    def refuse(experiment):
        of_a_comparison(experiment)
        raise DataError("attribute 'AGE'", "it is constant", "pass another")

    out = tmp_path / "out"
    if was_there:
        out.mkdir()
    monkeypatch.setitem(PAPERS, "invented", replace(INVENTED, reproduce=refuse))
    with pytest.raises(DataError):
        reproduce("invented", {"people": people}, out)
    assert out.exists() is was_there
    assert not was_there or not list(out.iterdir())
    people.write_text("AGE\n1\n2\n")
    monkeypatch.setitem(PAPERS, "invented", INVENTED)
    reproduce("invented", {"people": people}, out)


def test_claims_without_cases_cannot_be():
    """They would hold."""
    with pytest.raises(ValueError, match="without a case"):
        Claim(section="1", text="", criterion="", cases=())


@pytest.mark.parametrize("runs", [0, -1, 1.5, "3", True])
def test_runs_are_whole_and_positive(people, tmp_path, runs):
    """Anything else is refused, and nothing written."""
    with pytest.raises(RequestError, match="runs"):
        reproduce("invented", {"people": people}, tmp_path / "out", runs=runs)
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_reproduced_is_said(people, tmp_path):
    """Unknown papers and data, missing data and columns, columns of text."""
    out = tmp_path / "out"
    with pytest.raises(RequestError, match=r"no such paper here; choose from .*idp-2025"):
        reproduce("idp-1999", {}, out)
    with pytest.raises(RequestError, match=r"data 'people'.*published at https://example\.org"):
        reproduce("invented", {}, out)
    with pytest.raises(RequestError, match=r"data 'wine'.*--data for people"):
        reproduce("invented", {"people": people, "wine": people}, out)
    with pytest.raises(FileError):
        reproduce("invented", {"people": tmp_path / "none.csv"}, out)
    for content in ("WEIGHT\n1\n2\n", "AGE\nx\ny\n", "AGE,B\n1,2\n,3\n"):
        people.write_text(content)
        with pytest.raises(DataError, match="column 'AGE'"):
            reproduce("invented", {"people": people}, out)
    assert not out.exists()


def test_files_with_semicolons_are_read_untold(people, tmp_path):
    """As the wines are published."""
    people.write_text('"AGE";"NAME"\n20;"a"\n30;"b, c"\n')
    found = reproduce("invented", {"people": people}, tmp_path / "out")
    assert found.listings[0].table["mean"].to_list() == [25.0]


def test_a_folder_that_is_a_file_is_refused(people):
    """With the place and a remedy."""
    with pytest.raises(FileError, match="name another folder"):
        reproduce("invented", {"people": people}, people)


def test_drawing_leaves_matplotlib_as_it_was(people, tmp_path):
    """A notebook's settings are not touched."""
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    reproduce("invented", {"people": people}, tmp_path / "out")
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("given", ["people", "=a.csv", "people="])
def test_data_are_given_as_a_name_and_a_file(given):
    """Else the flag's form is said."""
    with pytest.raises(RequestError, match="write NAME=FILE"):
        named_files([given])


def test_data_are_given_once():
    """A data set cannot be two files."""
    with pytest.raises(RequestError, match="given twice"):
        named_files(["people=a.csv", "people=b.csv"])


def test_the_command_prints_verdicts_and_the_page(people, tmp_path):
    """A line to a claim, counts, and where the page is."""
    asked = ["reproduce", "invented", "--data", f"people={people}", "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    assert "3 claims: 1 holds, 1 holds in part, 1 does not hold." in done.output
    assert str(tmp_path / "out" / "report.html") in done.output


def test_the_summary_has_a_line_to_a_claim():
    """With its verdict and section."""
    found = Reproduction(claims=(claim("y"), claim("n")), figures=(), settings={})
    lines = summary(found).splitlines()
    assert lines[0].split() == ["holds", "1", "The", "sky", "is", "<blue>."]
    assert lines[-1] == "2 claims: 1 holds, 0 holds in part, 1 does not hold."


def test_claims_of_equal_words_keep_their_own_place():
    """Each verdict of the table leads to the claim it is of."""
    found = Reproduction(
        claims=(claim("y"), claim("y", section="2")), figures=(), settings={"a": "b"}
    )
    page = reproduction_page(INVENTED, found, {}, ())
    assert page.count('id="claim-1"') == page.count('id="claim-2"') == 1


def test_the_page_tells_each_case_and_each_verdict_as_it_is():
    """Yes where a case holds, no where not; signs and counts follow the cases."""
    found = Reproduction(
        claims=(claim("y"), claim("yn"), claim("nn")), figures=(), settings={"a": "b"}
    )
    page = reproduction_page(INVENTED, found, {}, ())
    cases = re.findall(r'<th scope="row">case (\d)</th><td class="words">(\w+)</td>', page)
    assert cases == [("0", "yes"), ("0", "yes"), ("1", "no"), ("0", "no"), ("1", "no")]
    verdicts = re.findall(r'<strong><span aria-hidden="true">(.)</span> ([^<]*)</strong>', page)
    assert verdicts == [
        ("\u2713", "holds"),
        ("\u25d0", "holds in part (1 of 2 cases)"),
        ("\u2717", "does not hold (0 of 2 cases)"),
    ]


WEATHER = Condition(
    id="weather",
    short="the weather & the tide",
    text="The weather is taken to be the same for the table and its neighbours.",
    scopes=(Scope.VECTOR, Scope.ROW),
)


def cell(*conditions, name="a-method", scope="vector", model="idp", epsilon=1.0):
    """A cell of a comparison, as far as it says what its epsilon hangs on."""
    entries = [condition.to_dict() for condition in conditions]
    return {"name": name, "epsilon": epsilon, "model": model, "scope": scope, "conditions": entries}


def test_conditions_of_any_method_reach_the_page():
    """Also those that nobody here has heard of: by their clause, their scopes and their text."""
    kept = condition_of("kept-columns", names=["CITY"])
    rows = [
        cell(noise_scales(), WEATHER), cell(WEATHER, kept, scope="cluster"),
        cell(name="plain", scope="row", model="dp"),
        cell(cluster_sizes(), name="spends nothing", scope="none", epsilon=None),
    ]  # fmt: skip
    given = given_in(*(pl.DataFrame([row]) for row in rows))
    found = Reproduction(claims=(claim("y"),), figures=(), settings={"a": "b"}, given=given)
    page = reproduction_page(INVENTED, found, {}, ())
    held = {
        "a-method": {noise_scales(), WEATHER, kept},
        "plain": set(),
    }
    check_conditions(page, held)
    shown = {row[0]: row[1:3] for row in rows_of(page, "given-table")}
    assert shown == {
        "a-method": ["individual differential privacy (iDP)", "cluster scope"],
        "plain": ["differential privacy (DP)", "row scope"],
    }
    none = given_in(pl.DataFrame([cell(WEATHER), cell(WEATHER, scope="none")]))
    assert none[0].scope is None


def test_a_page_without_an_epsilon_has_nothing_to_take_as_given():
    """No empty section stands there."""
    found = Reproduction(claims=(claim("y"),), figures=(), settings={"a": "b"})
    assert TITLE not in reproduction_page(INVENTED, found, {}, ())


def test_a_ratio_over_k_has_students_interval_of_its_logarithm():
    """By scipy, of three ratios; one alone has no interval, and says nothing."""
    above = [Estimate(k=k, mean=mean, low=0, high=0) for k, mean in ((3, 2.0), (5, 6.0), (9, 20.0))]
    below = [Estimate(k=k, mean=mean, low=0, high=0) for k, mean in ((3, 1.0), (5, 2.0), (9, 4.0))]
    logs = np.log([2.0, 3.0, 5.0])
    low, high = stats.t.interval(0.95, 2, logs.mean(), stats.sem(logs))
    found = ratio_of(above, below)
    assert found.mean == pytest.approx(30 ** (1 / 3))
    assert (found.low, found.high) == pytest.approx((np.exp(low), np.exp(high)))
    single = ratio_of(above[:1], below[:1])
    assert (single.low, single.mean, single.high) == (0, pytest.approx(2), np.inf)


def test_the_page_is_written_last(people, tmp_path, monkeypatch):
    """Where the page is, everything that it speaks of is."""
    order = []
    whole = reproducing.written_whole
    for module in (reproducing, drawing):
        monkeypatch.setattr(
            module,
            "written_whole",
            lambda path, write: (order.append(path.name), whole(path, write)),
        )
    reproduce("invented", {"people": people}, tmp_path / "out")
    assert order[-1] == "report.html"
    assert len(order) == 7


def test_every_paper_says_what_it_needs():
    """Names, columns, and where the data are published."""
    for name, paper in PAPERS.items():
        assert name == paper.id
        assert paper.data
        for needed in paper.data:
            assert needed.columns
            assert "https://" in needed.published
    assert np.all([paper.quick_runs <= paper.runs for paper in PAPERS.values()])
