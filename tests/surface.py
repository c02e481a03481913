"""What users can name: attributes, arguments, flags, formats; each with a test that holds it.

`tests/surface.json` has a line for each: "code" of what `of_the_code` finds, "features" of files by
hand. A line that goes moves to "gone", with the words of CHANGELOG.md or docs/upgrading.md that say
so; "ever" counts all lines that there were. `python -m surface` says which lines are missing, and
which name no test but that of their name.
"""

import functools
import inspect
import json
import re
import tempfile
from pathlib import Path

import numpy as np

import microveil as mv
from command import run

HERE = Path(__file__).parent
FILE = HERE / "surface.json"


def listed():
    """Read the lists: what the code says by itself, features of files, and what is gone."""
    return json.loads(FILE.read_text("utf-8"))


@functools.cache
def of_the_code():
    """Name what a user meets, as Python, the command line and its messages say it."""
    return {*_python(), *_flags(), *_methods_and_formats()}


def _python():
    for name in mv.__all__:
        thing = getattr(mv, name)
        yield name
        if inspect.isclass(thing):
            own = {a for a in dir(thing) if not a.startswith("_")} - {*dir(Exception)}
            for attribute in own:
                yield f"{name}.{attribute}"
                yield from _arguments(f"{name}.{attribute}", getattr(thing, attribute))
        elif inspect.ismodule(thing):
            for inner in thing.__all__:
                yield f"{name}.{inner}"
                yield from _arguments(f"{name}.{inner}", getattr(thing, inner))
        else:
            yield from _arguments(name, thing)


def _arguments(name, thing):
    """Name what a function takes; what `protect` takes is named once, and by the others as that."""
    if not (inspect.isfunction(thing) or inspect.ismethod(thing)):
        return
    taken = {**inspect.signature(thing).parameters}
    taken.pop("self", None)
    shared = {*inspect.signature(mv.plan).parameters} - {"table", "recipe"}
    if thing is not mv.protect and shared < {*taken}:
        yield f"{name}(**protect)"
        taken = {argument: one for argument, one in taken.items() if argument not in shared}
    for argument, parameter in taken.items():
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            yield f"{name}({argument})"
        elif thing is not mv.part:  # which takes those of registered methods besides
            yield f"{name}(**protect)"


def _flags():
    shown = functools.partial(run, folder=HERE, COLUMNS="200")
    top = shown("--help").stdout
    for command in ("", *re.findall(r"^  ([a-z]+)  ", top.partition("Commands:")[2], re.MULTILINE)):
        place = f"microveil {command}".rstrip()
        if command:
            yield place
        told = shown(*command.split(), "--help").stdout
        for line in re.findall(r"^  ((?:-\w, )?--[^<\s].*?)(?:  | <|$)", told, re.MULTILINE):
            flags = {*re.findall(r"(?<!\w)--?[a-z][a-z-]*", line)} - {"--help"}
            yield from (f"{place} {flag}" for flag in flags)


def _methods_and_formats():
    yield from (f"method {method['id']}" for method in mv.methods())
    with tempfile.TemporaryDirectory() as folder:
        table = {"x": np.arange(4)}
        release = mv.protect(table, method="ranking", k=2, attributes="x")
        unknown = (
            ("reads", lambda: mv.read(Path(folder, "t.unknown")), r"one of (.*?);"),
            ("writes", lambda: release.write(folder, format="unknown"), r"choose from (.*)\.$"),
            ("engine", lambda: mv.protect(table, engine="unknown"), r"one of (.*?);"),
        )
        for what, ask, words in unknown:
            try:
                ask()
            except mv.MicroveilError as error:
                found = re.search(words, str(error))
                yield from (f"{what} {one}" for one in re.split(r"[,\s]+", found[1]))


def has_test(test):
    """Whether there is a test of that id, `tests/unit/test_read.py::test_name`."""
    path, _, name = test.partition("::")
    file = HERE.parent / path
    return file.is_file() and f"\ndef {name}(" in file.read_text("utf-8")


if __name__ == "__main__":
    said, found = listed(), of_the_code()
    for entry in sorted(found ^ {*said["code"]}):
        print("no line:" if entry in found else "not in the code:", entry)  # noqa: T201
    for entry, test in {**said["code"], **said["features"]}.items():
        if not has_test(test) or test.startswith("tests/test_surface.py"):
            print("no test:", entry, test)  # noqa: T201
    lines = sum(len(said[part]) for part in ("code", "features", "gone"))
    print(f"{lines} lines, ever {said['ever']}")  # noqa: T201
