"""From what a source has to what the dataset declares."""

from openlaketx.conform.accepted_rows import as_accepted
from openlaketx.conform.conform import conform, telling_misfits

__all__ = ["as_accepted", "conform", "telling_misfits"]
