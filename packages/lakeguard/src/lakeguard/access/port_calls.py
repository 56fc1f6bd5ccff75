"""The action and the subject of every port method, one row each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lakeguard.access.principal import Action


class About(StrEnum):
    """Which argument names the subject of a call."""

    ORGANISATION = "organisation"
    """The whole organisation: a grant on a part of it is not enough."""
    ANYWHERE = "anywhere"
    """A grant on any part is enough; the answer shows only what may be read."""
    DATASET = "dataset"
    """The first argument, or ``name``; without one, as ANYWHERE."""
    DATASET_ID = "dataset_id"
    ADDRESS = "address"
    RUN = "run"
    RUNS = "runs"
    """Both arguments."""
    TASK = "task"
    TICKET = "ticket"
    INVALIDATION = "invalidation"
    WAIVER = "waiver"
    TABLE = "table"
    JOB = "job"
    TASKS_OF_JOB = "tasks_of_job"
    """The argument ``job``; without one, as ANYWHERE."""
    DEFINITION = "definition"
    DEFINITIONS = "definitions"
    PLAN = "plan"
    PROFILE = "profile"
    RECORD = "record"
    RECORDS = "records"
    """What the records are about, each of them."""


@dataclass(frozen=True)
class PortCall:
    action: Action
    about: About
    personal: bool = False
    """Whether the answer contains values of rows, of which personal ones need a grant."""
    measured: bool = False
    """Whether the answer contains values that were measured of columns."""
    reads: bool = False
    """Whether the call also needs the action ``read``."""

    @property
    def actions(self) -> tuple[Action, ...]:
        """All actions that the call needs."""
        return (self.action, Action.READ) if self.reads else (self.action,)

    @property
    def is_logged(self) -> bool:
        """Whether an allowed call is logged. What workers and producers do is recorded as facts
        anyway."""
        return self.action not in (Action.READ, Action.WORK, Action.EMIT)


def _all(action: Action, about: About, names: str) -> dict[str, PortCall]:
    return {name: PortCall(action, about) for name in names.split()}


def _measured(about: About, names: str) -> dict[str, PortCall]:
    return {name: PortCall(Action.READ, about, measured=True) for name in names.split()}


_READ, _RUN, _WORK, _CURATE = Action.READ, Action.RUN, Action.WORK, Action.CURATE

READER = {
    **_all(_READ, About.ANYWHERE, "datasets policies status changed search executions"),
    **_all(
        _READ,
        About.DATASET,
        "dataset definition rules runs open_runs versions column_lineage partitions invalidations"
        " pointer_moves quarantine quarantine_balance waivers schemas schema_diff",
    ),
    **_all(_READ, About.RUN, "run run_events facts since execution"),
    **_measured(About.RUN, "decision trends replay"),
    "samples": PortCall(_READ, About.RUN, personal=True),
    "profiles": PortCall(_READ, About.DATASET, personal=True),
    "quarantined_rows": PortCall(_READ, About.DATASET, personal=True),
    "invalidation": PortCall(_READ, About.INVALIDATION),
    "resolve": PortCall(_READ, About.ADDRESS),
    **_all(_READ, About.TABLE, "file_records published_files"),
    **_all(_READ, About.DATASET_ID, "source_files source_file_page"),
}

HISTORY = {
    **_measured(About.DATASET, "remeasure_plan"),
    "backtest": PortCall(_READ, About.DEFINITION),
    "replay_all": PortCall(_READ, About.ORGANISATION),
    **_measured(About.RUNS, "side_by_side"),
    **_measured(About.RUN, "rebuild_plan"),
}

RUNS = {
    **_all(_WORK, About.TASK, "open_run open_compaction open_adoption"),
    **_all(
        _WORK,
        About.TICKET,
        "open_claimed heartbeat task_token submit_schema submit_evidence submit_samples begin_move"
        " complete_move finish_unchanged fail_run due_compaction submit_compaction due_profile"
        " submit_profile submit_adoption",
    ),
}

REGISTRY = {
    **_all(_READ, About.ANYWHERE, "definitions dataset_ids"),
    "given_values": PortCall(_READ, About.ORGANISATION),
    "plan": PortCall(_READ, About.DEFINITIONS),
    "apply": PortCall(Action.DEFINE, About.PLAN),
}

OPERATIONS = {
    **_all(_RUN, About.DATASET, "submit submit_replay submit_compaction maintain"),
    **_all(_RUN, About.TASK, "requeue resume"),
    "plan_profile": PortCall(_RUN, About.ADDRESS),
    "record_profile": PortCall(_RUN, About.PROFILE),
    "examine": PortCall(Action.DEFINE, About.ORGANISATION),
    "submit_adoption": PortCall(Action.DEFINE, About.DATASET),
    **_all(_CURATE, About.DATASET, "discard rollback undo waive invalidate"),
    "revoke_waiver": PortCall(_CURATE, About.WAIVER),
    "withdraw_invalidation": PortCall(_CURATE, About.INVALIDATION),
    **_all(_WORK, About.DATASET, "record_damage record_stream"),
    **_all(_WORK, About.ANYWHERE, "reap reconcile"),
}

LEDGER = {
    "sync": PortCall(_WORK, About.ANYWHERE),
    **_all(_READ, About.ORGANISATION, "verify data_places"),
    **_all(_WORK, About.ORGANISATION, "judge_markers undelivered"),
}

AUDIT = _all(_READ, About.ORGANISATION, "rows verify head")

NOTIFICATIONS = {
    "rows": PortCall(_READ, About.ANYWHERE),
    "sweep": PortCall(_WORK, About.ANYWHERE),
    "send_due": PortCall(_WORK, About.ORGANISATION),
    **_all(Action.DEPLOY, About.ORGANISATION, "send test"),
}

JOBS = {
    **_all(_READ, About.ANYWHERE, "dag_versions jobs"),
    "tasks": PortCall(_READ, About.TASKS_OF_JOB),
    "deploy_plan": PortCall(_READ, About.ORGANISATION),
    "deploy": PortCall(Action.DEPLOY, About.ORGANISATION),
    "job": PortCall(_READ, About.JOB),
    "switch": PortCall(Action.DEPLOY, About.JOB),
    "trigger": PortCall(_RUN, About.JOB),
    **_all(_READ, About.TASK, "task transitions"),
    **_all(_RUN, About.TASK, "retry cancel"),
    "receive": PortCall(_RUN, About.ORGANISATION),
    "tick": PortCall(_WORK, About.ORGANISATION),
}

DISPATCH = {
    "check": PortCall(_READ, About.ANYWHERE),
    # A claimed task can only be opened with the right to read.
    "claim": PortCall(_WORK, About.ORGANISATION, reads=True),
    "report_and_claim": PortCall(_WORK, About.ORGANISATION, reads=True),
    **_all(_WORK, About.ORGANISATION, "keep hand_over report report_all"),
}

RECORDS = {
    "store": PortCall(Action.EMIT, About.RECORD),
    "bulk_store": PortCall(Action.EMIT, About.RECORDS),
    # Answered by ``VisibleRecords``.
    **_all(_READ, About.ANYWHERE, "latest history query tail kinds"),
    "register_kind": PortCall(Action.DEFINE, About.ORGANISATION),
}

CALLS: dict[str, dict[str, PortCall]] = {
    "reader": READER,
    "history": HISTORY,
    "runs": RUNS,
    "registry": REGISTRY,
    "operations": OPERATIONS,
    "ledger": LEDGER,
    "audit": AUDIT,
    "notifications": NOTIFICATIONS,
    "jobs": JOBS,
    "dispatch": DISPATCH,
    "records": RECORDS,
}
