"""Repositories of metadata records."""
