"""``lakeguard init``: create a project folder."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import click

from lakeguard.cli.options import Call, json_option
from lakeguard.cli.terminal.layout import (
    Tone,
    indented,
    strong,
    toned,
)
from lakeguard.cli.terminal.output import answer
from lakeguard.services.plain_text import escaped, plural
from lakeguard_sdk.errors import AlreadyExists

_HIDDEN = {"gitignore": ".gitignore"}
"""Template files stored under another name, because the package itself would obey them."""

_BARE = frozenset({".gitignore", "lakeguard.toml"})
"""Files of an empty project."""

NEXT = ("lakeguard plan", "lakeguard apply", "lakeguard run --all", "lakeguard status")


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--example", is_flag=True, help="Include a small, commented, runnable example.")
@json_option
@click.pass_obj
def init_command(call: Call, folder: Path, example: bool, as_json: bool) -> None:
    """Create FOLDER with the settings of a new project.

    A folder that is not empty is refused and left unchanged.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise AlreadyExists(place=str(folder), command="init ANOTHER-FOLDER")
    written = [str(path) for path in write_template(folder, example=example)]
    follow = [*(() if example else ("lakeguard source add NAME PATTERN",)), *NEXT]
    data = {"folder": str(folder), "files": written, "next": [f"cd {folder}", *follow]}
    answer(Call(json=as_json or call.json), data, _lines(folder, written, follow))


def write_template(folder: Path, *, example: bool) -> list[Path]:
    """Writes the settings, or the whole example; returns the paths relative to the folder."""
    written = []
    for relative, source in sorted(_template_files(files("lakeguard.cli") / "template")):
        if not example and str(relative) not in _BARE:
            continue
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


def _lines(folder: Path, written: list[str], follow: list[str]) -> list[str]:
    count = plural(len(written), "file")
    return [
        f"{toned('✓ created', Tone.GOOD)}  {strong(escaped(folder))}   {count}",
        *indented(written),
        "",
        "Next:",
        *indented([f"cd {escaped(folder)}", *follow]),
    ]
