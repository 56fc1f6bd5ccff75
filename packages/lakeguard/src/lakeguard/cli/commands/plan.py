"""``lakeguard plan``: what apply would do."""

from __future__ import annotations

from pathlib import Path

import click

from lakeguard.cli.mistakes import shown_in_place
from lakeguard.cli.opening import client_of, project_of
from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.output import answer
from lakeguard.cli.views.plan import plan_lines
from lakeguard.registry.loading import load_folder
from lakeguard_sdk.planning import KeptPlan


@click.command("plan")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    metavar="FILE",
    help="Keep the plan, to apply exactly it: lakeguard apply FILE.",
)
@shared_options
def command(call: Call, out: Path | None) -> None:
    """Show what apply would change, without changing anything."""
    folder = project_of(call)
    with shown_in_place(folder):
        plan = client_of(call).registry.plan(load_folder(folder))
    if out is not None:
        out.write_text(KeptPlan.of(plan).to_json() + "\n", encoding="utf-8")
    answer(call, {"plan": plan.to_data()}, plan_lines(plan, out))
