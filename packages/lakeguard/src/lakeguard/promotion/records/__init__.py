"""Ends of runs, pointer moves and what a version was built from."""
