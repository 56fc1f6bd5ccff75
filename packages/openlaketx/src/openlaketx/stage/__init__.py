"""Staging: data files under the table's root that no commit references yet."""

from openlaketx.stage.candidate import Candidate
from openlaketx.stage.stage import FileMarks, in_background, seal, stage, write_files, write_kinds

__all__ = ["Candidate", "FileMarks", "in_background", "seal", "stage", "write_files", "write_kinds"]
