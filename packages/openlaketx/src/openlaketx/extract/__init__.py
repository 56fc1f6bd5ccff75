"""From a source or from pinned inputs to a frame that nothing has computed yet."""

from openlaketx.extract.batch import Batch
from openlaketx.extract.builds.extract import extract
from openlaketx.extract.transform import transform

__all__ = ["Batch", "extract", "transform"]
