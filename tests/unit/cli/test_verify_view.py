"""A verification on one page."""

from __future__ import annotations

import click

from lakeguard.cli.rendering.verify import (
    MEANING,
    NEXT,
    WHEN,
    verify_lines,
)
from lakeguard_sdk.model.verification import Finding, FindingKind, VerifyReport


def report(*findings: Finding) -> VerifyReport:
    return VerifyReport(
        findings=findings,
        rows=2_000_000,
        facts=1_500_000,
        batches=12,
        tables=53,
        commits=100_010,
        files=100_000,
        decisions=100_000,
        head="sha256:abc",
    )


def plain(expected: VerifyReport) -> list[str]:
    return [click.unstyle(line) for line in verify_lines(expected, replayed=False)]


def test_nothing_found() -> None:
    assert plain(report()) == [
        "tables             53   of the ledger, compared with the database",
        "rows        2,000,000   one by one: 1,500,000 facts, 500,000 derived from them",
        "batches            12   of the audit chain, recomputed",
        "commits       100,010   of governed tables",
        "files         100,000   of published versions",
        "decisions     100,000   documents only; --replay repeats them",
        "",
        "✓ VERIFIED  no findings",
        "head sha256:abc",
    ]


def test_findings_by_kind_with_the_way_out() -> None:
    reported = report(
        Finding(kind=FindingKind.ROW, place="decisions dec_1", message="gone\x1b[2J"),
        Finding(kind=FindingKind.ROW, place="…", message="… and 7 more"),
        Finding(kind=FindingKind.COMMIT, place="bronze/orders commit 3", message="WRITE"),
    )
    assert reported.exit_code == 10
    assert plain(reported)[7:] == [
        "✗ ROW  rows of the database and of the ledger differ (exit 10)",
        "  decisions dec_1: gone\\x1b[2J",
        "  … and 7 more",
        "✗ COMMIT  governed tables have commits without a decision, or a damaged log (exit 14)",
        "  bronze/orders commit 3: WRITE",
        "",
        f"{'Next: lakeguard rebuild --replace':44}"
        "if the database was changed and the chain is intact",
        'Next: lakeguard undo DATASET --reason "…"'
        "   to put the table back to its published version",
        "head sha256:abc",
    ]


def test_every_kind_has_its_words() -> None:
    assert set(MEANING) == set(NEXT) == set(WHEN) == set(FindingKind)
    assert [kind.exit_code for kind in FindingKind] == list(range(10, 21))


def test_a_database_that_was_not_looked_at_is_no_fault_of_what_it_holds() -> None:
    reported = report(Finding(kind=FindingKind.UNSEEN, place="serving: live", message="it is away"))
    assert reported.exit_code == 20
    assert plain(reported)[7:] == [
        "✗ UNSEEN  target databases are unreachable (exit 20)",
        "  serving: live: it is away",
        "",
        "Next: lakeguard verify --data   once they are reachable again",
        "head sha256:abc",
    ]
