"""Inspects source files before they have a definition: format, columns, types, keys; without
Spark."""

from openlaketx.source_inspection.inspect_source import inspect_source

__all__ = ["inspect_source"]
