"""``lakeguard quarantine``: rows that rules kept out of a table."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from lakeguard.cli.commands.build.run import EXIT_CODES
from lakeguard.cli.options import Call, shared_options, with_env, written
from lakeguard.cli.rendering.quarantine import (
    balance_line,
    discarded_lines,
    listing_lines,
    quarantine_lines,
    quarantined_lines,
    unchanged_lines,
)
from lakeguard.cli.rendering.run import run_lines
from lakeguard.cli.session import (
    client_of,
    person,
    writing,
)
from lakeguard.cli.terminal.output import answer, this_screen
from lakeguard.cli.terminal.progress import note, working
from lakeguard.services.next_commands import replay_command
from lakeguard.services.plain_text import escaped
from lakeguard.services.run_task import (
    published_version,
    quarantined_by,
    rows_in_quarantine,
    run_to_end,
)
from lakeguard_sdk.client import local_worker
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.quarantine import QuarantineSelection, QuarantineState, ReplayParameters

_run = click.option("--run", "runs", multiple=True, metavar="RUN", help="Only rows of this run.")
_rule = click.option(
    "--rule", "rules", multiple=True, metavar="RULE", help="Only rows that failed this rule."
)


@click.group("quarantine")
def quarantine_command() -> None:
    """List, show, replay or discard rows that rules kept out of a table."""


@quarantine_command.command("list")
@click.argument("dataset", required=False)
@click.option("--all", "every", is_flag=True, help="Include rows no longer in quarantine.")
@shared_options
def listing(call: Call, dataset: str | None, every: bool) -> None:
    """List quarantined rows, of all datasets or of DATASET, and check that all rows add up."""
    reader = client_of(call).reader
    asked = None if dataset is None else reader.dataset(DatasetName(dataset)).dataset_name
    found = reader.quarantine(asked)
    shown = [row for row in found if every or row.state is QuarantineState.QUARANTINED]
    names = sorted({row.dataset for row in found} | ({asked} if asked else set()))
    balances = [reader.quarantine_balance(name) for name in names]
    data = {
        "quarantine": [row.to_data() for row in shown],
        "quarantined": sum(row.rows for row in found if row.state is QuarantineState.QUARANTINED),
        "balances": [{**item.to_data(), "adds_up": item.adds_up} for item in balances],
    }
    lines = quarantine_lines(shown, datetime.now(UTC))
    answer(call, data, [*lines, *map(balance_line, balances)])


@quarantine_command.command("show")
@click.argument("dataset")
@_run
@_rule
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=20,
    show_default=True,
    help="Maximum number of rows.",
)
@shared_options
def show(
    call: Call, dataset: str, runs: tuple[str, ...], rules: tuple[str, ...], limit: int
) -> None:
    """Show quarantined rows of DATASET, with the rules they fail and since when.

    Values of tagged columns, and of columns that a PII policy covers, are masked.
    """
    reader = client_of(call).reader
    name = reader.dataset(DatasetName(dataset)).dataset_name
    choice = QuarantineSelection(runs=runs, rules=rules)
    listed = reader.quarantined_rows(name, choice, limit)
    answer(call, listed.to_data(), listing_lines(listed, this_screen(), choice))


@quarantine_command.command("replay")
@click.argument("dataset")
@_run
@_rule
@click.option(
    "--as-newest",
    is_flag=True,
    help="Treat the rows as newer than the table's rows with the same keys.",
)
@shared_options
def replay(
    call: Call, dataset: str, runs: tuple[str, ...], rules: tuple[str, ...], as_newest: bool
) -> int:
    """Replay quarantined rows of DATASET as a batch through the gate.

    Rows that pass are added to the table, the others stay in quarantine. If none passes, no version
    is created. Exit codes are those of run.
    """
    asked = DatasetName(dataset)
    order = ReplayParameters(
        choice=QuarantineSelection(runs=runs, rules=rules), as_newest=as_newest
    )
    with writing(call) as client:
        name = client.reader.dataset(asked).dataset_name
        task_id = client.operations.submit_replay(name, person(), order.choice, as_newest=as_newest)
        with working(f"replaying rows of {name}") as show_progress:
            worker = local_worker(
                client.for_worker(), spark_options=client.spark_options, progress=show_progress
            )
            result = run_to_end(client, worker, name, person(), task_id=task_id, note=note)
        published = published_version(client, name)
        quarantined, sent = (
            quarantined_by(client, result),
            rows_in_quarantine(client, name, order.choice),
        )
    data = {
        "run": result.to_data(),
        "published": published,
        "quarantined": [row.to_data() for row in quarantined],
    }
    again = escaped(with_env(replay_command(name, order), call.env))
    lines = [*run_lines(result, published, again), *quarantined_lines(quarantined)]
    if result.status is RunStatus.SUCCESS and result.version is None:
        lines = unchanged_lines(name, sent, published)
    answer(call, data, lines)
    return EXIT_CODES[result.status]


@quarantine_command.command("discard")
@click.argument("dataset")
@_run
@_rule
@click.option("--reason", callback=written, required=True, help="Reason, recorded in the ledger.")
@shared_options
def discard(
    call: Call, dataset: str, runs: tuple[str, ...], rules: tuple[str, ...], reason: str
) -> None:
    """Discard quarantined rows of DATASET; they cannot be replayed."""
    with writing(call) as client:
        name = client.reader.dataset(DatasetName(dataset)).dataset_name
        choice = QuarantineSelection(runs=runs, rules=rules)
        gone = client.operations.discard(name, choice, reason)
        balance = client.reader.quarantine_balance(name)
    data = {"discarded": [row.to_data() for row in gone], "balance": balance.to_data()}
    answer(call, data, [*discarded_lines(name, gone), balance_line(balance)])
