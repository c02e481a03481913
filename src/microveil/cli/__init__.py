"""The command line: parse, call, print; what a command does is in `commands`."""

from microveil.cli.application import app, main

__all__ = ["app", "main"]
