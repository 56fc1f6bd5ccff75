"""Invalidations and catching up with them."""
