"""``lakeguard backtest``: test draft rules against past runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.backtest import backtest_lines, backtest_markdown
from lakeguard.cli.session import client_of, project_of
from lakeguard.cli.terminal.output import write_json, write_lines
from lakeguard.cli.terminal.progress import working
from lakeguard.cli.terminal.time_arguments import moment_of
from lakeguard.registry.drafts import load_draft
from lakeguard.services.definition_errors import with_source_lines
from lakeguard.services.plain_text import escaped
from lakeguard_sdk.client import remeasure
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import NotInDraft
from lakeguard_sdk.model.definitions import DatasetDefinition
from lakeguard_sdk.model.history import Backtest
from lakeguard_sdk.ports import History

_BLOCKED = 3
_NO_DATA = 4


@click.command("backtest")
@click.argument("file", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--since", default="90d", show_default=True, help="A duration such as 90d, or a time."
)
@click.option("--dataset", metavar="DATASET", help="Only this dataset of FILE.")
@click.option("--scan", is_flag=True, help="Measure published versions where evidence is missing.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "markdown"]),
    default="table",
    show_default=True,
    help="Output format; markdown suits a merge request.",
)
@click.option(
    "--check",
    is_flag=True,
    help="Exit 3 if it would have blocked a good run, 4 if a new rule has no recorded data.",
)
@shared_options
def backtest_command(
    call: Call, file: Path, since: str, dataset: str | None, scan: bool, form: str, check: bool
) -> int:
    """Repeat past decisions with the rules of FILE.

    FILE is a file with one or more dataset definitions, or a folder; nothing is applied. Each
    decision that has evidence is repeated with these rules and everything else unchanged.
    """
    start = moment_of(since, datetime.now(UTC))
    project = project_of(call)
    with with_source_lines(project):
        drafts = _chosen(load_draft(file, project), dataset)
    history = client_of(call).history
    found = [_tested(history, draft, start, scan=scan) for draft in drafts]
    _print_results(found, "json" if call.json else form)
    return _checked(found) if check else 0


def _checked(found: Sequence[Backtest]) -> int:
    """Fails where a rule has no recorded data although ``--scan`` could provide it."""
    if any(test.spoils for test in found):
        return _BLOCKED
    unasked = [test for test in found if test.to_scan]
    if not unasked:
        return 0
    for test in unasked:
        names = ", ".join(map(escaped, test.to_scan))
        write_lines([f"no recorded data: {names} of {test.dataset}"], err=True)
    write_lines(["Next: lakeguard backtest FILE --check --scan"], err=True)
    return _NO_DATA


def _tested(history: History, draft: DatasetDefinition, since: datetime, *, scan: bool) -> Backtest:
    with working(f"backtesting {draft.dataset}") as show_progress:
        return history.backtest(
            draft,
            since,
            remeasure=remeasure if scan else None,
            progress=lambda stage: show_progress(stage, {}),
        )


def _chosen(
    drafts: tuple[DatasetDefinition, ...], dataset: str | None
) -> tuple[DatasetDefinition, ...]:
    if dataset is None:
        return drafts
    name = DatasetName(dataset)
    chosen = tuple(draft for draft in drafts if draft.dataset == name)
    if not chosen:
        raise NotInDraft(dataset=name, has=", ".join(draft.dataset for draft in drafts))
    return chosen


def _print_results(found: list[Backtest], form: str) -> None:
    if form == "json":
        write_json({"backtests": [_data(test) for test in found]})
        return
    lines = backtest_markdown if form == "markdown" else backtest_lines
    for place, test in enumerate(found):
        write_lines([*([""] if place else []), *lines(test)])


def _data(test: Backtest) -> dict[str, object]:
    return {
        **test.to_data(),
        "rules": [{**rule.to_data(), "share": rule.share} for rule in test.rules],
        "blocks": [run.run_id for run in test.blocks],
        "lets_through": [run.run_id for run in test.lets_through],
        "misses": [run.run_id for run in test.misses],
        "unchanged": test.unchanged,
        "new": test.new,
        "unasked": list(test.unasked),
    }
