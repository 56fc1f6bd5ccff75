"""Measures exactly the files that would be published, from the cheapest source that is exact."""

from openlaketx.measure.engine_choice import MeasureOptions, measure_options, reads_table
from openlaketx.measure.result import Measured
from openlaketx.measure.row_samples import SampleRequest, draw_samples
from openlaketx.measure.subject import ReferencedRows, Subject, referenced_rows
from openlaketx.measure.take_measures import take_measures

__all__ = [
    "MeasureOptions",
    "Measured",
    "ReferencedRows",
    "SampleRequest",
    "Subject",
    "draw_samples",
    "measure_options",
    "reads_table",
    "referenced_rows",
    "take_measures",
]
