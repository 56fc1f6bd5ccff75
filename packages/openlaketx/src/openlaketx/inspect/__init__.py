"""Looking at files before there is a definition: format, columns, types, keys. No Spark starts."""

from openlaketx.inspect.look import look

__all__ = ["look"]
