"""The runs of a short story, row by row: one under way, one completed, one failed, one blocked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lakeguard.ledger.decisions import record_samples
from lakeguard.state import outbox
from lakeguard.state import schema as t
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import content_hash
from lakeguard_sdk.core.enums import (
    CheckKind,
    Outcome,
    RunStatus,
    Severity,
    Verdict,
)
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.decision import CheckResult, Ruling
from lakeguard_sdk.model.row_sample import MASKED, RowSample
from lakeguard_sdk.model.run import (
    Failure,
    RunResult,
    SchemaReaction,
    SchemaVerdict,
)
from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.support.lakes.recorded_definitions import (
    ODD,
    ORG,
    add,
    minute,
)

LIVE = TableSchema(columns=(Column(name="id", type="integer"), Column(name=ODD, type="string")))
VERDICT = SchemaVerdict(
    accepted=False,
    differences=(
        SchemaReaction(
            column="id",
            change=SchemaChange.NARROW,
            found="integer",
            declared="long",
            reaction=Reaction.ACCEPT_CAST,
        ),
        SchemaReaction(
            column=ODD,
            change=SchemaChange.ADD_NULLABLE,
            found="string",
            declared=None,
            reaction=Reaction.LEFT_OUT,
        ),
        SchemaReaction(
            column="day",
            change=SchemaChange.DROP_NULLABLE,
            found=None,
            declared="date",
            reaction=Reaction.BLOCK,
        ),
        SchemaReaction(
            column="hour",
            change=SchemaChange.RENAME,
            found="date",
            declared="date",
            reaction=Reaction.BLOCK,
            other="hours",
        ),
    ),
)
PRESENT = CheckResult(
    kind=CheckKind.RULE,
    check_id="id_present",
    expression="not_null(id)",
    outcome=Outcome.FAIL,
    message=ODD,
    failed_rows=2**60,
    scope_rows=2**61,
    fingerprint="sha256:1",
    parameters={"where": ODD, "fail_if": "> 1%"},
    counted="count_if:1",
    severity=Severity.FAIL,
    column="id",
)
SAMPLE = RowSample(
    rule_id="id_present",
    columns=("id", ODD),
    rows=((None, MASKED), ("a\0b", MASKED)),
    masked=(ODD,),
)
COUNTED = CheckResult(
    kind=CheckKind.RULE,
    check_id="enough",
    expression="row_count(min=1)",
    outcome=Outcome.PASS,
    message="7 rows",
    observed=7,
    limit="at least 1",
    fingerprint="sha256:2",
    severity=Severity.FAIL,
)
ELIGIBLE = CheckResult(
    kind=CheckKind.ELIGIBILITY,
    check_id="registered",
    expression="",
    outcome=Outcome.PASS,
    message="it is registered",
)


def run(tx: Transaction) -> None:
    """All four: of the dataset that is defined as ``ds_1``, the last of ``ds_3``, which reads no
    source."""
    _runs(tx)
    _schemas(tx)
    _decisions(tx)
    record_samples(replace(tx, clock=lambda: minute(43)), "run_4", [SAMPLE])


def _of(n: int) -> tuple[str, int]:
    return ("ds_3", 1) if n == 4 else ("ds_1", 2)


def wait(tx: Transaction) -> None:
    """The dataset that is defined as ``ds_2`` is registered, and never ran."""
    state = {
        "dataset_id": "ds_2",
        "from_layer": "source",
        "to_layer": "bronze",
        "allowed": False,
        "evaluated_at": minute(50),
        "reason": "registered",
        "state": "REGISTERED",
    }
    add(tx, t.promotion_status, state)


def put(tx: Transaction, document: FrozenModel) -> str:
    digest = content_hash(document.to_data())
    row = {"org_id": ORG, "content_hash": digest, "body": document.to_json()}
    outbox.record_once(tx, t.documents, row, minute(0))
    return digest


def ruling(verdict: Verdict, at: int, *checks: CheckResult) -> Ruling:
    return Ruling(
        verdict=verdict, reasons=(), checks=(ELIGIBLE, *checks), semantics=1, decided_at=minute(at)
    )


def _runs(tx: Transaction) -> None:
    """Run 1 is under way; 2 completed, 3 failed and 4 was blocked, by a job."""
    for n in (1, 2, 3, 4):
        task = {
            "task_id": f"tsk_{n}",
            "kind": "build",
            "dataset_id": _of(n)[0],
            "dedupe_key": f"key {n}",
            "parameters": "{}",
            "triggered_by": "manual",
            "created_at": minute(10 * n),
            "max_attempts": 3,
            "state": "running",
            "attempt": 1,
            "job_id": None if n == 1 else "job_1",
            "priority": 0,
            "labels": "",
            "changes": 1,
        }
        attempt = {
            "task_id": f"tsk_{n}",
            "attempt": 1,
            "run_id": f"run_{n}",
            "started_at": minute(10 * n),
            "worker": "w",
        }
        opening = {
            "run_id": f"run_{n}",
            "dataset_id": _of(n)[0],
            "dataset_revision": _of(n)[1],
            "plan_hash": "p",
            "pinned_hash": "p",
            "opened_at": minute(10 * n),
            "bundle_hash": f"bundle {n}",
        }
        add(tx, t.tasks, task)
        add(tx, t.task_attempts, attempt)
        if n != 3:  # it failed before it was given anything
            add(tx, t.run_openings, opening)
    ends: tuple[dict[str, Any], ...] = (
        {"n": 2, "status": RunStatus.SUCCESS, "version": 1, "rows": 7},
        {"n": 3, "status": RunStatus.FAILED, "error": Failure(code="LG-5004", message=ODD)},
        {"n": 4, "status": RunStatus.BLOCKED},
    )
    for end in ends:
        _end(tx, **end)


def _end(tx: Transaction, n: int, **given: Any) -> None:
    result = RunResult(
        run_id=f"run_{n}", dataset="bronze.flights", ended_at=minute(10 * n + 5), **given
    )
    row = {
        "run_id": result.run_id,
        "dataset_id": _of(n)[0],
        "layer": "bronze",
        "status": result.status.value,
        "start_time": minute(10 * n),
        "end_time": result.ended_at,
        "error_message": result.error.message if result.error else None,
        "triggered_by": "manual",
        "task_id": f"tsk_{n}",
        "attempt": 1,
        "error_code": result.error.code if result.error else None,
        "version": result.version,
        "result": result.to_json(),
    }
    add(tx, t.run_history, row)


def _schemas(tx: Transaction) -> None:
    fine = SchemaVerdict(accepted=True, differences=())
    for n, verdict in ((2, fine), (4, VERDICT)):
        row = {
            "run_id": f"run_{n}",
            "live_hash": put(tx, LIVE),
            "verdict_hash": put(tx, verdict),
            "submitted_at": minute(10 * n + 1),
        }
        add(tx, t.run_schemas, row)


def _decisions(tx: Transaction) -> None:
    described = (
        (2, ruling(Verdict.ALLOWED, 22, COUNTED), "PROMOTED"),
        (4, ruling(Verdict.BLOCKED, 42, PRESENT, COUNTED), "BLOCKED"),
    )
    hashes = dict.fromkeys(("facts_hash", "ruleset_hash", "policies_hash", "history_hash"), "h")
    for n, given, state in described:
        names = {"run_id": f"run_{n}", "decision_id": f"dec_{n}", "dataset_id": _of(n)[0]}
        verdict = {"verdict": given.verdict.value, "semantics": 1, "decided_at": given.decided_at}
        add(tx, t.decisions, {**names, **verdict, **hashes, "ruling": given.to_json()})
        answer = {
            "from_layer": "source",
            "to_layer": "bronze",
            "allowed": given.verdict is Verdict.ALLOWED,
            "evaluated_at": given.decided_at,
            "reason": f"because {n}",
            "state": state,
        }
        add(tx, t.promotion_status, {**names, "dataset_id": "ds_1", **answer})
        if n == 2:
            elsewhere = {**names, "dataset_id": "ds_3", **answer, "to_layer": "silver"}
            add(tx, t.promotion_status, elsewhere)
