"""From what a source has to what the dataset declares."""

from openlaketx.conform.conform import conform

__all__ = ["conform"]
