"""A verification as people read it: what was looked at, what was found, what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from lakeguard.cli.terminal.layout import (
    Tone,
    columns,
    indented,
    number,
    strong,
    toned,
)
from lakeguard.services.plain_text import escaped
from lakeguard_sdk.model.verification import Finding, FindingKind, VerifyReport

MEANING = {
    FindingKind.ROW: "rows of the database and of the ledger differ",
    FindingKind.LEDGER: "tables of the ledger are gone, damaged or have rows of nobody",
    FindingKind.CHAIN: "batches do not hash to the audit chain",
    FindingKind.TRUNCATED: "the audit chain ends before a head that was told outside",
    FindingKind.COMMIT: "governed tables show what no decision stands behind",
    FindingKind.FILE: "data files are not those that were published",
    FindingKind.DOCUMENT: "what decisions looked at is gone or altered",
    FindingKind.REPLAY: "decisions come out otherwise when made again",
    FindingKind.HISTORY: "rows of the database contradict each other",
    FindingKind.DATA: "data databases have what nobody knows, or lack what is published",
    FindingKind.UNSEEN: "data databases could not be looked at",
}
NEXT = {
    FindingKind.ROW: "lakeguard rebuild --replace",
    FindingKind.LEDGER: "lakeguard sync",
    FindingKind.CHAIN: "lakeguard verify --head HASH",
    FindingKind.TRUNCATED: "lakeguard verify --head HASH",
    FindingKind.COMMIT: 'lakeguard rollback DATASET --to VERSION --reason "…"',
    FindingKind.FILE: 'lakeguard rollback DATASET --to VERSION --reason "…"',
    FindingKind.DOCUMENT: "lakeguard rebuild --replace",
    FindingKind.REPLAY: "lakeguard replay RUN",
    FindingKind.HISTORY: "lakeguard rebuild --replace",
    FindingKind.DATA: "lakeguard run DATASET",
    FindingKind.UNSEEN: "lakeguard verify --data",
}
WHEN = {
    FindingKind.ROW: "the database was changed, and the chain is whole",
    FindingKind.LEDGER: "the files are back from a backup of the lake",
    FindingKind.CHAIN: "a backup is back, to see whether it is the right one",
    FindingKind.TRUNCATED: "a backup is back, to see whether it is the right one",
    FindingKind.COMMIT: "to show an approved version again",
    FindingKind.FILE: "to show a version whose files are whole",
    FindingKind.DOCUMENT: "the database was changed, and the chain is whole",
    FindingKind.REPLAY: "to see the difference",
    FindingKind.HISTORY: "the database was changed, and the chain is whole",
    FindingKind.DATA: "what is published is not delivered; what nobody knows, its owner drops",
    FindingKind.UNSEEN: "they answer again; until then nothing is known of them",
}


def verify_lines(report: VerifyReport, *, replayed: bool) -> list[str]:
    decided = "made again, all of them" if replayed else "documents only; --replay makes them again"
    counts = [
        ["tables", number(report.tables), "of the ledger, compared with the database"],
        ["rows", number(report.rows), "row by row"],
        ["batches", number(report.batches), "of the audit chain, computed again"],
        ["commits", number(report.commits), "of governed tables"],
        ["files", number(report.files), "of published versions"],
        ["decisions", number(report.decisions), decided],
    ]
    shown = columns(counts, right=frozenset({1}))
    return [*shown, "", *_verdict(report.findings), f"head {escaped(report.head)}"]


def _verdict(findings: Sequence[Finding]) -> Iterator[str]:
    if not findings:
        yield f"{toned('✓ VERIFIED', Tone.GOOD)}  nothing was found"
        return
    by_kind = {kind: list(group) for kind, group in groupby(findings, lambda item: item.kind)}
    for kind, found in by_kind.items():
        mark = toned(f"✗ {kind.name}", Tone.BAD)
        yield f"{mark}  {strong(MEANING[kind])} (exit {kind.exit_code})"
        yield from indented([_line(finding) for finding in found])
    yield ""
    ways = {NEXT[kind]: WHEN[kind] for kind in by_kind}
    yield from columns([[f"Next: {command}", when] for command, when in ways.items()])


def _line(finding: Finding) -> str:
    if finding.place == "…":
        return escaped(finding.message)
    return f"{escaped(finding.place)}: {escaped(finding.message)}"
