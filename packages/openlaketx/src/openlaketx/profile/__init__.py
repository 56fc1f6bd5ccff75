"""Profiles of published versions, taken from their files without Spark."""

from openlaketx.profile.sketches import merged
from openlaketx.profile.taking import profile_version

__all__ = ["merged", "profile_version"]
