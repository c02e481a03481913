"""A page as elements, for tests of what it says and where."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

from microveil.report import shell

__all__ = ["Node", "read", "rows_of", "table_of", "written"]

EMPTY = {"meta", "circle", "line", "path", "rect", "use", "br"}


@dataclass
class Node:
    tag: str
    attributes: dict
    children: list = field(default_factory=list)

    def all(self, *tags):
        """Return every element below this one, in order."""
        for child in self.children:
            if isinstance(child, Node):
                if not tags or child.tag in tags:
                    yield child
                yield from child.all(*tags)

    @property
    def text(self):
        return "".join(c if isinstance(c, str) else c.text for c in self.children)


class Reader(HTMLParser):
    """Reads a page into elements, and fails where one is not closed."""

    def __init__(self):
        super().__init__()
        self.root = Node("root", {})
        self.open = [self.root]

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs)
        node = Node(tag, dict(attrs))
        self.open[-1].children.append(node)
        if tag not in EMPTY:
            self.open.append(node)

    def handle_startendtag(self, tag, attrs):
        self.open[-1].children.append(Node(tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop().tag == tag

    def handle_data(self, data):
        self.open[-1].children.append(data)


def read(html):
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == [reader.root]
    return reader.root


def rows_of(root, identifier):
    """Return the cells of a table, row by row, the heads first."""
    (table,) = (t for t in root.all("table") if t.children[0].attributes.get("id") == identifier)
    return [[cell.text for cell in row.children] for row in table.all("tr")]


def table_of(root, head):
    """Return the cells of the table whose first head begins so, row by row, the heads first."""
    (table,) = (t for t in root.all("table") if next(t.all("th")).text.startswith(head))
    return [[cell.text for cell in row.all("th", "td")] for row in table.all("tr")]


def written(document):
    """Return a document as pages have it, charts by what they say, without space between tags."""
    template = shell._environment("microveil.report").get_template("blocks.html")
    module = template.make_module({"figure": lambda chart: chart.says})
    return re.sub(r"\s*\n\s*", "", f"{module.blocks(document.blocks, 2)}")
