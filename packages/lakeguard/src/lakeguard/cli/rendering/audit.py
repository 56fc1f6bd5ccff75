"""Rendering of the audit."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard.cli.terminal.layout import Tone, columns, indented, moment, number, table, toned
from lakeguard.services.plain_text import escaped
from lakeguard_sdk.model.verification import AuditReport, AuditRow


def audit_lines(rows: Sequence[AuditRow]) -> list[str]:
    if not rows:
        return ["nothing recorded"]
    head = ("WHEN", "WHO", "WHAT", "DATASET", "OF", "WHY")
    return table(head, [_cells(row) for row in rows])


def _cells(row: AuditRow) -> list[str]:
    action = escaped(row.action)
    return [
        moment(row.at),
        escaped(row.actor),
        action if row.allowed else toned(f"{action} refused", Tone.BAD),
        escaped(row.dataset or ""),
        escaped(row.subject),
        escaped(row.reason),
    ]


def audit_report_lines(report: AuditReport) -> list[str]:
    counts = [
        ["rows", number(report.rows), "of the database, compared with the ledger"],
        ["batches", number(report.batches), "of the audit chain, recomputed"],
    ]
    lines = columns(counts, right=frozenset({1}))
    if report.exported is not None:
        batch = number(report.exported.batch)
        lines.append(f"exported head of {moment(report.exported.at)}, batch {batch}")
        lines.append(f"signed with key {escaped(report.signed_by)}")
    return [*lines, "", *_verdict(report), f"head {escaped(report.head)}"]


def _verdict(report: AuditReport) -> list[str]:
    if not report.changed:
        return [f"{toned('✓ VERIFIED', Tone.GOOD)}  every row is as it was recorded"]
    first, *more = report.changed
    mark = toned(f"✗ {first.change.name}", Tone.BAD)
    lines = [f"{mark}  {escaped(first.place)}: {escaped(first.message)}"]
    rest = [f"{each.change} {escaped(each.place)}: {escaped(each.message)}" for each in more]
    return [*lines, *indented(rest), "", "Next: lakeguard verify"]
