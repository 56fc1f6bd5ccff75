"""Differences between files and registry, and the revisions that apply them."""
