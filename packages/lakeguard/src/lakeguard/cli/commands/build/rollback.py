"""``lakeguard rollback`` and ``undo``: what readers see is put back."""

from __future__ import annotations

import click

from lakeguard.cli.options import Call, shared_options, written
from lakeguard.cli.session import writing
from lakeguard.cli.terminal.layout import (
    GAP,
    Tone,
    strong,
    toned,
)
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.progress import working
from lakeguard.services.run_task import published_version
from lakeguard_sdk.core.dataset_name import DatasetName, parse_version


@click.command("rollback")
@click.argument("dataset")
@click.option(
    "--to", "target", required=True, metavar="VERSION", help="Version to go back to, such as v1."
)
@click.option("--reason", callback=written, required=True, help="Reason, recorded in the ledger.")
@shared_options
def rollback_command(call: Call, dataset: str, target: str, reason: str) -> None:
    """Publish an earlier version of DATASET again.

    Current policies are checked against that version's evidence, and one commit restores its rows.
    The next published version gets the next number.
    """
    version = parse_version(target)
    with writing(call) as client:
        name = DatasetName(dataset)
        before = published_version(client, name)
        with working(f"rolling back {name}"):
            move = client.operations.rollback(name, version, reason)
    came_from = "" if before is None else f"v{before} → "
    line = f"{toned('✓ ROLLED BACK', Tone.GOOD)}  {strong(name)}{GAP}{came_from}v{move.version}"
    data = {"dataset": name, "from": before, "move": move.to_data()}
    answer(call, data, [line, f"Next: lakeguard show {name}"])


@click.command("undo")
@click.argument("dataset")
@click.option("--reason", callback=written, required=True, help="Reason, recorded in the ledger.")
@shared_options
def undo_command(call: Call, dataset: str, reason: str) -> None:
    """Put the table of DATASET back to its published version.

    Altered or missing entries of its Delta log are written back as the ledger recorded them,
    entries that no engine can read are moved to _delta_log/.undone, and commits without a decision
    are undone by one commit. Wrong checksum files beside data files are removed. Data files are not
    restored: if one is damaged, roll back to a whole version.
    """
    name = DatasetName(dataset)
    with writing(call) as client, working(f"undoing changes of {name}"):
        undone = client.operations.undo(name, reason)
    shown = "nothing is published yet" if undone.version is None else f"v{undone.version}"
    lines = [f"{toned('✓ UNDONE', Tone.GOOD)}  {strong(name)}{GAP}{shown}"]
    if undone.commits:
        numbers = ", ".join(map(str, undone.commits))
        lines.append(f"  log entries written back: {numbers}")
    if undone.log_entries:
        lines.append(f"  log entries moved to _delta_log/.undone: {', '.join(undone.log_entries)}")
    if undone.checksum_files:
        lines.append(f"  wrong checksum files removed: {len(undone.checksum_files):,}")
    if undone.moved:
        lines.append("  commits without a decision undone")
    answer(call, undone.to_data(), [*lines, "Next: lakeguard verify"])
