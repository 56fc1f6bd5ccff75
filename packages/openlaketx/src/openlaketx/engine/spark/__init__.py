"""Spark session, runtimes, types and errors."""
