"""The clean name of a column: what a raw name of a source becomes in a dataset."""

from __future__ import annotations


def clean_column(text: str) -> str:
    """``Cell ID#`` as ``cell_id``: ``#`` is dropped, a blank becomes ``_``, all lower case."""
    return text.replace("#", "").strip().replace(" ", "_").lower()
