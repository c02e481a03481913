"""The house: what stands at its root, and that no module imports itself by others."""

import ast
import graphlib
from pathlib import Path

import pytest

import microveil as mv

SOURCE = Path(mv.__file__).parent
MODULES = {
    ".".join(("microveil", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(
        ".__init__"
    ): path
    for path in SOURCE.rglob("*.py")
}


def imports_of(tree):
    """Modules of ours that are imported anywhere, in functions too; not those for types alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("microveil"):
            for name in node.names:
                full = f"{node.module}.{name.name}"
                yield full if full in MODULES else node.module
        yield from imports_of(node)


def graph_of(sources):
    return {
        name: {found for found in imports_of(ast.parse(source)) if found != name}
        for name, source in sources.items()
    }


def test_at_the_root_stands_the_ground_floor_alone():
    """What has no policy, what every room shares, and the two ways in."""
    modules = {path.stem for path in SOURCE.glob("*.py")}
    assert modules == {"errors", "schema", "__init__", "__main__"}


def test_no_module_imports_itself_by_others():
    """The modules stand in an order in which each imports earlier ones alone."""
    sources = {name: path.read_text("utf-8") for name, path in MODULES.items()}
    order = list(graphlib.TopologicalSorter(graph_of(sources)).static_order())
    assert set(order) >= set(MODULES)


def test_a_circle_is_found():
    """The look for circles can fail, for one that is closed in a function too."""
    one, two = "microveil.schema", "microveil.errors"
    sources = {one: f"from {two} import a", two: f"def f():\n    from {one} import b"}
    with pytest.raises(graphlib.CycleError):
        list(graphlib.TopologicalSorter(graph_of(sources)).static_order())


def test_tests_are_collected_with_the_test_extra_alone():
    """Libraries of other extras are imported where a test of theirs runs, by no module of tests."""
    others = {"pyspark", "playwright", "axe_playwright_python", "mkdocs", "matplotlib"}
    found = {
        (path.name, name)
        for path in Path(__file__).parents[1].rglob("*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in [getattr(node, "module", None) or node.names[0].name]
        if name.split(".")[0] in others
    }
    assert found == set()
