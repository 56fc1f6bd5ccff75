"""Parsing and compiling rules."""
