"""Measures of versions that are published already. No Spark starts."""

from openlaketx.remeasure.remeasure import survey

__all__ = ["survey"]
