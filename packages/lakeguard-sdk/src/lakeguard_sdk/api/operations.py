"""The table of operations: one row for each method of each port.

Server, client, OpenAPI document and reference page are generated from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from lakeguard_sdk.api.operation import Effect, Operation
from lakeguard_sdk.model.notifications import Notifications
from lakeguard_sdk.model.verification import Audit
from lakeguard_sdk.ports import History, Ledger, Operations, Reader, Registry, Runs
from lakeguard_sdk.records.repository import MetadataRepository
from lakeguard_sdk.scheduling.tasks import Dispatch, Jobs

PORTS: dict[str, type] = {
    "reader": Reader,
    "runs": Runs,
    "registry": Registry,
    "operations": Operations,
    "ledger": Ledger,
    "history": History,
    "notifications": Notifications,
    "jobs": Jobs,
    "dispatch": Dispatch,
    "audit": Audit,
    "records": MetadataRepository,
}
"""By the name that ``Client`` gives them."""


def _row(
    call: str, verb: str, path: str, effect: Effect, answer: str, more: Mapping[str, bool]
) -> Operation:
    port, _, method = call.partition(".")
    return Operation(port, method, verb, path, effect, answer, **more)


def _get(call: str, path: str, answer: str = "", **more: bool) -> Operation:
    return _row(call, "GET", path, Effect.SAFE, answer, more)


def _list(call: str, path: str) -> Operation:
    return _get(call, path, "items", paged=True)


def _ask(call: str, path: str, answer: str = "", **more: bool) -> Operation:
    """A read whose parameters need a body."""
    return _row(call, "POST", path, Effect.SAFE, answer, more)


def _put(call: str, path: str, answer: str = "", **more: bool) -> Operation:
    return _row(call, "PUT", path, Effect.IDEMPOTENT, answer, more)


def _post(call: str, path: str, answer: str = "", **more: bool) -> Operation:
    """An action that an Idempotency-Key makes repeatable."""
    return _row(call, "POST", path, Effect.KEYED, answer, more)


def _again(call: str, path: str, answer: str = "", **more: bool) -> Operation:
    """An action that is idempotent by itself."""
    return _row(call, "POST", path, Effect.IDEMPOTENT, answer, more)


def _once(call: str, path: str, answer: str = "", **more: bool) -> Operation:
    return _row(call, "POST", path, Effect.ONCE, answer, more)


_READER = (
    _list("reader.datasets", "/datasets"),
    _get("reader.dataset", "/datasets/{name}"),
    _get("reader.definition", "/datasets/{name}/definition", tagged=True),
    _list("reader.rules", "/datasets/{name}/rules"),
    _list("reader.policies", "/policies"),
    _list("reader.status", "/status"),
    _list("reader.runs", "/runs"),
    _list("reader.changed", "/changed-datasets"),
    _list("reader.open_runs", "/open-runs"),
    _list("reader.executions", "/executions"),
    _get("reader.execution", "/executions/{run_id}"),
    _list("reader.search", "/search"),
    _ask("reader.source_files", "/datasets-by-id/{dataset_id}/source-files", "files"),
    _get("reader.source_file_page", "/datasets-by-id/{dataset_id}/source-files", "files"),
    _get("reader.run", "/runs/{run_id}"),
    _get("reader.run_events", "/runs/{run_id}/events", "events", streamed=True),
    _get("reader.facts", "/runs/{run_id}/facts", "facts"),
    _list("reader.versions", "/datasets/{name}/versions"),
    _list("reader.column_lineage", "/datasets/{name}/column-lineage"),
    _list("reader.partitions", "/datasets/{name}/partitions"),
    _list("reader.invalidations", "/invalidations"),
    _get("reader.invalidation", "/invalidations/{invalidation_id}"),
    _list("reader.pointer_moves", "/datasets/{name}/pointer-moves"),
    _get("reader.decision", "/runs/{run_id}/decision"),
    _list("reader.samples", "/runs/{run_id}/samples"),
    _list("reader.profiles", "/datasets/{name}/profiles"),
    _get("reader.trends", "/runs/{run_id}/trends", "trends"),
    _get("reader.since", "/runs/{run_id}/since", "since"),
    _list("reader.quarantine", "/quarantine"),
    _get("reader.quarantine_balance", "/datasets/{name}/quarantine/balance"),
    _ask("reader.quarantined_rows", "/datasets/{name}/quarantine/rows"),
    _list("reader.waivers", "/waivers"),
    _get("reader.resolve", "/datasets/{address.dataset}/resolved"),
    _ask("reader.file_records", "/tables/{table_id}/file-records", "records"),
    _get("reader.published_files", "/tables/{table_id}/commits/{commit}/files", "paths"),
    _get("reader.replay", "/runs/{run_id}/replay"),
    _list("reader.schemas", "/datasets/{name}/schemas"),
    _ask("reader.schema_diff", "/datasets/{name}/schema-diff", "diff"),
)

_RUNS = (
    _post("runs.open_run", "/tasks/{task_id}/run", "opened"),
    _again("runs.open_claimed", "/runs/{ticket.run_id}/open", "opened"),
    _again("runs.heartbeat", "/runs/{ticket.run_id}/heartbeat", "lease_seconds"),
    _ask("runs.task_token", "/runs/{ticket.run_id}/task-token", "token"),
    _again("runs.submit_schema", "/runs/{ticket.run_id}/schema", rows=True),
    _again("runs.submit_evidence", "/runs/{ticket.run_id}/evidence", rows=True),
    _again("runs.submit_samples", "/runs/{ticket.run_id}/samples", rows=True),
    _again("runs.begin_move", "/runs/{ticket.run_id}/move"),
    _again("runs.complete_move", "/runs/{ticket.run_id}/completion"),
    _again("runs.finish_unchanged", "/runs/{ticket.run_id}/unchanged"),
    _again("runs.fail_run", "/runs/{ticket.run_id}/failure", rows=True),
    _post("runs.due_compaction", "/runs/{ticket.run_id}/due-compaction", "task_id"),
    _post("runs.open_compaction", "/tasks/{task_id}/compaction", "opened"),
    _again("runs.submit_compaction", "/runs/{ticket.run_id}/compacted"),
    _ask("runs.due_profile", "/runs/{ticket.run_id}/due-profile", "plan"),
    _again("runs.submit_profile", "/runs/{ticket.run_id}/profile", rows=True),
    _post("runs.open_adoption", "/tasks/{task_id}/adoption", "opened"),
    _again("runs.submit_adoption", "/runs/{ticket.run_id}/adopted", rows=True),
)

_REGISTRY = (
    _get("registry.definitions", "/definitions", tagged=True),
    _get("registry.dataset_ids", "/dataset-ids", "ids"),
    _ask("registry.plan", "/plans"),
    _post("registry.apply", "/applies"),
    _get("registry.given_values", "/given-values", "values"),
)

_OPERATIONS = (
    _post("operations.submit", "/datasets/{name}/tasks", "task_id"),
    _post("operations.requeue", "/tasks/{task_id}/requeue", "queued"),
    _post("operations.resume", "/tasks/{task_id}/resume", "state"),
    _post("operations.submit_replay", "/datasets/{name}/quarantine/replays", "task_id"),
    _post("operations.discard", "/datasets/{name}/quarantine/discards", "entries"),
    _post("operations.submit_compaction", "/datasets/{name}/compactions", "task_id"),
    _ask("operations.examine", "/examined-tables"),
    _post("operations.submit_adoption", "/datasets/{name}/adoptions", "task_id"),
    _ask("operations.plan_profile", "/datasets/{address.dataset}/profile-plan"),
    _again("operations.record_profile", "/profiles", rows=True),
    _post("operations.maintain", "/datasets/{name}/maintenance", long=True),
    _again("operations.reap", "/reap", "ended"),
    _post("operations.rollback", "/datasets/{name}/rollback"),
    _post("operations.undo", "/datasets/{name}/undo"),
    _again("operations.record_damage", "/datasets/{name}/damage"),
    _put("operations.record_stream", "/datasets/{name}/stream"),
    _post("operations.waive", "/datasets/{name}/waivers"),
    _post("operations.revoke_waiver", "/waivers/{waiver_id}/revocation"),
    _post("operations.invalidate", "/datasets/{name}/invalidations"),
    _post("operations.withdraw_invalidation", "/invalidations/{invalidation_id}/withdrawal"),
    _again("operations.reconcile", "/reconcile", "launched"),
)

_LEDGER = (
    _again("ledger.sync", "/ledger/sync", long=True),
    _again("ledger.verify", "/ledger/verify", long=True),
    _list("ledger.data_places", "/data-places"),
    _ask("ledger.judge_markers", "/markers/findings", "findings"),
    _ask("ledger.undelivered", "/markers/undelivered", "deliveries"),
)

_HISTORY = (
    _ask("history.remeasure_plan", "/datasets/{name}/versions/{version}/remeasure-plan"),
    _ask("history.backtest", "/backtests", long=True),
    _ask("history.replay_all", "/replays", long=True),
    _get("history.side_by_side", "/runs/{before}/compared-with/{after}"),
    _get("history.rebuild_plan", "/runs/{run_id}/rebuild-plan"),
)

_NOTIFICATIONS = (
    _list("notifications.rows", "/notifications"),
    _again("notifications.sweep", "/alerts/sweep", "alerts"),
    _again("notifications.send", "/notifications/{topic}/send", "results"),
    _again("notifications.send_due", "/notifications/{topic}/send-due", "sent"),
    _post("notifications.test", "/notifications/{topic}/channels/{channel}/test", "delivery_id"),
)

_JOBS = (
    _ask("jobs.deploy_plan", "/deployment-plans"),
    _post("jobs.deploy", "/deployments"),
    _list("jobs.dag_versions", "/deployments"),
    _list("jobs.jobs", "/jobs"),
    _get("jobs.job", "/jobs/{name}"),
    _again("jobs.switch", "/jobs/{name}/switch"),
    _post("jobs.trigger", "/jobs/{name}/launches"),
    _list("jobs.tasks", "/tasks"),
    _get("jobs.task", "/tasks/{task_id}"),
    _list("jobs.transitions", "/tasks/{task_id}/transitions"),
    _post("jobs.retry", "/tasks/{task_id}/retry"),
    _post("jobs.cancel", "/tasks/{task_id}/cancel"),
    _again("jobs.receive", "/received-events", "launches", raw=True),
    _again("jobs.tick", "/tick"),
)

_DISPATCH = (
    _get("dispatch.check", "/check"),
    _once("dispatch.claim", "/claims", "assignments"),
    _again("dispatch.keep", "/leases", "leases"),
    _again("dispatch.hand_over", "/runs/{ticket.run_id}/hand-over"),
    _again("dispatch.report", "/runs/{ticket.run_id}/report"),
    _again("dispatch.report_all", "/reports", "answers"),
    _once("dispatch.report_and_claim", "/reports-and-claims", "answers"),
)

_AUDIT = (
    _list("audit.rows", "/audit"),
    _ask("audit.verify", "/audit/verification"),
    _get("audit.head", "/audit/head"),
)

_RECORDS = (
    _again("records.store", "/records", rows=True),
    _again("records.bulk_store", "/records/bulk", "stored", rows=True),
    _get("records.latest", "/records/latest", "record"),
    _get("records.history", "/records/history", "records"),
    _ask("records.query", "/records/query"),
    _get("records.tail", "/records/tail"),
    _get("records.kinds", "/record-kinds", "kinds"),
    _put("records.register_kind", "/record-kinds/{kind.kind}"),
)

OPERATIONS: tuple[Operation, ...] = (
    *_READER,
    *_RUNS,
    *_REGISTRY,
    *_OPERATIONS,
    *_LEDGER,
    *_HISTORY,
    *_NOTIFICATIONS,
    *_JOBS,
    *_DISPATCH,
    *_AUDIT,
    *_RECORDS,
)


@cache
def operations_by_name() -> dict[str, Operation]:
    """By ``port.method``; raises ValueError for a duplicate method or route."""
    found = {operation.name: operation for operation in OPERATIONS}
    routes = {(operation.verb, operation.template) for operation in OPERATIONS}
    if len(found) < len(OPERATIONS) or len(routes) < len(OPERATIONS):
        raise ValueError("the table of operations has a duplicate method or route")
    return found
