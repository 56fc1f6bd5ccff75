"""Cases of the suite of rebuilding, with the ledger in S3."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.ledger.test_rebuild import (  # noqa: F401 - the same suite
    lost,
    test_a_batch_that_never_became_whole_is_dropped,
    test_a_chain_that_is_not_the_one_of_the_owner_file_is_refused,
    test_a_damaged_ledger_is_not_believed,
    test_a_ledger_without_its_owner_file_is_rebuilt_and_never_written_over,
    test_an_empty_state_gets_everything_back,
    test_the_state_before_owns_the_lake_no_more,
    test_without_a_ledger_there_is_nothing_to_rebuild,
)


@pytest.fixture
def tmp_path(served: Path) -> Path:
    return served
