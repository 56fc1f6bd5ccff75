"""The commit that publishes a candidate."""

from openlaketx.publish.commit import commit_publish

__all__ = ["commit_publish"]
