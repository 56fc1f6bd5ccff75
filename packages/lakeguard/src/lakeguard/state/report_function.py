"""A function of PostgreSQL that ends a few attempts: one round trip, which commits by itself.

It writes what ``report_all`` of the dispatcher writes for reports without outputs.
"""

from __future__ import annotations

from lakeguard.state.outbox import recorded
from lakeguard.state.tables.tasks import task_results, task_transitions

REPORT = "lakeguard_report_tasks"
PARAMETERS = {"org_id": "text", "at": "timestamptz", "reports": "json"}
REPORTED = {
    "task_id": "text",
    "run_id": "text",
    "lease_token": "text",
    "attempt": "integer",
    "changes": "integer",
    "state": "text",
    "status": "text",
    "actor": "text",
    "code": "text",
    "message": "text",
    "due_at": "timestamptz",
    "report_hash": "text",
    "answer": "text",
}
"""Members of a report. ``changes`` is the number of the task's last transition."""

_NEW = {
    "state": "report.state",
    "changes": "report.changes + 1",
    "due_at": "report.due_at",
    "ended_at": "CASE report.state WHEN 'completed' THEN given_at END",
}
_TRANSITION = {
    "task_id": "report.task_id",
    "number": "report.changes + 1",
    "org_id": "given_org_id",
    "attempt": "report.attempt",
    "from_state": "'running'::text",
    "to_state": "report.state",
    "at": "given_at",
    "actor": "report.actor",
    "code": "report.code",
    "message": "report.message",
    "due_at": "report.due_at",
}
_RESULT = {
    "run_id": "report.run_id",
    "org_id": "given_org_id",
    "task_id": "report.task_id",
    "attempt": "report.attempt",
    "status": "report.status",
    "error_code": "report.code",
    "error_message": "report.message",
    "ended_at": "given_at",
    "report_hash": "report.report_hash",
    "answer": "report.answer",
}
_AS_CLAIMED = """
            old.org_id = given_org_id AND old.task_id = report.task_id
            AND old.run_id = report.run_id AND old.attempt = report.attempt
            AND old.lease_token = report.lease_token AND old.changes = report.changes"""
_GRAPH_KEPT = """(old.dag_version_id IS NULL OR (
                SELECT min(a.number) FROM dag_activations a
                WHERE a.org_id = given_org_id AND a.dag_version_id = old.dag_version_id
            ) <= (
                SELECT min(a.number) FROM dag_activations a
                WHERE a.org_id = given_org_id AND a.dag_version_id = (
                    SELECT b.dag_version_id FROM dag_activations b
                    WHERE b.org_id = given_org_id ORDER BY b.number DESC LIMIT 1
                )
            ))"""
"""As ``left_graphs``, by the snapshot of the statement: a deployment that commits while the
statement waits counts as later."""


def report_function() -> str:
    """Its definition. It returns how many reports it recorded: those before the first whose task is
    not as it was claimed, or whose graph is abandoned."""
    given = ", ".join(f"given_{name} {kind}" for name, kind in PARAMETERS.items())
    members = ", ".join(f"{name} {kind}" for name, kind in REPORTED.items())
    new = ", ".join(f"{name} = {value}" for name, value in _NEW.items())
    return f"""
CREATE OR REPLACE FUNCTION {REPORT}({given}) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    report record;
    ended integer := 0;
BEGIN
    FOR report IN SELECT * FROM json_to_recordset(given_reports) AS each({members}) LOOP
        UPDATE tasks AS old SET {new}
        WHERE {_AS_CLAIMED} AND {_GRAPH_KEPT};
        EXIT WHEN NOT FOUND;
        {recorded({task_transitions: _TRANSITION, task_results: _RESULT}, "given_at")}
        ended := ended + 1;
    END LOOP;
    RETURN ended;
END $$"""
