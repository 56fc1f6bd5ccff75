"""The doctor's list: what is there, what is missing, the command that fixes it."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard.cli.terminal.escape import inert
from lakeguard.cli.terminal.layout import (
    Tone,
    columns,
    plural,
    toned,
)
from lakeguard_sdk.core.frozen_model import Noun


class Finding(Noun):
    """One thing looked at; ``fix`` is the command to type where it is not as it should be."""

    name: str
    ok: bool
    detail: str
    fix: str = ""


def doctor_lines(findings: Sequence[Finding]) -> list[str]:
    rows = [
        [
            toned("✓", Tone.GOOD) if finding.ok else toned("✗", Tone.BAD),
            inert(finding.name),
            inert(finding.detail),
        ]
        for finding in findings
    ]
    missing = [finding for finding in findings if not finding.ok]
    if not missing:
        return [*columns(rows), "", "Everything is there."]
    fixes = [f"Next: {inert(finding.fix)}" for finding in missing if finding.fix]
    return [*columns(rows), "", f"{plural(len(missing), 'thing')} missing", *fixes]
