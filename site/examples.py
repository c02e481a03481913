"""Examples in docstrings are code, wherever in the text they stand."""

import re
from typing import Any

import griffe

# From a prompt to the next empty line, as doctest reads it, with its indentation.
EXAMPLE = re.compile(r"^([ ]*)>>> .*(?:\n[ ]*\S.*)*", flags=re.MULTILINE)


def fenced(text: str) -> str:
    r"""Put the examples of a docstring between fences of Markdown.

    >>> print(fenced("Add.\n\n>>> 1 + 1\n2\n\nEnd."))
    Add.
    <BLANKLINE>
    ```python
    >>> 1 + 1
    2
    ```
    <BLANKLINE>
    End.
    """
    return EXAMPLE.sub(lambda found: f"{found[1]}```python\n{found[0]}\n{found[1]}```", text)


class Examples(griffe.Extension):
    """Fences the examples of each object as it is read."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of an object, if it has one."""
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)
