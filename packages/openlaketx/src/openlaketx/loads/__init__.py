"""Load types: the files to add and remove, relative to the base of the run."""

from openlaketx.loads.apply import apply_load, merges
from openlaketx.loads.load_result import Loaded, SplitBatch, carries_time
from openlaketx.loads.positions import new_position
from openlaketx.loads.table_state import Existing, check_base
from openlaketx.loads.window_load import refuse_emptied_window

__all__ = [
    "Existing",
    "Loaded",
    "SplitBatch",
    "apply_load",
    "carries_time",
    "check_base",
    "merges",
    "new_position",
    "refuse_emptied_window",
]
