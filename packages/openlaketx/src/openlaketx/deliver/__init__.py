"""Delivers published versions as plain files or live tables, for readers without Delta."""

from openlaketx.deliver.deliver import deliver_published

__all__ = ["deliver_published"]
