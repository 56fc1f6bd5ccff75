"""The candidate: files written once, under the table's root, that nothing shows yet."""

from openlaketx.stage.candidate import Candidate
from openlaketx.stage.stage import make_durable, stage

__all__ = ["Candidate", "make_durable", "stage"]
