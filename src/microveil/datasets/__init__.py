"""Invented people, from seeded generators; nobody's data."""

from microveil.datasets.people import DOMAINS, REGIONS, RESOLUTIONS, invented_people

__all__ = ["DOMAINS", "REGIONS", "RESOLUTIONS", "invented_people"]
