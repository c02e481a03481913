"""Formulas of disclosure risk; which of them are shown, and how, is declared in `measures`."""
