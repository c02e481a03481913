"""The papers that can be reproduced."""

from microveil_papers.idp2025 import IDP_2025
from microveil_papers.kanon2013 import KANON_2013
from microveil_papers.knoise import KNOISE
from microveil_papers.paper import Paper
from microveil_papers.record2018 import RECORD_2018

__all__ = ["PAPERS"]

PAPERS: dict[str, Paper] = {
    paper.id: paper for paper in (IDP_2025, KANON_2013, KNOISE, RECORD_2018)
}
