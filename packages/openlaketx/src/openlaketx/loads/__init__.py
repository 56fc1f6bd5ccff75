"""How a batch becomes part of a table: files added and files removed, against its base."""

from openlaketx.loads.apply import apply_load
from openlaketx.loads.loaded import Loaded
from openlaketx.loads.positions import new_position

__all__ = ["Loaded", "apply_load", "new_position"]
