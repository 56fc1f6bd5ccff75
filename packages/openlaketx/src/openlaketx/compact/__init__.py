"""Compaction: rewrites many small files as few, with the same rows."""

from openlaketx.compact.rewrite import rewrite

__all__ = ["rewrite"]
