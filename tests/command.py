"""The command line as from a shell, in a pipe, but in this process: without its start-up."""

import contextlib
import io
import os
import sys
from dataclasses import dataclass
from unittest.mock import patch

from microveil.cli import main


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
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = ended.code or 0
    return Done(returncode=code, stdout=out.getvalue(), stderr=err.getvalue())
