"""Rendering of verification reports, and of the audit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from lakeguard.cli.terminal.layout import (
    Tone,
    columns,
    indented,
    moment,
    number,
    strong,
    table,
    toned,
)
from lakeguard.services.plain_text import escaped
from lakeguard_sdk.model.verification import (
    AuditReport,
    AuditRow,
    Finding,
    FindingKind,
    VerifyReport,
)

MEANING = {
    FindingKind.ROW: "rows of the database and of the ledger differ",
    FindingKind.LEDGER: "ledger tables are missing, damaged or contain foreign rows",
    FindingKind.CHAIN: "batches do not match the hashes of the audit chain",
    FindingKind.TRUNCATED: "the audit chain ends before a known head",
    FindingKind.COMMIT: "governed tables have commits without a decision, or a damaged log",
    FindingKind.FILE: "data files differ from what was published",
    FindingKind.DOCUMENT: "documents used by decisions are missing or altered",
    FindingKind.REPLAY: "repeated decisions differ",
    FindingKind.HISTORY: "rows of the database contradict each other",
    FindingKind.DATA: "target databases have unknown tables, or lack published ones",
    FindingKind.UNSEEN: "target databases are unreachable",
}
NEXT = {
    FindingKind.ROW: "lakeguard rebuild --replace",
    FindingKind.LEDGER: "lakeguard sync",
    FindingKind.CHAIN: "lakeguard verify --head HASH",
    FindingKind.TRUNCATED: "lakeguard verify --head HASH",
    FindingKind.COMMIT: 'lakeguard undo DATASET --reason "…"',
    FindingKind.FILE: 'lakeguard rollback DATASET --to VERSION --reason "…"',
    FindingKind.DOCUMENT: "lakeguard rebuild --replace",
    FindingKind.REPLAY: "lakeguard replay RUN",
    FindingKind.HISTORY: "lakeguard rebuild --replace",
    FindingKind.DATA: "lakeguard run DATASET",
    FindingKind.UNSEEN: "lakeguard verify --data",
}
WHEN = {
    FindingKind.ROW: "if the database was changed and the chain is intact",
    FindingKind.LEDGER: "after restoring the files from a backup of the lake",
    FindingKind.CHAIN: "after restoring a backup, to check it",
    FindingKind.TRUNCATED: "after restoring a backup, to check it",
    FindingKind.COMMIT: "to put the table back to its published version",
    FindingKind.FILE: "to restore a version with intact files",
    FindingKind.DOCUMENT: "if the database was changed and the chain is intact",
    FindingKind.REPLAY: "to see the difference",
    FindingKind.HISTORY: "if the database was changed and the chain is intact",
    FindingKind.DATA: "to deliver missing tables; unknown ones are dropped by their owner",
    FindingKind.UNSEEN: "once they are reachable again",
}


def verify_lines(report: VerifyReport, *, replayed: bool) -> list[str]:
    decided = "all repeated" if replayed else "documents only; --replay repeats them"
    counts = [
        ["tables", number(report.tables), "of the ledger, compared with the database"],
        ["rows", number(report.rows), _rows_text(report)],
        ["batches", number(report.batches), "of the audit chain, recomputed"],
        ["commits", number(report.commits), "of governed tables"],
        ["files", number(report.files), "of published versions"],
        ["decisions", number(report.decisions), decided],
    ]
    shown = columns(counts, right=frozenset({1}))
    return [*shown, "", *_verdict(report.findings), f"head {escaped(report.head)}"]


def _rows_text(report: VerifyReport) -> str:
    derived = report.rows - report.facts
    return f"one by one: {number(report.facts)} facts, {number(derived)} derived from them"


def _verdict(findings: Sequence[Finding]) -> Iterator[str]:
    if not findings:
        yield f"{toned('✓ VERIFIED', Tone.GOOD)}  no findings"
        return
    by_kind = {kind: list(group) for kind, group in groupby(findings, lambda item: item.kind)}
    for kind, found in by_kind.items():
        mark = toned(f"✗ {kind.name}", Tone.BAD)
        yield f"{mark}  {strong(MEANING[kind])} (exit {kind.exit_code})"
        yield from indented([_line(finding) for finding in found])
    yield ""
    ways = dict(_way(finding) for finding in findings)
    yield from columns([[f"Next: {command}", when] for command, when in ways.items()])


def _way(finding: Finding) -> tuple[str, str]:
    if finding.next_command:
        return finding.next_command, f"for {escaped(finding.place)}"
    return NEXT[finding.kind], WHEN[finding.kind]


def _line(finding: Finding) -> str:
    if finding.place == "…":
        return escaped(finding.message)
    return f"{escaped(finding.place)}: {escaped(finding.message)}"


# The audit.


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
    return [*lines, "", *_audit_verdict(report), f"head {escaped(report.head)}"]


def _audit_verdict(report: AuditReport) -> list[str]:
    if not report.changed:
        return [f"{toned('✓ VERIFIED', Tone.GOOD)}  every row is as it was recorded"]
    first, *more = report.changed
    mark = toned(f"✗ {first.change.name}", Tone.BAD)
    lines = [f"{mark}  {escaped(first.place)}: {escaped(first.message)}"]
    rest = [f"{each.change} {escaped(each.place)}: {escaped(each.message)}" for each in more]
    return [*lines, *indented(rest), "", "Next: lakeguard verify"]
