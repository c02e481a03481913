"""The papers' figures, drawn again from their experiments, and their claims, checked."""

from microveil_papers.papers import PAPERS
from microveil_papers.reproducing import reproduce

__all__ = ["PAPERS", "reproduce"]
