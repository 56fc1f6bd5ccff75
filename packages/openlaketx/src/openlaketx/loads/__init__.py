"""How a batch becomes part of a table: files added and files removed, against its base."""

from openlaketx.loads.apply import apply_load, merges
from openlaketx.loads.existing import Existing
from openlaketx.loads.loaded import Loaded
from openlaketx.loads.positions import new_position
from openlaketx.loads.sifting import Sifted, carries_time
from openlaketx.loads.windowed import refuse_emptied_window

__all__ = [
    "Existing",
    "Loaded",
    "Sifted",
    "apply_load",
    "carries_time",
    "merges",
    "new_position",
    "refuse_emptied_window",
]
