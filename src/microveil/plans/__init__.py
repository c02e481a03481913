"""Plans of new tables."""
