"""Cases of the suite of maintenance, with a lake in S3."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.promotion.test_maintenance import (  # noqa: F401 - the same suite
    test_a_compaction_that_changed_rows_is_found,
    test_a_dry_run_only_says_what_would_go,
    test_a_file_that_was_lost_is_told_from_one_that_was_removed,
    test_a_log_with_a_gap_is_left_alone,
    test_a_table_with_a_rogue_commit_is_left_alone,
    test_kept_versions_stay_whole,
    test_of_an_unknown_run_only_old_files_go,
    test_staging_of_an_ended_run_goes_after_the_inspection,
    test_what_a_published_run_did_not_publish_is_removed,
    test_what_was_merged_goes_and_the_version_stays,
)


@pytest.fixture
def tmp_path(served: Path) -> Path:
    return served
