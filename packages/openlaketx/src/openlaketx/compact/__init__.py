"""Many small files rewritten as few, row by row the same."""

from openlaketx.compact.rewrite import rewrite

__all__ = ["rewrite"]
