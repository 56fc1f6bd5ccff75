"""Looking at files before there is a definition: format, columns, types, keys. No Spark starts."""

from openlaketx.source_inspection.inspect_source import look

__all__ = ["look"]
