"""Failures have one line of bounded length, and whether to retry."""

from __future__ import annotations

import pytest

from lakeguard_sdk.errors import BuildFailed, TableBusy
from lakeguard_sdk.model.run import Failure
from openlaketx.pipeline.failures import failure_of


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("\n  \nfirst\nsecond"), Failure(code="LG-0000", message="ValueError: first")),
        (ValueError(), Failure(code="LG-0000", message="ValueError")),
        (
            TableBusy(dataset="bronze.orders", holder="run_9"),
            Failure(
                code="LG-4001",
                message=str(TableBusy(dataset="bronze.orders", holder="run_9")),
                retryable=True,
            ),
        ),
    ],
)
def test_an_error_is_told_in_one_line(error: Exception, expected: Failure) -> None:
    assert failure_of(error) == expected


@pytest.mark.parametrize(
    "error", [ValueError("x" * 9_000), BuildFailed(dataset="bronze.orders", reason="x" * 9_000)]
)
def test_no_message_is_endless(error: Exception) -> None:
    assert len(failure_of(error).message) == 500
