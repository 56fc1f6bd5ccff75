"""Checks across definitions."""
