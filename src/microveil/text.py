"""Names and other text of a table, as they can be shown: on a terminal, in Markdown."""

import re

__all__ = ["in_markdown", "one_line", "readable"]

# What has a meaning in a line: an underscore not within a word, < only before a tag.
MARKS = re.compile(r"[\\`*|\[\]#~]|^>|<(?=[A-Za-z/!?])|&(?=#?\w)|(?<!\w)_|_(?!\w)")
# What begins a list, or underlines a heading, where a line begins with it.
STARTS = re.compile(r"((?<!\S)|^\d+(?=[.)]\s))([-+=]+(?!\S)|(?<=\d)[.)])")


def readable(text: str) -> str:
    r"""Replace what is not to be seen: controls, and marks that turn the direction of text.

    >>> readable("AGE\u202e\x00\n")
    'AGE�� '
    """
    return "".join(
        letter if letter.isprintable() else " " if letter.isspace() else "\ufffd" for letter in text
    )


def one_line(text: str) -> str:
    r"""Write text so that it is readable and has no line of its own.

    >>> one_line("AGE\n\n# of people")
    'AGE # of people'
    """
    return " ".join(readable(text).split())


def in_markdown(text: str) -> str:
    r"""Write text so that Markdown shows it as it is.

    >>> print(in_markdown("**AGE** | `x` of FED_TAX"))
    \*\*AGE\*\* \| \`x\` of FED_TAX
    """
    escaped = MARKS.sub(r"\\\g<0>", one_line(text))
    return STARTS.sub(r"\1\\\2", escaped)
