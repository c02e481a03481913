"""Attacks on a release, carried out as an intruder with partial knowledge would."""
