"""``lakeguard verify``: proof that database, ledger and tables agree."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

from lakeguard.cli.opening import client_of, project_of
from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.output import answer
from lakeguard.cli.progress import working
from lakeguard.cli.views.verify import verify_lines
from lakeguard.plane import verify_embedded
from lakeguard_sdk.client import local_worker
from lakeguard_sdk.proof import Finding


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
def command(call: Call, replay: bool, head: str | None, data: bool) -> int:
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
