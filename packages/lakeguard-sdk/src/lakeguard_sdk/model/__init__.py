"""Frozen models that the two planes exchange."""
