"""``lakeguard apply``: definitions become the registry's, all or none."""

from __future__ import annotations

from pathlib import Path

import click
from pydantic import ValidationError

from lakeguard.cli.inert import inert
from lakeguard.cli.mistakes import shown_in_place
from lakeguard.cli.opening import project_of, writing
from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.output import answer
from lakeguard.cli.views.plan import applied_lines
from lakeguard.registry.loading import load_folder
from lakeguard_sdk.client import Client
from lakeguard_sdk.planning import KeptPlan, Plan


@click.command("apply")
@click.argument(
    "file", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False)
)
@shared_options
def command(call: Call, file: Path | None) -> None:
    """Make the definitions the registry's, in one transaction.

    With FILE exactly the plan kept there is applied; it is refused if the registry has moved since.
    The same definitions again change nothing.
    """
    with shown_in_place(project_of(call)), writing(call) as client:
        plan = _fresh(client, call) if file is None else _kept(file)
        applied = client.registry.apply(plan)
    data = {"applied": applied.to_data(), "plan": plan.to_data()}
    answer(call, data, applied_lines(plan, applied))


def _fresh(client: Client, call: Call) -> Plan:
    return client.registry.plan(load_folder(project_of(call)))


def _kept(file: Path) -> Plan:
    try:
        return KeptPlan.from_json(file.read_bytes()).opened()
    except ValidationError:
        raise click.UsageError(
            f"{inert(file)} is not a plan; make one: lakeguard plan --out {inert(file)}"
        ) from None
