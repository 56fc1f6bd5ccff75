"""Fixtures that every suite may ask for, and how examples are found.

A run of the suites tells about a change: the same tree draws the same examples. Looking for new
ones is asked for: ``--hypothesis-profile=explore``, for example with ``make soak ARGS=…``.
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("steady", derandomize=True, print_blob=True)
settings.register_profile("explore", derandomize=False, print_blob=True)
settings.load_profile("steady")

pytest_plugins = ["tests.worlds.databases"]
