"""``lakeguard validate``: what apply would refuse, quick enough for a hook before each commit."""

from __future__ import annotations

import click
from sqlalchemy.engine import make_url

from lakeguard.cli.inert import inert
from lakeguard.cli.layout import Tone, toned
from lakeguard.cli.mistakes import shown_in_place
from lakeguard.cli.opening import project_of
from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.output import answer
from lakeguard.cli.progress import note
from lakeguard.cli.views.plan import counted, counts_of
from lakeguard.plane import open_state
from lakeguard.registry.apart import require_apart
from lakeguard.registry.current import RegistryState
from lakeguard.registry.loading import load_folder
from lakeguard.registry.planning import make_plan
from lakeguard.registry.store import read_state
from lakeguard.settings import Settings, load_settings
from lakeguard_sdk.definition import Definitions
from lakeguard_sdk.errors import SecretMissing, StateError


@click.command("validate")
@shared_options
def command(call: Call) -> None:
    """Check every definition; each mistake is shown where it stands. Exit 2 if there is one.

    What definitions name has to be defined or registered. A registry that cannot be asked is told
    of, and the files are checked alone.
    """
    folder = project_of(call)
    with shown_in_place(folder):
        definitions = load_folder(folder)
        settings = load_settings(folder, call.env)
        if settings.database.server:
            require_apart(definitions.targets, make_url(settings.database.server))
        unasked = _compare(definitions, settings)
    if unasked:
        note(f"only the files were checked, for the registry was not asked: {inert(unasked)}")
    data = {"valid": True, "registry_asked": not unasked, "counts": counts_of(definitions)}
    answer(call, data, [f"{toned('✓ valid', Tone.GOOD)}  {counted(definitions)}"])


def _compare(definitions: Definitions, settings: Settings) -> str:
    """Refuse what apply would refuse, changing nothing. The answer says why the registry could
    not be asked; where there is no State yet, nothing is registered."""
    database = open_state(settings)
    try:
        if database.revision() is None:
            make_plan(definitions, RegistryState(), settings.lake)
            return ""
        database.check()
        with database.read() as connection:
            current = read_state(connection, settings.organisation)
            make_plan(definitions, current, settings.lake)
    except (StateError, SecretMissing) as error:
        return str(error)
    finally:
        database.close()
    return ""
