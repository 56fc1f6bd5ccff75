"""Errors of looking back: at versions, runs and decisions of the past."""

from __future__ import annotations

from lakeguard_sdk.errors import EngineError


class VersionUnreadable(EngineError):
    """Ask for a version that is still whole: what maintenance removed is gone for good."""

    code = "LG-5020"
    what = "{dataset}@v{version} cannot be read any more: {reason}"
    next_command = "lakeguard versions {dataset}"
