"""Quarantined rows: recorded, replayed, shown as tables."""
