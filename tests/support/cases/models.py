"""Models by hand: a dataset that was promoted once and then blocked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import (
    CheckKind,
    Layer,
    LoadType,
    MoveKind,
    Outcome,
    RunStatus,
    Severity,
    Verdict,
)
from lakeguard_sdk.model.decision import (
    CaseHashes,
    CheckResult,
    Decision,
    Ruling,
)
from lakeguard_sdk.model.definitions import ColumnDefinition, DatasetDefinition, FromSql
from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.model.read_models import (
    DatasetRow,
    DatasetStatus,
    PointerMove,
    RuleRow,
    RunRow,
    VersionRow,
)
from lakeguard_sdk.model.run import RunResult

FLIGHTS = DatasetName("silver.flights")
BRONZE = DatasetName("bronze.flights")
NOW = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


def check(expression: str, outcome: Outcome = Outcome.PASS, **fields: Any) -> CheckResult:
    return CheckResult(
        **{
            "kind": CheckKind.RULE,
            "check_id": expression,
            "expression": expression,
            "outcome": outcome,
            "message": f"{expression} came to {outcome}",
            **fields,
        }
    )


TOO_LATE = check(
    "range(dep_delay, min=-120, max=2000)",
    Outcome.FAIL,
    message="377 of 776 new rows (49 %), worst 13,200, limit 0.1 %",
    failed_rows=377,
    scope_rows=776,
    observed=13200,
    limit="0.1 %",
)
MEAN = check("mean(dep_delay)", Outcome.FAIL, message="mean is 419.763, limit -10 to 100")
NO_TAIL = check("not_null(tail_num)", Outcome.WARN, message="1 of 776 new rows (0.13 %)")
FINE = check("row_count(min=1)", message="776 new rows", observed=776)


def decision(*checks: CheckResult, run_id: str = "run_2", ruleset: str = "sha256:aaaa") -> Decision:
    blocked = any(item.outcome in (Outcome.FAIL, Outcome.ERROR) for item in checks)
    return Decision(
        decision_id=f"dec_of_{run_id}",
        run_id=run_id,
        dataset=FLIGHTS,
        dataset_id="ds_1",
        ruling=Ruling(
            verdict=Verdict.BLOCKED if blocked else Verdict.ALLOWED,
            reasons=tuple(item.message for item in checks if item.outcome is Outcome.FAIL),
            checks=checks,
            semantics=1,
            decided_at=NOW,
        ),
        case=CaseHashes(
            facts="sha256:f",
            evidence="sha256:e",
            ruleset=ruleset,
            policies="sha256:bbbb",
            history="sha256:h",
        ),
    )


def result(status: RunStatus = RunStatus.SUCCESS, **fields: Any) -> RunResult:
    return RunResult(
        **{"run_id": "run_2", "dataset": FLIGHTS, "status": status, "ended_at": NOW, **fields}
    )


def run_row(status: RunStatus = RunStatus.BLOCKED, **fields: Any) -> RunRow:
    return RunRow(
        **{
            "run_id": "run_2",
            "dataset_id": "ds_1",
            "dataset": FLIGHTS,
            "layer": Layer.SILVER,
            "status": status,
            "start_time": NOW - timedelta(seconds=70),
            "end_time": NOW - timedelta(seconds=5),
            "error_message": None,
            "error_code": None,
            "triggered_by": "cli:ada",
            "task_id": "task_2",
            "attempt": 1,
            "decision_id": None,
            "version": None,
            **fields,
        }
    )


def version_row(version: int = 1, **fields: Any) -> VersionRow:
    return VersionRow(
        **{
            "dataset_id": "ds_1",
            "version": version,
            "snapshot_ref": f"delta:t@{version}",
            "schema_hash": "sha256:s",
            "row_count": 336_000,
            "promoted_at": NOW - timedelta(days=1),
            "promoted_by": "cli:ada",
            "table_rows": 336_000,
            "run_id": f"run_{version}",
            "decision_id": f"dec_{version}",
            "published": True,
            "inputs": (InputVersion(dataset=BRONZE, dataset_id="ds_0", version=1),),
            **fields,
        }
    )


def dataset_row(name: DatasetName = FLIGHTS, **fields: Any) -> DatasetRow:
    return DatasetRow(
        **{
            "dataset_id": f"ds_{name.name}",
            "dataset_name": name,
            "domain": "aviation",
            "layer": name.layer,
            "owner": "flights-team",
            "description": "One row per scheduled departure.",
            "active": True,
            "created_at": NOW - timedelta(days=9),
            "revision": 3,
            "definition_hash": "sha256:d",
            **fields,
        }
    )


def status(
    name: DatasetName = FLIGHTS,
    published: int | None = 1,
    last_run: RunRow | None = None,
    **fields: Any,
) -> DatasetStatus:
    return DatasetStatus(
        dataset=dataset_row(name, **fields),
        published=published,
        published_at=None if published is None else NOW - timedelta(hours=3),
        table_rows=None if published is None else 336_000,
        last_run=last_run,
    )


def move(version: int = 1, reason: str = "") -> PointerMove:
    return PointerMove(
        kind=MoveKind.PUBLISH,
        version=version,
        moved_at=NOW,
        actor="cli:ada",
        reason=reason,
        decision_id=f"dec_{version}",
    )


def rule_row(expression: str = "unique(flight_key)") -> RuleRow:
    return RuleRow(
        rule_id="unique.flight_key",
        dataset_id="ds_1",
        layer=Layer.SILVER,
        rule_type="unique",
        rule_expression=expression,
        severity=Severity.FAIL,
        active=True,
    )


def definition() -> DatasetDefinition:
    return DatasetDefinition(
        dataset=FLIGHTS,
        domain="aviation",
        owner="flights-team",
        parents=(BRONZE,),
        build=FromSql(file="sql/flights.sql", text="SELECT 1"),
        load=LoadType.APPEND,
        columns=(
            ColumnDefinition(name="flight_key", type="string"),
            ColumnDefinition(name="tail_num", type="string", tags=("identifier",)),
        ),
    )
