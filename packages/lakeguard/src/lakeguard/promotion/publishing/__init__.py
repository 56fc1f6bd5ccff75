"""Moves: intent, completion, and what they record."""
