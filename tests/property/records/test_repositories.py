"""Whatever is stored, lost, torn or damaged: files answer as a plain list of records does."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.property.records.machine import LocalMachine, ObjectMachine
from tests.support.examples import examples


def _settings(count: int, *, quick: int) -> settings:
    return examples(
        count,
        quick=quick,
        stateful_step_count=20,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )


def test_files_answer_as_a_list_does() -> None:
    run_state_machine_as_test(LocalMachine, settings=_settings(60, quick=8))


def test_objects_answer_as_a_list_does() -> None:
    run_state_machine_as_test(ObjectMachine, settings=_settings(30, quick=4))
