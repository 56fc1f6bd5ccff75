"""Measures of versions that are published already. No Spark starts."""

from openlaketx.survey.survey import survey

__all__ = ["survey"]
