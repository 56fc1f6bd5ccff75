"""Rebuilds past runs in a scratch folder and compares the rows."""

from openlaketx.rebuild.check_inputs import check_inputs
from openlaketx.rebuild.compare_rows import compare
from openlaketx.rebuild.scratch import Scratch, scratch_place
from openlaketx.rebuild.source_files import gather_source

__all__ = ["Scratch", "check_inputs", "compare", "gather_source", "scratch_place"]
