"""Exact noise, and the sensitivities and shifts that scale it; no method's choice of these."""
