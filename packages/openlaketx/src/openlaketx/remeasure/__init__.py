"""Takes measures of versions that are already published, without Spark."""

from openlaketx.remeasure.remeasure import remeasure

__all__ = ["remeasure"]
