"""What is written for people: names as they can be shown, documents, tables of a terminal.

readable    names and other text of a table, so that they do nothing where they are shown
document    headings, paragraphs, lists and tables as a value, and that as Markdown
templates   documents from jinja2 templates
aligned     rows under each other, for a terminal
"""

from microveil.text.aligned import aligned, wrapped
from microveil.text.readable import enumerated, listed, one_line, readable, shortened

__all__ = ["aligned", "enumerated", "listed", "one_line", "readable", "shortened", "wrapped"]
