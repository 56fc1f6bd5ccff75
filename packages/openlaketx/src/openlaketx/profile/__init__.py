"""Profiles of published versions, computed from their files without Spark."""

from openlaketx.profile.profile_version import profile_version
from openlaketx.profile.sketches import merged

__all__ = ["merged", "profile_version"]
