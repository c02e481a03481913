"""The command line as from a shell, in a pipe, but in this process: without its start-up."""

import contextlib
import functools
import io
import os
import sys
from dataclasses import dataclass
from unittest.mock import patch

import typer.main

from microveil.cli import main

# The commands are the same each time: they are made of the flags once for a process.
same_commands = functools.cache(typer.main.get_command)


@dataclass(frozen=True)
class Done:
    """What came of a command, by the names of `subprocess`."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments, folder, **environment):
    """Run microveil in a folder."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder),
        patch.object(sys, "argv", ["microveil", *map(str, arguments)]),
        # Else usage names the module that this process was started with (python -m).
        patch.object(sys.modules["__main__"], "__package__", None, create=True),
        patch.dict(os.environ, environment),
        patch.object(typer.main, "get_command", same_commands),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = ended.code or 0
    return Done(returncode=code, stdout=out.getvalue(), stderr=err.getvalue())
