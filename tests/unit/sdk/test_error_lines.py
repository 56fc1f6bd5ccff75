"""One line about an error."""

from __future__ import annotations

import pytest

from lakeguard_sdk.error_lines import discreet_line, error_line
from lakeguard_sdk.errors import LakeGuardError, StateUnavailable

OURS = StateUnavailable(place="somewhere", reason="no route")


@pytest.mark.parametrize(
    ("error", "line", "discreet"),
    [
        (OURS, str(OURS), str(OURS)),
        (KeyError("job_1"), "KeyError: 'job_1'", "KeyError"),
        (OSError("no more room"), "OSError: no more room", "OSError"),
        (ValueError(), "ValueError", "ValueError"),
        (ValueError("\nfirst\nsecond"), "ValueError: first", "ValueError"),
    ],
)
def test_an_error_that_is_not_ours_has_its_type_before_it(
    error: Exception, line: str, discreet: str
) -> None:
    assert isinstance(error, LakeGuardError) is (error is OURS)
    assert error_line(error) == line
    assert discreet_line(error) == discreet
