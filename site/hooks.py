"""What `make site` adds to the pages of docs: a reference of the names, and the changelog.

mkdocs calls the functions named on_*. A warning of theirs fails the build, as every other does.
"""

import inspect
import logging
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import typer
from markdown_it import MarkdownIt
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import microveil
from microveil.cli.application import app

ROOT = Path(__file__).parent.parent
# What browsers fetch by themselves, of other hosts: in tags and in styles. Of scripts the policy
# takes care, which stands in every page.
FETCHED = re.compile(
    r"""<(?!a\b)[^>]*\b(?:src|srcset|href|data|action)=["']?\s*(?:https?:)?//"""
    r"""|@import|url\(\s*["']?(?:https?:)?//"""
)
POLICY = 'http-equiv="Content-Security-Policy"'
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
    files.append(File.generated(config, "reference/commands.md", content=_commands()))
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


def _commands() -> str:
    """Return a page of all commands with their flags, as their help texts have them."""
    text = "# Commands\n\nThe same as `microveil COMMAND --help`.\n"
    for name, command in typer.main.get_command(app).commands.items():
        flags = [one for one in command.params if one.param_type_name == "option"]
        given = [one.metavar or one.name.upper() for one in command.params if one not in flags]
        text += f"\n## {name}\n\n{command.help}\n\n`{' '.join(['microveil', name, *given])}`\n\n"
        text += "| flag | what it does |\n|---|---|\n"
        for one in flags:
            written = ", ".join(f"`{flag}`" for flag in [*one.opts, *one.secondary_opts])
            text += f"| {written} | {(one.help or '').replace('|', '&#124;')} |\n"
    return text


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
    return html


def on_post_build(config: MkDocsConfig) -> None:
    """Hold every page to what keeps browsers from asking another host."""
    site = Path(config.site_dir)
    for place in sorted([*site.rglob("*.html"), *site.rglob("*.css")]):
        text = place.read_text("utf-8")
        is_page = place.suffix == ".html"
        if FETCHED.search(re.sub(r"<a .*?>", "", text) if is_page else text):
            LOG.warning("%s: asks another host for something", place.relative_to(site))
        if is_page and POLICY not in text:
            LOG.warning("%s: has no content policy", place.relative_to(site))
    for unused in ("sitemap.xml", "sitemap.xml.gz", "objects.inv"):
        (site / unused).unlink()  # they name an address that the site has not
