"""Fixtures that every suite may ask for, and how examples are found.

A run of the suites tells about a change: the same tree draws the same examples. ``quick`` draws
few of them (``make test``), ``steady`` more (``make soak``). More, and new ones, are asked for:
``make soak ARGS=--hypothesis-profile=whole``, or ``explore``. How long an example takes says
something about the machine, and decides nothing.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.support.examples import EXPLORED, QUICK, STEADY, WHOLE

_UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("quick", _UNTIMED, derandomize=True, max_examples=QUICK)
settings.register_profile("steady", _UNTIMED, derandomize=True, max_examples=STEADY)
settings.register_profile("whole", _UNTIMED, derandomize=True, max_examples=WHOLE)
settings.register_profile("explore", _UNTIMED, derandomize=False, max_examples=EXPLORED)
settings.load_profile("quick")

pytest_plugins = [
    "tests.support.databases.databases",
    "tests.support.projects.shell",
    "tests.support.tiers",
]
