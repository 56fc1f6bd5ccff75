"""From what a source has to what the dataset declares."""

from openlaketx.conform.accepted import as_accepted
from openlaketx.conform.conform import conform
from openlaketx.conform.misfits import telling_misfits

__all__ = ["as_accepted", "conform", "telling_misfits"]
