"""Examples in docstrings are code, and verbs show the arguments that they declare elsewhere."""

import importlib
import inspect
import re
import typing
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

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Give a verb that takes declared arguments the signature that Python shows of it."""
        if any("takes" in str(one.value) for one in func.decorators):
            verb = getattr(importlib.import_module(func.module.path), func.name)
            func.parameters = griffe.Parameters(
                *map(_shown, inspect.signature(verb).parameters.values())
            )


def _shown(parameter: inspect.Parameter) -> griffe.Parameter:
    default = None if parameter.default is parameter.empty else repr(parameter.default)
    kind = griffe.ParameterKind(parameter.kind.description)
    said = "" if parameter.annotation is parameter.empty else _type(parameter.annotation)
    return griffe.Parameter(parameter.name, annotation=said, kind=kind, default=default)


def _type(annotation: Any) -> str:
    """Return a type as a reader would write it.

    >>> _type(typing.Union[int, typing.Literal["auto"], None])
    "int | Literal['auto'] | None"
    """
    written = annotation if isinstance(annotation, str) else None
    if written is None and typing.get_origin(annotation) is typing.Union:
        written = " | ".join(map(_type, typing.get_args(annotation)))
    if written is None:
        plain = isinstance(annotation, type) and not typing.get_args(annotation)
        written = annotation.__name__ if plain else str(annotation)
    return re.sub(r"\b(?:[a-z_]+\.)+", "", written).replace("NoneType", "None")
