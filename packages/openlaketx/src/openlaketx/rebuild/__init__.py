"""Building runs of the past again, in a place that nothing shows, and comparing the rows."""

from openlaketx.rebuild.comparing import compare
from openlaketx.rebuild.inputs import check_inputs
from openlaketx.rebuild.scratch import Scratch, scratch_place
from openlaketx.rebuild.source_files import gather_source

__all__ = ["Scratch", "check_inputs", "compare", "gather_source", "scratch_place"]
