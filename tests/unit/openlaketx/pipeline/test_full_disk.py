"""A full disk is not blamed on the source that was being read."""

from __future__ import annotations

import errno

from lakeguard_sdk.errors import SourceUnreadable
from openlaketx.pipeline.failures import failure_of, full_disk


def blamed(reason: str) -> SourceUnreadable:
    return SourceUnreadable(source="orders", reason=reason, dataset="bronze.orders")


def test_a_full_disk_explains_what_it_caused() -> None:
    spark = blamed("java.io.IOException: No space left on device")
    disk = OSError(errno.ENOSPC, "No space left on device")
    wrapped = blamed("it could not be read")
    wrapped.__context__ = disk
    for error in (spark, disk, wrapped):
        found = full_disk(error, "bronze.orders")
        assert found is not None
        failure = failure_of(found)
        assert (failure.code, failure.retryable) == ("LG-5014", True)
        assert "orders could not be read" not in failure.message
    assert full_disk(blamed("line 2 has 1 field instead of 2"), "bronze.orders") is None
