"""Conversion of source columns to the declared schema."""

from openlaketx.conform.accepted_rows import as_accepted
from openlaketx.conform.conform import conform, locate_misfits
from openlaketx.conform.typed_texts import with_typed_texts

__all__ = ["as_accepted", "conform", "locate_misfits", "with_typed_texts"]
