"""The papers that can be reproduced."""

from microveil.reproduce.idp2025 import IDP_2025
from microveil.reproduce.knoise import KNOISE
from microveil.reproduce.paper import Paper

__all__ = ["PAPERS"]

PAPERS: dict[str, Paper] = {paper.id: paper for paper in (IDP_2025, KNOISE)}
