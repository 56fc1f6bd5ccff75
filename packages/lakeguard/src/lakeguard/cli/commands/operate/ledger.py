"""``lakeguard verify``, ``sync`` and ``rebuild``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.verify import verify_lines
from lakeguard.cli.session import (
    client_of,
    project_of,
    require_folder,
    service_url,
)
from lakeguard.cli.terminal.layout import number
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.progress import note, working
from lakeguard.plane import rebuild_embedded, verify_embedded
from lakeguard.services.plain_text import plural
from lakeguard_sdk.client import local_worker
from lakeguard_sdk.model.verification import Finding, VerifyReport


def checked_head(text: str | None) -> str | None:
    """A hash as ``verify`` and ``sync`` print it; anything else would raise a false alarm."""
    if text is not None and not re.fullmatch(r"sha256:[0-9a-f]{64}", text):
        raise click.BadParameter("write a head as verify prints it: sha256: and 64 digits")
    return text


def _scanned(call: Call) -> Sequence[Finding]:
    """Unexpected and missing tables in target databases. Read-only."""
    client = client_of(call)
    places = client.ledger.data_places()
    if not places:
        return ()
    worker = local_worker(client.for_worker(), spark_options={})
    return client.ledger.judge_markers(worker.markers(places))


@click.command("verify")
@click.option("--replay", is_flag=True, help="Also repeat every decision.")
@click.option(
    "--head",
    metavar="HASH",
    callback=lambda ctx, parameter, value: checked_head(value),
    help="A head you saved earlier; the audit chain must contain it.",
)
@click.option("--data", is_flag=True, help="Also check the databases of targets.")
@shared_options
def verify_command(call: Call, replay: bool, head: str | None, data: bool) -> int:
    """Prove that the database, the ledger on the lake and the governed tables agree.

    Compares all rows, recomputes the audit chain, and checks that every commit has its decision
    and every published file its content. Changes nothing, but records what is wrong with a table,
    for status and alerts. Exit 0 without findings, else the code of the first kind, from 10.
    """
    with working("verifying") as show_progress:
        report = _verified(call, replay, head, lambda stage: show_progress(stage, {}))
        if data:
            show_progress("checking the databases of targets", {})
            found = (*report.findings, *_scanned(call))
            report = report.model_copy(update={"findings": found})
    data_of_report = {**report.to_data(), "exit_code": report.exit_code}
    answer(call, data_of_report, verify_lines(report, replayed=replay))
    return report.exit_code


def _verified(
    call: Call, replay: bool, head: str | None, progress: Callable[[str], None]
) -> VerifyReport:
    if service_url():
        return client_of(call).ledger.verify(replay=replay, head=head, progress=progress)
    return verify_embedded(
        project_of(call), env=call.env, replay=replay, head=head, progress=progress
    )


# ``lakeguard sync``


@click.command("sync")
@shared_options
def sync_command(call: Call) -> None:
    """Write pending rows of the database to the ledger on the lake.

    Every command does this before it exits; use sync if that failed.
    """
    synced = client_of(call).ledger.sync()
    rows = plural(synced.rows, "row")
    summary = f"{rows} in {plural(synced.batches, 'batch', 'batches')}"
    lines = [summary if synced.batches else "the ledger is up to date", f"head {synced.head}"]
    answer(call, synced.to_data(), lines)


# ``lakeguard rebuild``


@click.command("rebuild")
@click.option(
    "--replace", is_flag=True, help="Delete this organisation's rows from the database first."
)
@shared_options
def rebuild_command(call: Call, replace: bool) -> None:
    """Rebuild an empty database from the ledger on the lake.

    Use it if the database was lost, damaged, or restored from a backup older than the ledger. A
    damaged SQLite file is kept beside the new one. Foreign tables in the same schema are not
    touched. The rebuilt database then owns the lake.
    """
    require_folder("rebuild")
    rebuilt = rebuild_embedded(project_of(call), env=call.env, replace=replace, progress=note)
    many, batches = plural(rebuilt.rows, "fact"), plural(rebuilt.batches, "batch", "batches")
    lines = [f"{many} of {batches} restored, and the tables derived from them"]
    if rebuilt.dropped_rows:
        lines.append(f"{number(rebuilt.dropped_rows)} facts of an unfinished batch were dropped")
    if rebuilt.undelivered_rows:
        lost = number(rebuilt.undelivered_rows)
        lines.append(f"{lost} facts of the database had not reached the ledger and are lost")
    answer(call, rebuilt.to_data(), [*lines, f"head {rebuilt.head}", "Next: lakeguard verify"])
