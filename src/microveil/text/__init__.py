"""What is written for people, as values and in its forms; no words of any one report or command.

readable    names and other text of a table, so that they do nothing where they are shown
document    headings, paragraphs, lists and tables as a value, and that as Markdown
templates   documents from jinja2 templates
aligned     rows under each other, for a terminal
notebook    documents as a notebook shows them
figures     the one form of figures
"""

from microveil.text.aligned import aligned, wrapped
from microveil.text.readable import enumerated, listed, one_line, readable, shortened, typed

__all__ = [
    "aligned",
    "enumerated",
    "listed",
    "one_line",
    "readable",
    "shortened",
    "typed",
    "wrapped",
]
