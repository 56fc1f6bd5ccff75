"""The last run of a dataset as the ledger has it, and how an assertion tells of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.core.enums import (
    CheckKind,
    MoveKind,
    Outcome,
    RunStatus,
)
from lakeguard_sdk.errors import BadName, NoDecision, NotRegistered
from lakeguard_sdk.model.decision import CheckResult
from lakeguard_sdk.model.read_models import RunRow
from lakeguard_sdk.testing.lake import Lake

_NO_BUILDS = (MoveKind.ROLLBACK, MoveKind.COMPACTION)


@dataclass(frozen=True)
class Judged:
    """How the run ended, every check of its decision, and what readers see now."""

    run: RunRow
    checks: tuple[CheckResult, ...]
    published: int | None

    def describe(self) -> str:
        """What happened, with every check that did not pass."""
        lines = [f"{self.run.dataset}: {self._ended()} ({self.run.run_id})"]
        lines += [check_line(check) for check in self.checks if check.outcome is not Outcome.PASS]
        return "\n".join(lines)

    def _ended(self) -> str:
        match self.run.status:
            case RunStatus.BLOCKED:
                return f"the last run was BLOCKED, {shown(self.published)}"
            case RunStatus.FAILED:
                return f"the last run FAILED, {self.run.error_code}: {self.run.error_message}"
        if self.run.version is None:
            return f"the last run had nothing new, {shown(self.published)}"
        return f"the last run promoted v{self.run.version}, {shown(self.published)}"


def judged(lake: Lake, name: str) -> Judged:
    """Of the last run; fails where there is no such dataset, or it never ran."""
    __tracebackhide__ = True
    dataset = known_dataset(lake, name)
    run = _last_build(lake, dataset)
    if run is None:
        fail(f"{dataset} never ran; call lake.run({name!r}) first")
    try:
        checks = lake.client.reader.decision(run.run_id).ruling.checks
    except NoDecision:  # it failed before there was anything to decide
        checks = ()
    return Judged(run, checks, published_version(lake, dataset))


def _last_build(lake: Lake, dataset: DatasetName) -> RunRow | None:
    """A rollback and a compaction are runs, too, whatever came of them, and bring no rows."""
    runs = lake.client.reader.runs(dataset)
    return next((run for run in runs if run.move not in _NO_BUILDS), None)


def known_dataset(lake: Lake, name: str) -> DatasetName:
    __tracebackhide__ = True
    try:
        return lake.client.reader.dataset(DatasetName(name)).dataset_name
    except (BadName, NotRegistered):
        known = [str(row.dataset_name) for row in lake.client.reader.datasets()]
        fail(unknown("dataset", name, known))


def published_version(lake: Lake, dataset: DatasetName) -> int | None:
    status = lake.client.reader.status()
    return next(item.published for item in status if item.dataset.dataset_name == dataset)


def shown(version: int | None) -> str:
    return "nothing is published" if version is None else f"v{version} is published"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def check_line(check: CheckResult) -> str:
    expression = f" ({check.expression})" if check.kind is CheckKind.RULE else ""
    return f"  {check.outcome} {check.kind} {check.check_id}{expression}: {check.message}"


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """A misspelt name is never a thing that did not happen."""
    names = sorted(set(known))
    there = f"there are: {', '.join(names)}" if names else "there is none"
    return f"no such {kind} {name!r}{did_you_mean(name, names)}; {there}"


def fail(message: str) -> NoReturn:
    __tracebackhide__ = True
    raise AssertionError(message)
