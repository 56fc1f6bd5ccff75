"""The ways out of what went wrong with rows that were replayed."""

from __future__ import annotations

from lakeguard.services.next_commands import next_commands_of
from lakeguard_sdk.core.enums import CheckKind, Outcome, RunStatus
from lakeguard_sdk.model.quarantine import QuarantineSelection, ReplayParameters
from tests.support.cases import models


def test_no_replay_is_offered_where_a_whole_run_is_needed() -> None:
    check = models.check("load", Outcome.FAIL).model_copy(update={"kind": CheckKind.ELIGIBILITY})
    order = ReplayParameters(choice=QuarantineSelection())
    blocked = models.run_row(RunStatus.BLOCKED).model_copy(update={"replay": order})
    (way,) = next_commands_of(blocked, None, {}, models.definition(), models.decision(check))
    assert way.command == "lakeguard apply && lakeguard run silver.flights"
    other = models.decision(check.model_copy(update={"check_id": "quarantine"}))
    (again,) = next_commands_of(blocked, None, {}, models.definition(), other)
    assert again.command == "lakeguard quarantine replay silver.flights"
