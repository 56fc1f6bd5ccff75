"""Cases of the suite of adoption, with tables in S3."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.promotion.test_adoption import (  # noqa: F401 - the same suite
    test_a_commit_in_the_last_moment_fails_it_too,
    test_a_commit_of_somebody_else_after_it_was_measured_fails_it,
    test_a_table_whose_log_was_cleaned_up_is_adopted_all_the_same,
    test_its_one_commit_sets_properties_and_touches_no_file,
    test_then_it_is_governed_like_any_other,
    test_what_does_not_pass_says_why_and_the_table_is_as_it_was,
    test_what_passes_becomes_version_1_with_a_decision_behind_it,
)


@pytest.fixture
def tmp_path(served: Path) -> Path:
    return served
