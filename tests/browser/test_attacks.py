"""What is tried against the page in a browser: names, other pages, files that change, ends."""

import http.server
import json
import os
import signal
import threading
import time

import pytest

from page_server import eventually
from steward import Mouse, Page
from steward_way import begin, declare, draw, go_on, people, promise, way

pytestmark = pytest.mark.browser

NAMES = [
    "<img src=x onerror=\"document.title='taken'\">",
    "\"><script>document.title='taken'</script>",
    "</textarea></pre><iframe srcdoc=\"<script>top.document.title='taken'</script>\"></iframe>",
    "{{7*7}}{% include 'x' %}",
    "javascript:document.title='taken'",
    "\u202eright to left\u2066",
    "x" * 300,
    "two\nlines",
    "role-0",
    "' onfocus='alert(1)' autofocus='",
]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def test_names_of_columns_are_text_wherever_they_stand(tmp_path, opened):
    """Markup and script in names run nowhere, break nothing, and reach the release as they are."""
    lines = [",".join(map(quoted, NAMES))]
    lines += [",".join(str((7 * row + column) % 101) for column in range(len(NAMES)))
              for row in range(300)]  # fmt: skip
    (tmp_path / "people.csv").write_text("\n".join(lines), encoding="utf-8")
    shown = opened(tmp_path)
    page, steward = shown.page, Mouse(shown.page)
    page.on("dialog", lambda dialog: shown.troubles.append(dialog.message))
    bounded = {name: {"role": "confidential"} for name in NAMES}

    def holds(where):
        assert "taken" not in page.title(), where
        # What a chart holds is data, which no browser runs.
        runs = 'img[src=x], iframe, main script:not([type="application/json"])'
        assert not page.locator(runs).count(), where
        assert "49" not in page.inner_text("body").partition("{{7*7}}")[2][:2], where

    begin(steward)
    assert len(page.locator("table.grid tbody th").all()) == len(NAMES)
    holds("data")
    declare(steward, bounded)
    page.click("#column-0 a")
    page.fill("#lower", "x")
    page.click("text=Save this column")
    page.wait_for_selector("main .errors")
    holds("errors")
    steward.press("header nav >> text=Data")
    go_on(steward)
    promise(steward, scope="cluster", method="dp-synthetic", epsilon="5")
    holds("trade-off")
    page.wait_for_selector("#methods table")
    holds("methods")
    page.click("text=Look at the data >> nth=-1")
    page.wait_for_selector("#option-own, main .errors")
    holds("advice")
    draw(steward)
    holds("release")
    assert page.locator("main pre").first.is_visible()
    draft = page.url.rpartition("/")[0]
    for which in ("public", "custodian"):
        answer = page.goto(f"{draft}/documents/{which}")
        assert answer.status == 200
        assert "sandbox" in answer.headers["content-security-policy"]
        holds(which)
    assert not shown.troubles
    assert not shown.elsewhere
    promised = json.loads((tmp_path / "release" / "guarantee.json").read_text())
    assert set(promised["attributes"]) == set(NAMES)


FOREIGN = """<!doctype html><title>foreign</title><body>
<iframe id="framed" src="{own}"></iframe>
<iframe name="answer"></iframe>
<form id="form" method="post" target="answer" action="{own}">
<input name="table" value="people.csv"></form>
<script>
const got = [];
const say = (what) => got.push(what);
async function all() {{
  for (const mode of ["cors", "no-cors"]) for (const method of ["GET", "POST"]) {{
    try {{
      const given = {{mode, method, credentials: "include"}};
      if (method == "POST") given.body = new URLSearchParams({{table: "people.csv"}});
      const answer = await fetch("{own}", given);
      const text = await answer.text();
      if (text) say(mode + " " + method + ": " + text);
    }} catch (error) {{}}
  }}
  document.getElementById("form").submit();
  const image = new Image(); image.src = "{own}drafts/x/documents/picture";
  const opened = window.open("{own}");
  await new Promise(done => setTimeout(done, 2000));
  try {{ if (opened && opened.document.body.innerText) say("window: " + opened.document.title); }}
  catch (error) {{}}
  for (const frame of document.querySelectorAll("iframe")) {{
    try {{ const text = frame.contentDocument.body.innerText; if (text) say("frame: " + text); }}
    catch (error) {{}}
  }}
  document.title = "done";
  return got;
}}
</script>"""


