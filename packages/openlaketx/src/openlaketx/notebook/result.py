"""Result of a publish, also rendered in notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Self

from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.errors import PublishBlocked, PublishFailed
from lakeguard_sdk.model.decision import CheckResult, Decision
from lakeguard_sdk.model.run import RunResult


@dataclass(frozen=True)
class PublishResult:
    """The run's result; ``registered`` if the dataset was registered by this publish."""

    run: RunResult
    registered: bool = False

    @property
    def status(self) -> RunStatus:
        return self.run.status

    @property
    def version(self) -> int | None:
        """The published version, if any."""
        return self.run.version

    @property
    def decision(self) -> Decision | None:
        return self.run.decision

    def raise_if_blocked(self) -> Self:
        """Return the result, or raise unless the run succeeded."""
        if self.status is RunStatus.BLOCKED:
            reasons = self.decision.ruling.reasons if self.decision else ()
            reason = "; ".join(reasons) or "no reason was recorded"
            raise PublishBlocked(dataset=self.run.dataset, reason=reason, run=self.run.run_id)
        if self.status is RunStatus.FAILED:
            reason = self.run.error.message if self.run.error else "unknown error"
            raise PublishFailed(dataset=self.run.dataset, reason=reason)
        return self

    def __str__(self) -> str:
        return ". ".join(self._sentences())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        lines = "".join(f"<div>{escape(line)}</div>" for line in self._sentences())
        checks = self.decision.ruling.checks if self.decision else ()
        if not checks:
            return lines
        head = "".join(f"<th>{title}</th>" for title in ("Check", "Outcome", "Message"))
        rows = "".join(_row(check) for check in checks)
        return f"{lines}<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

    def _sentences(self) -> Iterator[str]:
        run = self.run
        if self.registered:
            yield f"{run.dataset} was registered with the columns of this frame"
        if run.status is RunStatus.FAILED:
            yield f"{run.dataset} failed: {run.error.message if run.error else 'unknown error'}"
        elif run.status is RunStatus.BLOCKED:
            yield f"{run.dataset} was blocked; nothing was published (run {run.run_id})"
        elif run.version is None:
            yield f"{run.dataset} is unchanged"
        else:
            noun = "row" if run.rows == 1 else "rows"
            rows = "" if run.rows is None else f", {run.rows:,} {noun}"
            yield f"{run.dataset} is published as v{run.version}{rows}"


def _row(check: CheckResult) -> str:
    cells = (f"{check.kind} {check.check_id}", check.outcome, check.message)
    return f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in cells)}</tr>"
