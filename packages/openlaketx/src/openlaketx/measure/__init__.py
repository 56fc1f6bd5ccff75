"""Measuring exactly the files that would be published, cheapest source first."""

from openlaketx.measure.drawing import Asked, draw_samples
from openlaketx.measure.how import How, how_to_measure
from openlaketx.measure.measured import Measured
from openlaketx.measure.references import referenced_rows
from openlaketx.measure.subject import Referenced, Subject
from openlaketx.measure.take import take_measures

__all__ = [
    "Asked",
    "How",
    "Measured",
    "Referenced",
    "Subject",
    "draw_samples",
    "how_to_measure",
    "referenced_rows",
    "take_measures",
]