@pytest.fixture
def foreign():
    """A page of somebody else on a port of this machine, with the text that it is given."""
    said = {"page": ""}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(said["page"].encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    said["port"] = server.server_address[1]
    yield said
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_foreign_page_gets_nothing(tmp_path, opened, foreign, host):
    """In the same browser: no form is taken, no answer read, nothing framed or handed over."""
    people(tmp_path / "people.csv", n_records=20)
    shown = opened(tmp_path)
    own = shown.page.url
    foreign["page"] = FOREIGN.format(own=own)
    other = shown.page.context.new_page()
    other.goto(f"http://{host}:{foreign['port']}/")
    answers = []
    other.on("response", lambda answer: answers.append((answer.request.method, answer.status)))
    assert other.evaluate("all()") == []
    # What it sent was refused, whatever it could read of it.
    assert answers
    assert all(status >= 400 for _, status in answers), answers
    for frame in other.frames[1:]:
        assert "Which table" not in frame.content()
    shown.page.reload()
    assert not shown.page.locator("text=Go on with").count()
    assert shown.page.locator("text=Take people.csv").count() == 1


def test_the_second_of_two_tabs_is_refused(tmp_path, opened):
    """What the first one saved stays, and the second says so."""
    people(tmp_path / "people.csv", n_records=50)
    first = opened(tmp_path).page
    begin(Mouse(first))
    second = first.context.new_page()
    second.goto(first.url)
    for page, least in ((first, "16"), (second, "99")):
        page.click("#column-3 a")
        page.fill("#lower", least)
        page.fill("#upper", "110")
    first.click("text=Save this column")
    first.wait_for_selector("text=16 to 110")
    with second.expect_response("**/column") as answer:
        second.click("text=Save this column")
    assert answer.value.status == 409
    assert "another tab" in second.inner_text("main")
    second.click("main p a")
    second.wait_for_selector("text=16 to 110")


def test_two_programs_do_not_disturb_each_other(tmp_path, browser, start):
    """In one browser, whose cookies know no ports, both pages stay open."""
    context = browser.new_context()
    pages = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        people(tmp_path / name / f"{name}.csv", n_records=50)
        shown = Page(context.new_page())
        shown.page.goto(start(tmp_path / name).opening)
        shown.page.wait_for_selector("header nav")
        pages.append(shown.page)
    for page, name in zip(pages, ("one", "two"), strict=True):
        page.reload()
        begin(Mouse(page), f"{name}.csv")
    context.close()


def left(folder):
    """What stands in a folder, hidden or not."""
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("change", ["gone", "another header", "another kind"])
def test_a_file_that_changes_meanwhile_is_refused(tmp_path, opened, change):
    """With a sentence of ours, and nothing half written."""
    folder = tmp_path / "tables"
    folder.mkdir()
    table = people(folder / "people.csv")
    steward = Mouse(opened(folder).page)
    for step in way(steward):
        if step == "4-trade-off":
            break
    steward.press("main a:text-is('Go on')")
    if change == "gone":
        table.unlink()
    elif change == "another header":
        table.write_text(table.read_text().replace("WAGE", "PAY", 1))
    else:
        table.write_text(table.read_text().replace(",North,", ",Nowhere,"))
    steward.press("main button:has-text('Draw and write')")
    page = steward.page
    page.wait_for_selector("main .errors")
    said = page.inner_text("main .errors")
    assert "This cannot be done" in said
    assert "Nowhere" not in said
    assert "error of our own" not in said
    assert left(folder) == ([] if change == "gone" else ["people.csv"])


def half_way(folder, opened, n_records=40_000):
    """Come to the release of a table that takes a while."""
    folder.mkdir()
    people(folder / "people.csv", n_records=n_records)
    page = opened(folder).page
    steward = Mouse(page)
    begin(steward)
    go_on(steward)
    promise(steward)
    page.click("header nav >> text=Release")
    return steward


def is_staged(folder):
    """Whether a release is being written."""
    return any(name.startswith(".release.") for name in left(folder))


@pytest.mark.parametrize("moment", ["drawing", "writing"])
def test_what_is_cancelled_is_there_whole_or_not_at_all(tmp_path, opened, moment):
    """In the middle of a draw nothing is left; of writing that, or all of it, and the page says."""
    folder = tmp_path / "tables"
    steward = half_way(folder, opened)
    page = steward.page
    cancel = page.locator("button:text-is('Cancel')")
    page.click("main button:has-text('Draw and write')")
    cancel.wait_for()
    if moment == "writing":
        eventually(lambda: is_staged(folder) or "release" in left(folder))
    if cancel.count():
        cancel.click()
    page.wait_for_selector("text=/It was cancelled|It was stopped too late|The guarantee/")
    said = page.inner_text("main")
    if "It was cancelled. Nothing was written." in said:
        assert left(folder) == ["people.csv"]
    else:
        assert moment == "writing"
        assert left(folder) == ["people.csv", "release", "release-custodian"]
        assert (folder / "release" / "guarantee.json").exists()
        assert (folder / "release-custodian" / "manifest.json").exists()


def test_a_program_that_is_killed_leaves_nothing(tmp_path, browser, start):
    """Its worker ends by itself, and writes no release."""
    folder = tmp_path / "tables"
    program = None

    def opened(where):
        nonlocal program
        program = start(where)
        shown = Page(browser.new_page())
        shown.page.goto(program.opening)
        shown.page.wait_for_selector("header nav")
        return shown

    steward = half_way(folder, opened)
    steward.press("main button:has-text('Draw and write')")
    steward.page.wait_for_selector(".work:has-text('Under way')")
    eventually(program.workers)
    os.kill(program.process.pid, signal.SIGKILL)
    eventually(lambda: not program.workers())
    time.sleep(1)
    assert left(folder) == ["people.csv"]
    steward.page.close()


def test_a_link_that_leads_out_is_no_table(tmp_path, opened):
    """It is neither listed nor opened by its path."""
    folder = tmp_path / "tables"
    folder.mkdir()
    people(tmp_path / "secret.csv", n_records=50)
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    page = opened(folder).page
    assert not page.locator("text=link.csv").count()
    for path in ("link.csv", "../secret.csv", f"{tmp_path / 'secret.csv'}"):
        if not page.locator("#table").is_visible():
            page.click("text=Another place, or a database")
        page.fill("#table", path)
        with page.expect_response("**/") as answer:
            page.click("text=Take this")
        assert answer.value.status == 422
        page.wait_for_selector("main .errors")
        assert "must" in page.inner_text("main .errors")
