"""Measuring exactly the files that would be published, cheapest source first."""

from openlaketx.measure.measured import Measured
from openlaketx.measure.take import Subject, take_measures

__all__ = ["Measured", "Subject", "take_measures"]
