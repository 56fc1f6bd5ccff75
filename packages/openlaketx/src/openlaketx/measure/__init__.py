"""Measures exactly the files that would be published, from the cheapest source that is exact."""

from openlaketx.measure.engine_choice import How, how_to_measure
from openlaketx.measure.result import Measured
from openlaketx.measure.row_samples import SampleRequest, draw_samples
from openlaketx.measure.subject import Referenced, Subject, referenced_rows
from openlaketx.measure.take_measures import take_measures

__all__ = [
    "How",
    "Measured",
    "Referenced",
    "SampleRequest",
    "Subject",
    "draw_samples",
    "how_to_measure",
    "referenced_rows",
    "take_measures",
]
