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
from lakeguard_sdk.errors import AlreadyThere

VERSIONS = 5


@click.command("suggest")
@click.argument("dataset")
@click.option(
    "--versions",
    default=VERSIONS,
    show_default=True,
    type=click.IntRange(1),
    help="How many versions to hold each rule against, the published one first.",
)
@click.option("--all", "everything", is_flag=True, help="Weak suggestions too.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the YAML there; a file that is there already stays.",
)
@shared_options
def suggest_command(
    call: Call, dataset: str, versions: int, everything: bool, out: Path | None
) -> None:
    """Draft rules for DATASET from the profile of what is published, with the evidence for each.

    Every one of them is kept by every row that is published. Nothing is applied: the answer is YAML
    to edit, and to paste into the definition.
    """
    if out is not None and out.exists():
        raise AlreadyThere(place=str(out), command=f"suggest {dataset} --out ANOTHER-FILE")
    with writing(call) as client, working(f"suggesting rules for {dataset}") as tell:
        found = rules_for(
            client, DatasetName(dataset), versions, lambda stage: tell(stage, {}), working
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
