"""The docs build as a site that asks nobody for anything, and what is wrong in them fails it."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import microveil as mv

pytestmark = pytest.mark.dist

ROOT = Path(__file__).parents[2]


def site(root):
    """Build the site of a copy of the project; return how that ended, and what it said."""
    command = ("-m", "mkdocs", "build", "--strict", "--config-file", root / "site" / "mkdocs.yml")
    return subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=root,
        env=os.environ | {"PYTHONWARNINGS": "default"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copy(tmp_path):
    """What the site is made of, to be spoiled."""
    for name in ("docs", "site"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "CHANGELOG.md", tmp_path)
    (tmp_path / "src").symlink_to(ROOT / "src")
    return tmp_path


def test_the_docs_build_without_a_warning_and_hold_every_page(copy):
    """Each page of docs, the public names, the changelog, and a search that needs no server."""
    done = site(copy)
    assert done.returncode == 0, done.stderr
    built = copy / "build" / "site"
    docs = copy / "docs"
    pages = {path.relative_to(docs).with_suffix(".html") for path in docs.rglob("*.md")}
    assert pages <= {path.relative_to(built) for path in built.rglob("*.html")}
    reference = "".join(p.read_text("utf-8") for p in (built / "reference").glob("*.html"))
    for name in {*mv.__all__} - {"partition"}:
        assert f"microveil.{name}\n" in re.sub(r"<[^>]*>", "\n", reference)
    sections = json.loads((built / "search" / "search_index.json").read_text("utf-8"))["docs"]
    searched = {"Glossary", "microveil.protect", "Synthetic data", "l-diversity and t-closeness"}
    assert searched <= {section["title"] for section in sections}
    assert (built / "search" / "search_index.js").exists()  # what a page of a folder reads
    assert not list(built.rglob("*.py"))


def test_what_is_wrong_in_a_page_fails_the_build(copy):
    """Links, anchors, lists read in two ways, pages that no menu leads to, and foreign pictures."""
    with (copy / "docs" / "noise.md").open("a") as page:
        page.write("\n[a page](nowhere.md), [a place](glossary.md#nowhere)\n")
        page.write("\n1. One\n  - of two\n")
        page.write('\n<img src="https://example.org/a.png" alt="a picture">\n')
    (copy / "docs" / "lost.md").write_text("# Lost\n")
    hooks = copy / "site" / "hooks.py"
    hooks.write_text(hooks.read_text().replace('"plan", "part"', '"part"'))
    done = site(copy)
    assert done.returncode == 1
    warnings = re.findall(r"^WARNING -  .*(?:\n  - .*)*", done.stderr, flags=re.MULTILINE)
    for warning in (
        "'nowhere.md', but the target is not found",
        "does not contain an anchor '#nowhere'",
        "noise.md: CommonMark has",
        "noise.html: asks another host for something",
        "- lost.md",
        "plan is public or in REFERENCE, and not both",
    ):
        assert any(warning in said for said in warnings), warning
