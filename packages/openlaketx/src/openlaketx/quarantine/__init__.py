"""Quarantine: rows that fail a rule are removed from the staged files and stored separately."""

from openlaketx.quarantine.splitter import QuarantineSplitter

__all__ = ["QuarantineSplitter"]
