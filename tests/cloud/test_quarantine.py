"""Cases of the suites of quarantine that touch its files and tables, with a lake in S3."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.quarantine.test_quarantine import (  # noqa: F401 - the same suite
    test_a_replay_makes_no_row_younger,
    test_a_rollback_undoes_what_was_quarantined_later,
    test_files_are_looked_at_before_they_are_believed,
    test_quarantined_rows_can_be_looked_at,
    test_what_is_quarantined_waits_once_it_is_published,
    test_what_reads_everything_anew_replaces_what_waited,
)
from tests.contract.quarantine.test_quarantine_races import (  # noqa: F401 - the same suite
    test_rows_are_replayed_or_discarded,
)
from tests.contract.quarantine.test_quarantine_replays import (  # noqa: F401 - the same suite
    test_a_replay_reads_what_waits_and_adds_to_the_table,
    test_a_rollback_undoes_a_replay,
    test_what_fails_again_waits_again,
    test_what_is_discarded_says_who_and_why,
)
from tests.contract.quarantine.test_quarantine_tables import (  # noqa: F401 - the same suite
    test_a_crash_leaves_nothing_that_the_next_command_does_not_do,
    test_a_rebuilt_state_knows_what_waits,
    test_maintenance_leaves_what_waits_or_may_wait_again,
    test_verify_tells_of_a_file_that_is_gone_or_not_what_it_was,
    test_verify_tells_of_a_table_that_shows_something_else,
    test_what_no_version_needs_any_more_goes,
)


@pytest.fixture
def tmp_path(served: Path) -> Path:
    return served
