"""The papers' figures, drawn again from their experiments, and their claims, checked."""

from microveil.reproduce.papers import PAPERS
from microveil.reproduce.reproducing import named_files, reproduce, summary

__all__ = ["PAPERS", "named_files", "reproduce", "summary"]
