"""Options shared by all commands, accepted before or after the command name."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from lakeguard_sdk.client import Client


_ACCESS = "it manages access to a service, next to the database of that service"
NEEDS_FOLDER = {
    "dispatcher": "a service dispatches itself: lakeguard serve --dispatch",
    "serve": "it serves the control plane of that folder",
    "rebuild": "it fills an empty database, which has no service yet",
    "migrate": "it changes tables as their owner, and a service is not their owner",
    **dict.fromkeys(("org", "user", "role", "token"), _ACCESS),
}
"""Commands that need the project folder, and why. All others use the service that ``LAKEGUARD_URL``
names, or no control plane."""


@dataclass(frozen=True)
class Call:
    """The shared options of one call."""

    project: Path | None = None
    env: str | None = None
    json: bool = False
    debug: bool = False
    opened: list[Client] = field(default_factory=list)
    """Clients to close once the command has answered."""

    def repeated_in(self, command: str) -> str:
        """The command with ``--env`` and ``--project`` of this call."""
        command = with_env(command, self.env)
        if self.project is None:
            return command
        named = f"lakeguard --project {shlex.quote(str(self.project))} "
        return re.sub(r"\blakeguard (?=[a-z-])", lambda _: named, command)


def with_env(command: str, env: str | None) -> str:
    """The command with ``--env`` added to every ``lakeguard``."""
    if env is None:
        return command
    return re.sub(r"\blakeguard (?=[a-z])", f"lakeguard --env {env} ", command)


_PLACEHOLDER = re.compile(r"…|\.\.\.|NAME|WHY|REASON")
"""What suggested commands show where a person has to write something."""


def written(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Callback of options whose text is recorded: a placeholder says nothing."""
    if value is not None and _PLACEHOLDER.fullmatch(value.strip()):
        what = "who approves it" if parameter.name == "approver" else "the reason itself"
        raise click.BadParameter(f"{value.strip()} is a placeholder; write {what}")
    return value


_FOLDER = click.Path(path_type=Path, file_okay=False)

project_option = click.option(
    "--project",
    type=_FOLDER,
    metavar="FOLDER",
    help="Folder with lakeguard.toml; default: the nearest one from here upwards.",
)
env_option = click.option(
    "--env", metavar="NAME", help="Environment in lakeguard.toml, such as dev or prod."
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document to standard output."
)


def shared_options(function: Callable[..., int | None]) -> Callable[..., int | None]:
    """Adds ``--project``, ``--env`` and ``--json``; passes them to the command as a ``Call``."""

    def called(
        ctx: click.Context,
        *args: Any,
        project: Path | None,
        env: str | None,
        as_json: bool,
        **kwargs: Any,
    ) -> int | None:
        before = ctx.ensure_object(Call)
        call = replace(
            before,
            project=project or before.project,
            env=env or before.env,
            json=as_json or before.json,
        )
        return function(call, *args, **kwargs)

    named: Any = update_wrapper(called, function)
    decorated: Callable[..., int | None] = project_option(
        env_option(json_option(click.pass_context(named)))
    )
    return decorated
