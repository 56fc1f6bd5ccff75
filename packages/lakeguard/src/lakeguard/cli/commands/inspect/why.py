"""``lakeguard why``: explain a decision."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.why import open_run_lines, why_lines
from lakeguard.cli.session import client_of
from lakeguard.cli.terminal.output import answer, this_screen
from lakeguard.services.explain_decision import explain
from lakeguard.services.next_commands import NextCommand, way_to_build
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.model.read_models import OpenRun, RunRow
from lakeguard_sdk.ports import Reader

_RUN = "run_"


@click.command("why")
@click.argument("subject", metavar="DATASET|RUN")
@click.option("--all", "every_check", is_flag=True, help="Include passed checks.")
@shared_options
def why_command(call: Call, subject: str, every_check: bool) -> None:
    """Explain the last run of DATASET, or a RUN: verdict, checks, changes, next steps."""
    reader = client_of(call).reader
    open_run = _find_open_run(reader, subject)
    if open_run is not None and subject.startswith(_RUN):
        answer(call, {"run": None, "open_run": open_run.to_data()}, open_run_lines(open_run))
        return
    run = _find_run(reader, subject)
    before = open_run_lines(open_run) if open_run is not None else []
    data: dict[str, object] = {"open_run": open_run.to_data()} if open_run is not None else {}
    if run is None:
        text = f"{subject} has not run yet"
        build = way_to_build(reader.definition(DatasetName(subject)))
        lines = before or [text, f"Next: {call.repeated_in(build)}"]
        answer(call, {"run": None, **data}, lines)
        return
    explanation = explain(reader, run, datetime.now(UTC))
    explanation = replace(
        explanation,
        next_commands=tuple(with_call_options(way, call) for way in explanation.next_commands),
    )
    lines = why_lines(explanation, this_screen(), every_check=every_check)
    answer(call, {**explanation.to_data(), **data}, [*before, *([""] if before else []), *lines])


def _find_open_run(reader: Reader, subject: str) -> OpenRun | None:
    """The newest run of the dataset that has not ended, or the named one."""
    if subject.startswith(_RUN):
        return next((row for row in reader.open_runs() if row.run_id == subject), None)
    found = reader.open_runs(reader.dataset(DatasetName(subject)).dataset_name)
    return found[0] if found else None


def _find_run(reader: Reader, subject: str) -> RunRow | None:
    if subject.startswith(_RUN):
        return reader.run(subject)
    name = reader.dataset(DatasetName(subject)).dataset_name
    found = (item for item in reader.status() if item.dataset.dataset_name == name)
    return next((item.last_run for item in found), None)


def with_call_options(way: NextCommand, call: Call) -> NextCommand:
    return way.model_copy(update={"command": call.repeated_in(way.command)})
