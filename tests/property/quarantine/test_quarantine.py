"""Every row that was ever read is published, waits, is discarded or was malformed."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.property.quarantine.machine import QuarantineMachine
from tests.support.examples import examples


def _settings(count: int, steps: int) -> settings:
    return examples(
        count,
        quick=8,
        stateful_step_count=steps,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )


def test_every_row_is_published_waits_or_is_discarded() -> None:
    run_state_machine_as_test(QuarantineMachine, settings=_settings(50, 30))
