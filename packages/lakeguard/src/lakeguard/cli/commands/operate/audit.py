"""``lakeguard audit``: who did what, and whether the record of it was changed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.verify import audit_lines, audit_report_lines
from lakeguard.cli.session import client_of
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.progress import working
from lakeguard.cli.terminal.time_arguments import moment_of
from lakeguard.services.plain_text import escaped
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import AuditHeadRefused
from lakeguard_sdk.model.verification import SignedHead


@click.group("audit")
def audit_command() -> None:
    """List who did what, prove that the record was not changed, export its head."""


@audit_command.command("list")
@click.option("--since", metavar="WHEN", help="A duration such as 7d, a day, or a time.")
@click.option("--actor", metavar="WHO", help="Of this actor only.")
@click.option("--dataset", metavar="DATASET", help="Of this dataset only.")
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=50,
    show_default=True,
    metavar="N",
    help="Maximum number of rows.",
)
@shared_options
def list_command(
    call: Call, since: str | None, actor: str | None, dataset: str | None, limit: int
) -> None:
    """List who did what, allowed or refused, newest first."""
    rows = client_of(call).audit.rows(
        since=None if since is None else moment_of(since, datetime.now(UTC)),
        actor=actor,
        dataset=None if dataset is None else DatasetName(dataset),
        limit=limit,
    )
    answer(call, {"rows": [row.to_data() for row in rows]}, audit_lines(rows))


@audit_command.command("verify")
@click.option(
    "--head",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A head that audit head exported; the chain must contain it.",
)
@shared_options
def verify_command(call: Call, head: Path | None) -> int:
    """Name the first recorded row that was edited, deleted, reordered or truncated.

    Exit 12 if a row was changed, 13 if the chain ends too early.
    """
    signed = None if head is None else _read(head)
    with working("verifying the audit"):
        report = client_of(call).audit.verify(signed)
    data = {**report.to_data(), "exit_code": report.exit_code}
    answer(call, data, audit_report_lines(report))
    return report.exit_code


@audit_command.command("head")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    required=True,
    help="The file to write; keep it out of reach of those who can change the database.",
)
@shared_options
def head_command(call: Call, out: Path) -> None:
    """Export the head of the audit chain, signed: it proves later that nothing was cut off."""
    signed = client_of(call).audit.head()
    out.write_text(f"{signed.to_json()}\n", "utf-8")
    head = signed.head
    lines = [f"{escaped(str(out))}: batch {head.batch}", f"head {head.head}", f"key {signed.key}"]
    answer(call, signed.to_data(), lines)


def _read(file: Path) -> SignedHead:
    try:
        return SignedHead.from_json(file.read_bytes())
    except (ValueError, OSError):
        raise AuditHeadRefused(reason=f"{file} is not an exported head") from None
