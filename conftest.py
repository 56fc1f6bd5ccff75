"""Fixtures that every suite may ask for, and how examples are found.

A run of the suites tells about a change: the same tree draws the same examples. Looking for new
ones is asked for: ``--hypothesis-profile=explore``, for example with ``make soak ARGS=…``. How long
an example takes says something about the machine, and decides nothing.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

_UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("steady", _UNTIMED, derandomize=True)
settings.register_profile("explore", _UNTIMED, derandomize=False)
settings.load_profile("steady")

pytest_plugins = ["tests.worlds.databases"]
