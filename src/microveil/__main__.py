"""`python -m microveil`: the command line."""

from microveil.cli import main

main()
