"""Differences between runs and between profiles."""
