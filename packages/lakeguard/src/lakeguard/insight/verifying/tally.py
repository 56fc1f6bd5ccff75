"""Findings as they come in: all are counted, and of each kind the first are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from lakeguard_sdk.proof import Finding, FindingKind

MOST_OF_A_KIND = 50


class Tally:
    """Of one verification."""

    def __init__(self) -> None:
        self.counted: Counter[FindingKind] = Counter()
        self._kept: dict[FindingKind, list[Finding]] = {kind: [] for kind in FindingKind}

    def add(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            kept = self._kept[finding.kind]
            self.counted[finding.kind] += 1
            if len(kept) < MOST_OF_A_KIND:
                kept.append(finding)

    def findings(self) -> tuple[Finding, ...]:
        """By kind, in the order they were found; what was not kept is one last finding."""
        told: list[Finding] = []
        for kind, kept in self._kept.items():
            told += kept
            more = self.counted[kind] - len(kept)
            if more:
                told.append(Finding(kind=kind, place="…", message=f"… and {more:,} more"))
        return tuple(told)
