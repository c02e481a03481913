"""Formulas of information loss; which of them are shown, and how, is declared in `measures`."""
