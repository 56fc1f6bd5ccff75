"""``lakeguard init``: a folder to start from."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import click

from lakeguard.cli.inert import inert
from lakeguard.cli.layout import Tone, indented, plural, strong, toned
from lakeguard.cli.options import Call, json_option
from lakeguard.cli.output import answer
from lakeguard_sdk.errors import AlreadyThere

_HIDDEN = {"gitignore": ".gitignore"}
"""Names that would act on the package itself if the template bore them."""

NEXT = (
    "lakeguard validate",
    "lakeguard plan",
    "lakeguard apply",
    "lakeguard run bronze.orders",
    "lakeguard run silver.orders",
    "lakeguard run gold.revenue_daily",
    "lakeguard status",
)


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path))
@json_option
@click.pass_obj
def command(call: Call, folder: Path, as_json: bool) -> None:
    """Make FOLDER, with settings and a small commented example that runs.

    A folder that already holds something is refused, and nothing in it is changed.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise AlreadyThere(place=str(folder), command="init")
    written = [str(path) for path in write_template(folder)]
    data = {"folder": str(folder), "files": written, "next": [f"cd {folder}", *NEXT]}
    answer(Call(json=as_json or call.json), data, _lines(folder, written))


def write_template(folder: Path) -> list[Path]:
    """Writes the example; the paths written, relative to the folder."""
    written = []
    for relative, source in sorted(_template_files(files("lakeguard.cli") / "template")):
        target = folder / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
        written.append(relative)
    return written


def _template_files(folder: Traversable, under: Path = Path()) -> list[tuple[Path, Traversable]]:
    found = []
    for entry in folder.iterdir():
        relative = under / _HIDDEN.get(entry.name, entry.name)
        found += _template_files(entry, relative) if entry.is_dir() else [(relative, entry)]
    return found


def _lines(folder: Path, written: list[str]) -> list[str]:
    return [
        f"{toned('✓ made', Tone.GOOD)}  {strong(inert(folder))}   {plural(len(written), 'file')}",
        *indented(written),
        "",
        "Next:",
        *indented([f"cd {inert(folder)}", *NEXT]),
    ]
