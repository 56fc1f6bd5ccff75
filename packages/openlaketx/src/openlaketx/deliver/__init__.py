"""Published versions as plain files or a live table, for readers that know no table format."""

from openlaketx.deliver.deliver import deliver_published

__all__ = ["deliver_published"]
