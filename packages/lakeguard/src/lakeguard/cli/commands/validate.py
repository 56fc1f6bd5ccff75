"""``lakeguard validate``: definitions alone, quick enough for a hook before each commit."""

from __future__ import annotations

import click
from sqlalchemy.engine import make_url

from lakeguard.cli.layout import Tone, toned
from lakeguard.cli.mistakes import shown_in_place
from lakeguard.cli.opening import project_of
from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.output import answer
from lakeguard.cli.views.plan import counted, counts_of
from lakeguard.registry.apart import require_apart
from lakeguard.registry.loading import load_folder
from lakeguard.settings import load_settings


@click.command("validate")
@shared_options
def command(call: Call) -> None:
    """Check every definition; each mistake is shown where it stands. Exit 2 if there is one."""
    folder = project_of(call)
    with shown_in_place(folder):
        definitions = load_folder(folder)
    server = load_settings(folder, call.env).database.server
    if server:
        require_apart(definitions.targets, make_url(server))
    data = {"valid": True, "counts": counts_of(definitions)}
    answer(call, data, [f"{toned('✓ valid', Tone.GOOD)}  {counted(definitions)}"])
