"""Next steps after a failed or blocked run, as commands."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from lakeguard.services.windows import backfill_command
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import CheckKind, Outcome, RunStatus
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.errors import BuiltByProgram, error_classes
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.definitions import DatasetDefinition, FromFrame
from lakeguard_sdk.model.quarantine import ReplayParameters
from lakeguard_sdk.model.read_models import RunFacts, RunRow, VersionRow
from lakeguard_sdk.model.run import Failure, SchemaReaction

_DEFINED = {
    CheckKind.RULE: "The rule was wrong: change its definition",
    CheckKind.POLICY: "The policy was wrong, or the dataset violates it: change the definition",
}
"""When to change a definition, by kind of failed check."""


class NextCommand(FrozenModel):
    """A command, and when to use it."""

    command: str
    when: str


def next_commands_of(
    run: RunRow,
    green: VersionRow | None,
    current: Mapping[DatasetName, int | None],
    dataset: DatasetDefinition,
    decision: Decision | None = None,
) -> Iterator[NextCommand]:
    """Next commands, the most likely first; none for a successful run.

    ``current`` are the inputs whose published version is still the one that the run read.
    """
    if run.status is RunStatus.SUCCESS:
        return
    adopt = f"lakeguard adopt {dataset.dataset} {shlex.quote(dataset.location)}"
    to_adopt = bool(dataset.location) and green is None
    if run.status is RunStatus.FAILED and to_adopt:
        yield NextCommand(command=adopt, when="To continue")
        return
    if run.status is RunStatus.FAILED:
        failure = Failure(
            code=run.error_code or "", message=run.error_message or "", damaged=run.damaged
        )
        program = isinstance(dataset.build, FromFrame) and run.replay is None
        again = _again(run)
        command = (
            way_to_build(dataset)
            if program
            else next_for_failure(failure, run.dataset, run.run_id, again)
        )
        yield NextCommand(command=command, when="To continue")
        return
    for item in green.inputs if green else ():
        now = current.get(item.dataset)
        if green and now is not None and now > item.version:
            yield NextCommand(
                command=f'lakeguard rollback {item.dataset} --to v{item.version} --reason "…"',
                when=f"{item.dataset} v{now} is wrong: go back to the input of v{green.version}",
            )
    if _cannot_load(decision) and _again(run):
        yield NextCommand(
            command=f"lakeguard apply && {way_to_build(dataset)}",
            when="After changing the definition as the check says; needs a full run",
        )
        return
    build = adopt if to_adopt else _again(run) or way_to_build(dataset)
    yield NextCommand(command=build, when="After fixing the data or the build")
    for kind, when in _DEFINED.items():
        if _has_failed(decision, kind):
            yield NextCommand(command=_applied(dataset, run), when=when)


def _again(run: RunRow) -> str:
    """The command of the run, if it was not a plain run."""
    if run.replay is not None:
        return replay_command(run.dataset, run.replay)
    return backfill_command(run.dataset, run.window) if run.window else ""


def _has_failed(decision: Decision | None, kind: CheckKind, check_id: str | None = None) -> bool:
    checks = decision.ruling.checks if decision else ()
    failed = (c for c in checks if c.kind is kind and c.outcome in (Outcome.FAIL, Outcome.ERROR))
    return any(check_id in (None, check.check_id) for check in failed)


def _cannot_load(decision: Decision | None) -> bool:
    """Whether the declared table cannot be reached by an incremental load."""
    return _has_failed(decision, CheckKind.ELIGIBILITY, "load")


def schema_ways(decision: Decision | None) -> Iterator[NextCommand]:
    """For runs blocked by schema differences: the definition may be outdated."""
    checks = decision.ruling.checks if decision else ()
    if decision and any(
        check.kind is CheckKind.SCHEMA
        and check.outcome is Outcome.FAIL
        and check.check_id.startswith("schema.")
        for check in checks
    ):
        yield NextCommand(
            command=f"lakeguard schema diff {decision.dataset}",
            when="To see the differences, and the reaction of each profile",
        )
        yield NextCommand(
            command=f'lakeguard schema approve {decision.dataset} --reason "…"',
            when="The schema is right and the declaration is outdated",
        )


def column_ways(run: RunRow, new_columns: tuple[SchemaReaction, ...]) -> Iterator[NextCommand]:
    """For columns that are left out of the table because nobody declared them."""
    if new_columns:
        yield NextCommand(
            command=f"lakeguard schema diff {run.dataset}",
            when=f"To declare {', '.join(item.column for item in new_columns)}, or leave it out",
        )


def quarantine_ways(run: RunRow, facts: RunFacts | None) -> Iterator[NextCommand]:
    """For versions published without quarantined rows."""
    if run.version is not None and facts is not None and facts.quarantined:
        yield NextCommand(
            command=f"lakeguard quarantine show {run.dataset} --run {run.run_id}",
            when="To see the quarantined rows",
        )


def way_to_build(dataset: DatasetDefinition) -> str:
    """The command that builds the next version; a program call for datasets built by programs."""
    if isinstance(dataset.build, FromFrame):
        return BuiltByProgram.next_command.format(dataset=dataset.dataset)
    return f"lakeguard run {dataset.dataset}"


def _applied(dataset: DatasetDefinition, run: RunRow) -> str:
    """Datasets built by programs need no run after apply."""
    if isinstance(dataset.build, FromFrame) and run.replay is None:
        return "lakeguard apply"
    return f"lakeguard apply && {_again(run) or way_to_build(dataset)}"


def next_for_failure(
    failure: Failure | None, dataset: DatasetName, run_id: str, again: str = ""
) -> str:
    """The next command of the error's class, with the damaged dataset or that of the run, and the
    run, filled in.

    ``again`` replaces a plain run, if the failed run was not one.
    """
    if failure is not None:
        for kind in error_classes():
            if kind.code == failure.code:
                command = _filled(kind.next_command, failure.damaged or dataset, run_id)
                return command.replace(f"lakeguard run {dataset}", again) if again else command
    return f"lakeguard runs {dataset}"


def _filled(command: str, dataset: str, run_id: str) -> str:
    try:
        return command.format(dataset=dataset, run=run_id)
    except (KeyError, IndexError):
        return f"lakeguard why {dataset}"


def replay_command(name: DatasetName, order: ReplayParameters) -> str:
    """The command that repeats the replay."""
    options = [f"--run {shlex.quote(run)}" for run in order.choice.runs]
    options += [f"--rule {shlex.quote(rule)}" for rule in order.choice.rules]
    options += ["--as-newest"] if order.as_newest else []
    return " ".join([f"lakeguard quarantine replay {name}", *options])
