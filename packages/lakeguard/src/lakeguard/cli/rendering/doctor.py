"""Rendering of health checks."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard.cli.terminal.layout import Tone, columns, toned
from lakeguard.services.doctor import Finding
from lakeguard.services.plain_text import escaped, plural


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
