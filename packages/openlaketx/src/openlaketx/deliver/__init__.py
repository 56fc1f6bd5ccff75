"""Published versions as plain files, for readers that know no table format."""

from openlaketx.deliver.deliver import deliver_published

__all__ = ["deliver_published"]
