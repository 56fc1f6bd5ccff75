"""``lakeguard plan``: what apply would do."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError
from sqlalchemy.engine import make_url

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.plan import (
    applied_lines,
    plan_lines,
    unfailable_lines,
    warning_lines,
)
from lakeguard.cli.session import client_of, project_of, service_url, writing
from lakeguard.cli.terminal.layout import Tone, toned
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.progress import note
from lakeguard.plane import open_state
from lakeguard.registry.load_folder import load_folder
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.snapshot import RegistryState
from lakeguard.registry.store import read_state
from lakeguard.registry.validation.settings_checks import require_apart, require_store
from lakeguard.services.definition_counts import counted, counts_of
from lakeguard.services.definition_errors import with_source_lines
from lakeguard.services.definition_warnings import DefinitionWarning, definition_warnings
from lakeguard.services.plain_text import escaped
from lakeguard.services.unfailable_rules import UnfailableRule, unfailable_rules
from lakeguard.settings import Settings, load_settings
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.errors import SecretMissing, StateError
from lakeguard_sdk.model.definitions import Definitions
from lakeguard_sdk.model.plan import Plan, SavedPlan


@click.command("plan")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    metavar="FILE",
    help="Save the plan, to apply exactly it: lakeguard apply FILE.",
)
@shared_options
def plan_command(call: Call, out: Path | None) -> None:
    """Show what apply would change, without changing anything."""
    folder = project_of(call)
    with with_source_lines(folder):
        registry = client_of(call).registry  # wrong settings are told first
        definitions = load_folder(folder)
        plan = registry.plan(definitions)
    if out is not None:
        out.write_text(SavedPlan.of(plan).to_json() + "\n", encoding="utf-8")
    warned = _warnings(definitions, plan)
    data = {"plan": plan.to_data(), **_warning_data(warned)}
    answer(call, data, [*warning_lines(warned), *plan_lines(plan, out)])


def _warnings(definitions: Definitions, plan: Plan | None = None) -> list[DefinitionWarning]:
    return list(definition_warnings(definitions, datetime.now(UTC), plan))


def _warning_data(warned: list[DefinitionWarning]) -> dict[str, Any]:
    return {"definition_warnings": [item.to_data() for item in warned]}


# ``lakeguard apply``


@click.command("apply")
@click.argument(
    "file", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False)
)
@shared_options
def apply_command(call: Call, file: Path | None) -> None:
    """Apply definitions to the registry, in one transaction.

    With FILE, applies exactly the saved plan; refused if the registry has changed since. Applying
    the same definitions again changes nothing.
    """
    with with_source_lines(project_of(call)), writing(call) as client:
        if file is None:
            definitions = load_folder(project_of(call))
            plan = client.registry.plan(definitions)
            warned = _warnings(definitions, plan)
        else:
            plan, warned = _saved(file), []
        applied = client.registry.apply(plan)
    data = {"applied": applied.to_data(), "plan": plan.to_data(), **_warning_data(warned)}
    answer(call, data, [*warning_lines(warned), *applied_lines(plan, applied)])


def _saved(file: Path) -> Plan:
    try:
        return SavedPlan.from_json(file.read_bytes()).opened()
    except ValidationError:
        raise click.UsageError(
            f"{escaped(file)} is not a plan; make one: lakeguard plan --out {escaped(file)}"
        ) from None


# ``lakeguard validate``: finds what apply would refuse; fast enough for a pre-commit hook.


@click.command("validate")
@click.option(
    "--strict", is_flag=True, help="Warn of rules that no recorded run could have failed, too."
)
@shared_options
def validate_command(call: Call, strict: bool) -> None:
    """Check every definition and show each error with its source line. Exit 2 on errors.

    Every reference must be defined or registered. If the registry is unavailable, a note says so
    and only the files are checked. Warnings do not change the exit code.
    """
    folder = project_of(call)
    with with_source_lines(folder):
        definitions = load_folder(folder)
        settings = load_settings(folder, call.env)
        if settings.database.server:
            require_apart(definitions.targets, make_url(settings.database.server))
        require_store(definitions, settings.secrets.command)
        ask = _ask_service if service_url() else _ask_state
        unasked, recorded = ask(call, definitions, settings)
    if unasked:
        note(f"only the files were checked; the registry is unavailable: {escaped(unasked)}")
    warned = tuple(_unfailable(call, definitions)) if strict and recorded else ()
    data = {"valid": True, "registry_asked": not unasked, "counts": counts_of(definitions)}
    data |= {"warnings": [item.to_data() for item in warned]} if strict else {}
    doubtful = _warnings(definitions)
    lines = [f"{toned('✓ valid', Tone.GOOD)}  {counted(definitions)}", *warning_lines(doubtful)]
    answer(call, data | _warning_data(doubtful), [*lines, *unfailable_lines(warned)])


def _unfailable(call: Call, definitions: Definitions) -> Iterator[UnfailableRule]:
    return unfailable_rules(client_of(call).reader, definitions.datasets)


def _ask_service(call: Call, definitions: Definitions, _: Settings) -> tuple[str, bool]:
    """As ``_ask_state``, with the service that ``LAKEGUARD_URL`` names."""
    try:
        client_of(call).registry.plan(definitions)
    except (StateError, SecretMissing) as error:
        return str(error), False
    return "", True


def _ask_state(_: Call, definitions: Definitions, settings: Settings) -> tuple[str, bool]:
    """Raises what apply would raise, changing nothing. Returns why the registry is unavailable,
    else an empty string, and whether there is a State; a missing one counts as an empty
    registry."""
    database = open_state(settings)
    try:
        if database.revision() is None:
            make_plan(definitions, RegistryState(), settings.lake)
            return "", False
        database.check()
        with OrganisationState.of(database, settings.organisation).read() as tx:
            current = read_state(tx)
            make_plan(definitions, current, settings.lake)
    except (StateError, SecretMissing) as error:
        return str(error), False
    finally:
        database.close()
    return "", True
