"""What is written for people: names as they can be shown, documents, tables of a terminal.

readable    names and other text of a table, so that they do nothing where they are shown
document    headings, paragraphs, lists and tables as a value, and that as Markdown
"""

from microveil.text.readable import one_line, readable

__all__ = ["one_line", "readable"]
