"""Values that were measured of a column are personal once the column is: who has no grant sees
neither them nor messages that quote them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from lakeguard.access.authorise import grant_of
from lakeguard.access.principal import EVERYTHING, Principal, PrincipalKind, Role
from lakeguard.plane import open_state
from lakeguard.service_plane import client_for
from lakeguard.settings import load_settings
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import Severity
from lakeguard_sdk.expressions.measures import RowCount
from lakeguard_sdk.model.definitions import ColumnDefinition, Definitions
from tests.support.lakes.quarantined_by_hand import ByHand, definitions
from tests.support.projects.access_logs import access_rows
from tests.support.projects.definitions import rule
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import make_project

pytestmark = pytest.mark.usefixtures("each_state")

HELD = re.compile(r"(?<![\w.])87(?![\w:-])")
"""The largest number, wherever it is shown."""
RULES = (
    rule("range(n, max=5)", rule_id="narrow", severity=Severity.WARN),
    rule("mean(n, max=5)", rule_id="average", severity=Severity.WARN),
    rule("row_count(min=1, max=1)", rule_id="rows", severity=Severity.WARN),
)


def shown_definitions(*tags: str) -> Definitions:
    column = ColumnDefinition(name="n", type="long", tags=tags)
    return definitions(columns=(column,), rules=RULES)


class Place:
    """Two runs that were decided before the column was tagged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.whole = make_project(folder, shown_definitions())
        hand = ByHand(self.whole)
        self.runs = [hand.run([87, 87]).run_id for _ in range(2)]
        self.whole.registry.apply(self.whole.registry.plan(shown_definitions("pii")))

    def as_user(self, *roles: Role) -> Client:
        settings = load_settings(self.folder)
        grants = tuple(grant_of(role, EVERYTHING) for role in roles)
        user = Principal("default", PrincipalKind.USER, "usr_ada", "ada", grants)
        return client_for(settings, open_state(settings), user)

    def logged(self) -> list[str]:
        state = OrganisationState.of(open_state(load_settings(self.folder)), "default")
        with state.read() as tx:
            return [row.method for row in access_rows(tx)]

    def answers(self, client: Client) -> dict[str, Any]:
        """By method, whatever tells what was measured in a run."""
        before, after = self.runs
        reader, history = client.reader, client.history
        return {
            "reader.decision": reader.decision(after),
            "reader.trends": reader.trends(after),
            "reader.replay": reader.replay(after),
            "history.side_by_side": history.side_by_side(before, after),
            "history.rebuild_plan": history.rebuild_plan(after),
        }


def text_of(answer: Any) -> str:
    return json.dumps(
        answer.to_data() if hasattr(answer, "to_data") else [a.to_data() for a in answer]
    )


def test_values_measured_before_the_column_was_tagged_need_a_grant(tmp_path: Path) -> None:
    place = Place(tmp_path)
    whole = place.answers(place.whole)
    assert [name for name, answer in whole.items() if not HELD.search(text_of(answer))] == []
    seen = place.answers(place.as_user(Role.VIEWER, Role.PII))
    assert seen == whole
    assert sorted(place.logged()) == sorted(whole)
    masked = place.answers(place.as_user(Role.ADMIN))
    assert [name for name, answer in masked.items() if HELD.search(text_of(answer))] == []
    assert sorted(place.logged()) == sorted(whole), "nothing was seen"


def test_what_is_about_no_personal_column_is_shown(tmp_path: Path) -> None:
    place = Place(tmp_path)
    viewer = place.as_user(Role.VIEWER)
    (_, run) = place.runs
    shown = {check.check_id: check for check in viewer.reader.decision(run).ruling.checks}
    held = {check.check_id: check for check in place.whole.reader.decision(run).ruling.checks}
    assert shown["rows"] == held["rows"]
    for name in ("narrow", "average"):
        assert shown[name].observed is None
        assert (shown[name].outcome, shown[name].failed_rows) == (
            held[name].outcome,
            held[name].failed_rows,
        )
    trends = {trend.check_id: trend for trend in viewer.reader.trends(run)}
    assert trends["rows"] in place.whole.reader.trends(run)
    replayed = viewer.reader.replay(run)
    assert replayed.identical
    assert replayed.recorded == replayed.replayed
    plan = viewer.history.remeasure_plan(NUMBERS, 1, [RowCount()])
    assert [json.loads(file.stats)["numRecords"] for file in plan.files] == [2]
