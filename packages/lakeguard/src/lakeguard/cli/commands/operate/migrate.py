"""``lakeguard migrate``: the tables of the database, and who may use them."""

from __future__ import annotations

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.session import project_of, require_folder
from lakeguard.cli.terminal.output import answer
from lakeguard.plane import migrate_embedded
from lakeguard.services.plain_text import escaped
from lakeguard_sdk.model.verification import Migrated


@click.command("migrate")
@shared_options
def migrate_command(call: Call) -> None:
    """Create or update the tables of the database; repeating it changes nothing.

    Other commands do this themselves, unless the environment names an owner. Then this command
    connects as the owner, binds the role in database to the rows of one organisation at a time,
    and grants it what the service needs.
    """
    require_folder("migrate")
    migrated = migrate_embedded(project_of(call), env=call.env)
    answer(call, migrated.to_data(), _lines(migrated))


def _lines(migrated: Migrated) -> list[str]:
    shown = f"{escaped(migrated.place)}: schema {migrated.revision}"
    came = "" if migrated.before == migrated.revision else f", was {migrated.before or 'empty'}"
    lines = [f"{shown}{came}"]
    if migrated.service_role:
        role = escaped(migrated.service_role)
        lines.append(f"role {role} sees the rows of one organisation at a time")
    return lines
