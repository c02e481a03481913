"""The command line: parse, call, print."""

from microveil.cli.application import app, main

__all__ = ["app", "main"]
