"""What `make site` adds to the pages of docs: a reference of the names, the changelog, search.

mkdocs calls the functions named on_*. A warning of theirs fails the build, as every other does.
"""

import inspect
import json
import logging
import re
import shutil
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import microveil

ROOT = Path(__file__).parent.parent
SEARCH = ("sections.js", "search.js")  # in the order that pages load them
# What browsers fetch by themselves, of other hosts: in tags, in styles and in scripts.
FETCHED = re.compile(
    r"""<(?!a\b)[^>]*\b(?:src|srcset|href|data|action)=["']?\s*(?:https?:)?//"""
    r"""|@import|url\(\s*["']?(?:https?:)?//|\b(?:fetch|import|XMLHttpRequest|Worker)\b\s*\("""
)
LOG = logging.getLogger("mkdocs.hooks")

# Every public name has its place; one that has none, or is none, fails the build.
REFERENCE = {
    "protect": (
        "Protecting a table",
        "Verbs that plan and make a release, and what they are told.",
        ["protect", "plan", "part", "ordered", "methods"],
    ),
    "tables": (
        "Tables and domains",
        "Reading files with labels; domains read off a table, asked for by name.",
        [
            *("read", "LabelledTable", "invented_people"),
            *("bounds_from_data", "categories_from_data", "resolution_from_data"),
        ],
    ),
    "release": (
        "Releases and guarantees",
        "The values that the verbs return.",
        ["Release", "Guarantee", "Plan", "Part"],
    ),
    "examine": (
        "Examining a release",
        "What a release really guarantees, what it keeps, and what can be found in it.",
        [
            *("assess", "Assessment", "attack", "AttackReport", "audit", "Audit"),
            *("empirical_audit", "EmpiricalAudit", "advise", "Advice", "compare", "Comparison"),
        ],
    ),
    "partition": (
        "Partitions",
        "`microveil.partition`: clusters of records, over plain arrays.",
        ["partition"],
    ),
    "errors": (
        "Errors",
        "What is raised; no message holds a value of a table.",
        ["MicroveilError", "DataError", "FileError", "RequestError", "ExactCellsError"],
    ),
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made here."""
    placed = [name for _, _, names in REFERENCE.values() for name in names]
    for name in sorted({*placed} ^ {*microveil.__all__}):
        LOG.warning("site/hooks.py: %s is public or in REFERENCE, and not both", name)
    for place, (title, subject, names) in REFERENCE.items():
        text = f"# {title}\n\n{subject}\n\n" + "\n".join(_entries(names))
        files.append(File.generated(config, f"reference/{place}.md", content=text))
    files.append(File.generated(config, "changelog.md", content=_changelog()))
    return files


def _entries(names: list[str]) -> Iterator[str]:
    """Name each object where it is defined: the package itself loads names on demand."""
    for name in names:
        found = getattr(microveil, name)
        if inspect.ismodule(found):
            for inner in found.__all__:
                yield _entry(f"{found.__name__}.{inner}", getattr(found, inner))
        else:
            yield _entry(f"microveil.{name}", found)


def _entry(shown: str, found: Any) -> str:
    return f'::: {found.__module__}.{found.__qualname__}\n    options: {{heading: "{shown}"}}\n'


def _changelog() -> str:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    return text.replace("](docs/", "](")


class _Structure(HTMLParser):
    """How many of the elements there are that readers of Markdown take for one another."""

    COUNTED = ("h1", "h2", "h3", "li", "ol", "ul", "table", "tr", "pre", "code")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.counts = dict.fromkeys(self.COUNTED, 0)
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag in self.counts:
            self.counts[tag] += 1


def on_page_content(html: str, page: Page, **_: Any) -> str:
    """Hold a page to what CommonMark, as repositories show it, makes of the same text."""
    if "reference/" not in page.file.src_uri:
        common = _Structure(MarkdownIt().enable("table").render(page.markdown or "")).counts
        here = _Structure(html).counts
        for tag in [tag for tag in common if common[tag] != here[tag]]:
            LOG.warning(
                "%s: CommonMark has %d <%s>, the site %d: indent what is in a list by four "
                "spaces, and leave a line before a list or a table",
                *(page.file.src_uri, common[tag], tag, here[tag]),
            )
    html = html.replace("\n\n</code>", "\n</code>")
    return html.replace("<table>", '<div class="wide" tabindex="0"><table>').replace(
        "</table>", "</table></div>"
    )


def on_pre_build(config: MkDocsConfig) -> None:
    """Have pages load the search of the theme in place of the one that needs a server."""
    config.extra_javascript[:] = [*SEARCH]


def on_post_build(config: MkDocsConfig) -> None:
    """Write the index of the search as a script, which a page opened from a folder may load.

    Of a fetched file, or of a worker, browsers ask that a server sends it.
    """
    place = Path(config.site_dir) / "search" / "search_index.json"
    sections = [
        {"place": said["location"], "title": said["title"], "text": _one_line(said["text"])}
        for said in json.loads(place.read_text("utf-8"))["docs"]
        if "#" in said["location"]  # the others are whole pages, which the sections make up
    ]
    shutil.rmtree(place.parent)
    text = json.dumps(sections, ensure_ascii=False, separators=(",", ":"))
    (Path(config.site_dir) / SEARCH[0]).write_text(f"const SECTIONS = {text};\n", "utf-8")
    _ask_nobody_else(Path(config.site_dir))
    for unused in ("sitemap.xml", "sitemap.xml.gz", "objects.inv"):
        (Path(config.site_dir) / unused).unlink()  # they name an address that the site has not


def _ask_nobody_else(site: Path) -> None:
    """Warn of what a browser would fetch from another host; a link that is followed is none."""
    for place in sorted(site.rglob("*")):
        if place.suffix not in {".html", ".css", ".js"} or place.name == SEARCH[0]:
            continue
        text = place.read_text("utf-8")
        if FETCHED.search(re.sub(r"<a .*?>", "", text) if place.suffix == ".html" else text):
            LOG.warning("%s: asks another host for something", place.relative_to(site))


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", unescape(text)).strip()
