"""Generators of the reference pages, run by ``make docs``."""
