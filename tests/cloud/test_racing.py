"""Publishers that race from processes of their own on one table in S3."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.test_racing import (  # noqa: F401 - the same suite
    test_publishers_exclude_each_other_and_lose_nothing,
)


@pytest.fixture
def tmp_path(served: Path) -> Path:
    return served
