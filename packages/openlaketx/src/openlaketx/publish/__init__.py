"""The one commit that makes a candidate visible."""

from openlaketx.publish.commit import commit_publish

__all__ = ["commit_publish"]
