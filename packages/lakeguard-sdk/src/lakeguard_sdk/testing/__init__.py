"""Test support for projects: a temporary lake, and assertions on the ledger.

``lake`` is a pytest fixture. Names are imported lazily.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lakeguard_sdk.testing.assertions import (
        assert_blocked,
        assert_failed,
        assert_promoted,
        assert_quarantined,
        assert_warned,
    )
    from lakeguard_sdk.testing.lake import Lake
    from lakeguard_sdk.testing.published import (
        assert_lineage,
        assert_published,
        assert_rows,
        assert_versions,
    )

__all__ = [
    "Lake",
    "assert_blocked",
    "assert_failed",
    "assert_lineage",
    "assert_promoted",
    "assert_published",
    "assert_quarantined",
    "assert_rows",
    "assert_versions",
    "assert_warned",
]

_HOMES = {
    **dict.fromkeys(
        (
            "assert_blocked",
            "assert_failed",
            "assert_promoted",
            "assert_quarantined",
            "assert_warned",
        ),
        "assertions",
    ),
    **dict.fromkeys(
        ("assert_lineage", "assert_published", "assert_rows", "assert_versions"), "published"
    ),
    "Lake": "lake",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
