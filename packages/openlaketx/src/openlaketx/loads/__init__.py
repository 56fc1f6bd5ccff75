"""Load types: the files to add and remove, relative to the base of the run."""

from openlaketx.loads.apply import apply_load
from openlaketx.loads.load_result import Loaded, SplitBatch, carries_time
from openlaketx.loads.positions import new_position
from openlaketx.loads.staged_batch import StagedBatch, collect_batch, merges, stage_batch
from openlaketx.loads.table_state import Existing, check_base
from openlaketx.loads.window_load import refuse_emptied_window

__all__ = [
    "Existing",
    "Loaded",
    "SplitBatch",
    "StagedBatch",
    "apply_load",
    "carries_time",
    "check_base",
    "collect_batch",
    "merges",
    "new_position",
    "refuse_emptied_window",
    "stage_batch",
]
