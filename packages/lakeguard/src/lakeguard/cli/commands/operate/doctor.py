"""``lakeguard doctor``: check the installation and the project."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.session import service_url
from lakeguard.cli.terminal.layout import Tone, columns, toned
from lakeguard.cli.terminal.output import answer
from lakeguard.plane import open_state
from lakeguard.services.doctor import Finding, examine, examine_service
from lakeguard.services.plain_text import escaped, plural


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


def doctor_lines(findings: Sequence[Finding]) -> list[str]:
    rows = [
        [
            toned("✓", Tone.GOOD) if finding.ok else toned("✗", Tone.BAD),
            escaped(finding.name),
            escaped(finding.detail),
        ]
        for finding in findings
    ]
    missing = [finding for finding in findings if not finding.ok]
    if not missing:
        return [*columns(rows), "", "All checks passed."]
    fixes = [f"Next: {escaped(finding.fix)}" for finding in missing if finding.fix]
    return [*columns(rows), "", f"{plural(len(missing), 'check')} failed", *fixes]
