"""Staging: data files under the table's root that no commit references yet."""

from openlaketx.stage.candidate import Candidate
from openlaketx.stage.stage import seal, stage, write_files, write_kinds

__all__ = ["Candidate", "seal", "stage", "write_files", "write_kinds"]
