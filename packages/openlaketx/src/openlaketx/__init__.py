"""Data plane. In a notebook: ``tx = openlaketx.connect(url)``; in a build: ``run.note``."""

from openlaketx import run
from openlaketx.notebook import Connection, PublishResult, connect

__all__ = ["Connection", "PublishResult", "connect", "run"]
