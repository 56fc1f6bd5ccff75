"""From a source or pinned inputs to a lazy DataFrame."""

from openlaketx.extract.batch import Batch, ProgramFrame, with_lineage
from openlaketx.extract.extract import extract
from openlaketx.extract.transform import transform

__all__ = ["Batch", "ProgramFrame", "extract", "transform", "with_lineage"]
