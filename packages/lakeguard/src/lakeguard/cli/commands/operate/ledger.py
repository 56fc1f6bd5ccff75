"""``lakeguard verify``: proof that database, ledger and tables agree."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.verify import verify_lines
from lakeguard.cli.session import client_of, project_of
from lakeguard.cli.terminal.layout import number
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.progress import note, working
from lakeguard.plane import rebuild_embedded, verify_embedded
from lakeguard.services.plain_text import plural
from lakeguard_sdk.client import local_worker
from lakeguard_sdk.model.verification import Finding


def checked_head(text: str | None) -> str | None:
    """A hash as ``verify`` and ``sync`` print it; another text would be a false alarm."""
    if text is not None and not re.fullmatch(r"sha256:[0-9a-f]{64}", text):
        raise click.BadParameter("write a head as verify prints it: sha256: and 64 digits")
    return text


def _scanned(call: Call) -> Sequence[Finding]:
    """What lies in data databases and should not, or should and does not; nothing is changed."""
    client = client_of(call)
    places = client.ledger.data_places()
    if not places:
        return ()
    worker = local_worker(client.for_worker(), spark_options={})
    return client.ledger.judge_markers(worker.markers(places))


@click.command("verify")
@click.option("--replay", is_flag=True, help="Make every decision again, too.")
@click.option(
    "--head",
    metavar="HASH",
    callback=lambda ctx, parameter, value: checked_head(value),
    help="A head that you kept: the audit chain must still hold it.",
)
@click.option("--data", is_flag=True, help="Look into the databases of targets, too.")
@shared_options
def verify_command(call: Call, replay: bool, head: str | None, data: bool) -> int:
    """Prove that the database, the ledger on the lake and the governed tables agree.

    Rows are compared one by one, the audit chain is computed again, every commit needs its
    decision, every published file its content. Nothing is changed. Exit 0 if nothing was found,
    otherwise the code of the first kind of finding, from 10.
    """
    with working("verifying") as tell:
        report = verify_embedded(
            project_of(call),
            env=call.env,
            replay=replay,
            head=head,
            progress=lambda said: tell(said, {}),
        )
        if data:
            tell("looking into the databases of targets", {})
            found = (*report.findings, *_scanned(call))
            report = report.model_copy(update={"findings": found})
    told = {**report.to_data(), "exit_code": report.exit_code}
    answer(call, told, verify_lines(report, replayed=replay))
    return report.exit_code


# ``lakeguard sync``: the ledger on the lake, up to date.


@click.command("sync")
@shared_options
def sync_command(call: Call) -> None:
    """Write to the ledger on the lake what the database has and the lake has not.

    Every command does so before it ends; this one is for when that failed.
    """
    synced = client_of(call).ledger.sync()
    told = f"{number(synced.rows)} rows in {plural(synced.batches, 'batch', 'batches')}"
    lines = [told if synced.batches else "the ledger was up to date", f"head {synced.head}"]
    answer(call, synced.to_data(), lines)


# ``lakeguard rebuild``: the database from the lake alone.


@click.command("rebuild")
@click.option(
    "--replace", is_flag=True, help="Forget what the database holds of this organisation."
)
@shared_options
def rebuild_command(call: Call, replace: bool) -> None:
    """Fill an empty database from the ledger on the lake.

    For when the database is lost, or was restored from a backup older than the ledger. Tables of
    others in the same schema are left alone. From then on this database owns the lake.
    """
    rebuilt = rebuild_embedded(project_of(call), env=call.env, replace=replace, progress=note)
    lines = [f"{number(rebuilt.rows)} rows of {number(rebuilt.batches)} batches restored"]
    if rebuilt.dropped_rows:
        lines.append(f"{number(rebuilt.dropped_rows)} rows of an unfinished batch were dropped")
    if rebuilt.undelivered_rows:
        lost = number(rebuilt.undelivered_rows)
        lines.append(f"{lost} rows that the ledger never got were in the database, and are gone")
    answer(call, rebuilt.to_data(), [*lines, f"head {rebuilt.head}", "Next: lakeguard verify"])
