"""The move, modelled first; then the same machine on real tables."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.property.move.adopting import AdoptedMachine
from tests.property.move.machine import MoveMachine
from tests.support.examples import examples
from tests.support.lakes.lakes import DeltaLake, MemoryLake


class ModelledMove(MoveMachine):
    make_lake = MemoryLake


class RealMove(MoveMachine):
    make_lake = DeltaLake


class ModelledAdoption(AdoptedMachine):
    make_lake = MemoryLake


class RealAdoption(AdoptedMachine):
    make_lake = DeltaLake


def _settings(count: int, steps: int, *, quick: int) -> settings:
    return examples(
        count,
        quick=quick,
        stateful_step_count=steps,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )


def test_a_modelled_move_keeps_every_promise() -> None:
    run_state_machine_as_test(ModelledMove, settings=_settings(60, 40, quick=8))


def test_a_real_move_keeps_every_promise() -> None:
    run_state_machine_as_test(RealMove, settings=_settings(20, 30, quick=3))


def test_a_modelled_adoption_keeps_every_promise() -> None:
    run_state_machine_as_test(ModelledAdoption, settings=_settings(60, 15, quick=8))


def test_a_real_adoption_keeps_every_promise() -> None:
    run_state_machine_as_test(RealAdoption, settings=_settings(15, 12, quick=3))
