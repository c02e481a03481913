"""Invented people, from seeded generators; nobody's data."""

from microveil.datasets.invented import invented_people
from microveil.datasets.people import DOMAINS, REGIONS, RESOLUTIONS

__all__ = ["DOMAINS", "REGIONS", "RESOLUTIONS", "invented_people"]
