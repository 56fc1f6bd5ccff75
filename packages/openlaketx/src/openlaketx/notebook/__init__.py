"""Access to a lake from a user's program and Spark session. Spark is imported on first use."""

from openlaketx.notebook.connection import Connection, connect
from openlaketx.notebook.result import PublishResult

__all__ = ["Connection", "PublishResult", "connect"]
