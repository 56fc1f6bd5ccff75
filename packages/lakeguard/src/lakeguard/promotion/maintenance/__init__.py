"""Retention, file removal and profiles."""
