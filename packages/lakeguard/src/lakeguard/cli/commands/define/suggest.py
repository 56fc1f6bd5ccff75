"""``lakeguard suggest``: rules that the data speaks for, to edit and to paste."""

from __future__ import annotations

from pathlib import Path

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.suggest import (
    chosen_of,
    fragment_lines,
    suggested_data,
    wrote_lines,
)
from lakeguard.cli.session import writing
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.progress import working
from lakeguard.services.suggest_rules import rules_for
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import AlreadyExists

VERSIONS = 5


@click.command("suggest")
@click.argument("dataset")
@click.option(
    "--versions",
    default=VERSIONS,
    show_default=True,
    type=click.IntRange(1),
    help="Number of versions to test each rule on, newest first.",
)
@click.option("--all", "everything", is_flag=True, help="Include weak suggestions.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the YAML to FILE, which must not exist.",
)
@shared_options
def suggest_command(
    call: Call, dataset: str, versions: int, everything: bool, out: Path | None
) -> None:
    """Suggest rules for DATASET from the profile of the published version, with evidence.

    Every published row satisfies each suggested rule. Nothing is applied: the output is YAML to
    edit and paste into the definition.
    """
    if out is not None and out.exists():
        raise AlreadyExists(place=str(out), command=f"suggest {dataset} --out ANOTHER-FILE")
    with writing(call) as client, working(f"suggesting rules for {dataset}") as show_progress:
        found = rules_for(
            client, DatasetName(dataset), versions, lambda stage: show_progress(stage, {}), working
        )
    chosen = chosen_of(found, everything=everything)
    lines = fragment_lines(found, chosen)
    if out is not None:
        _write(out, lines)
        lines = wrote_lines(found, chosen, out)
    answer(call, suggested_data(found, chosen), lines)


def _write(out: Path, lines: list[str]) -> None:
    with out.open("x", encoding="utf-8") as file:
        file.write("\n".join([*lines, ""]))
