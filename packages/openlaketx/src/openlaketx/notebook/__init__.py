"""The lake from a program of the user's, on a Spark session of theirs. Spark is imported by use."""

from openlaketx.notebook.connection import Connection, connect
from openlaketx.notebook.result import PublishResult

__all__ = ["Connection", "PublishResult", "connect"]
