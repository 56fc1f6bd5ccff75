"""The corridor: one run from its plan to its result."""

from openlaketx.jobs.run_dataset import run_dataset

__all__ = ["run_dataset"]
