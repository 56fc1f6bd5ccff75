"""``lakeguard doctor``: check the installation and the project."""

from __future__ import annotations

from pathlib import Path

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.doctor import doctor_lines
from lakeguard.cli.session import service_url
from lakeguard.cli.terminal.output import answer
from lakeguard.plane import open_state
from lakeguard.services.doctor import examine, examine_service


@click.command("doctor")
@shared_options
def doctor_command(call: Call) -> int:
    """Check Java, Spark, the Delta jars, definitions, database and lake; where LAKEGUARD_URL is
    set, the service instead of the database.

    Each failed check is shown with the command that fixes it. Exit 1 if any check fails.
    """
    start = call.project or Path.cwd()
    if url := service_url():
        findings = examine_service(start, url)
    else:
        findings = examine(start, call.env, open_state)
    well = all(finding.ok for finding in findings)
    data = {"ok": well, "findings": [finding.to_data() for finding in findings]}
    answer(call, data, doctor_lines(findings))
    return 0 if well else 1
