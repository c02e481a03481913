"""The papers that can be reproduced."""

from microveil.reproduce.idp2025 import IDP_2025
from microveil.reproduce.kanon2013 import KANON_2013
from microveil.reproduce.knoise import KNOISE
from microveil.reproduce.paper import Paper
from microveil.reproduce.record2018 import RECORD_2018

__all__ = ["PAPERS"]

PAPERS: dict[str, Paper] = {
    paper.id: paper for paper in (IDP_2025, KANON_2013, KNOISE, RECORD_2018)
}
