"""``lakeguard token``: service tokens of programs."""

from __future__ import annotations

from datetime import datetime, timedelta

import click

from lakeguard.cli.commands.build.waivers import end_of
from lakeguard.cli.commands.operate.identity import identity_of, reason_option
from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.identity import secret_lines, tokens_lines
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.progress import note

ACTIONS = ("read", "define", "run", "deploy", "curate", "work", "emit")
_MOST_HOURS = 24 * 90


@click.group("token")
def token_command() -> None:
    """List service tokens, create, rotate or revoke one."""


@token_command.command("list")
@click.option("--all", "every", is_flag=True, help="Include revoked tokens.")
@shared_options
def list_tokens(call: Call, every: bool) -> None:
    """List service tokens: what each may do, and when it was last used."""
    with identity_of(call) as identity:
        rows, now = identity.tokens(every=every), identity.state.clock()
    answer(call, {"tokens": [row.to_data() for row in rows]}, tokens_lines(rows, now))


@token_command.command("create")
@click.argument("name")
@click.option(
    "--allow",
    "actions",
    type=click.Choice(ACTIONS),
    multiple=True,
    required=True,
    help="An action that it may perform; repeat for more.",
)
@click.option(
    "--on",
    multiple=True,
    metavar="NAMESPACE",
    help="domain:NAME, a layer or a dataset; repeat for more. Default: everything.",
)
@click.option("--pii", is_flag=True, help="Show personal values to it.")
@click.option(
    "--until",
    metavar="DATE",
    help="Last day (UTC), or a time with its zone; default: never.",
)
@shared_options
def create_token(
    call: Call, name: str, actions: tuple[str, ...], on: tuple[str, ...], pii: bool, until: str
) -> None:
    """Create the service token NAME and print it, once."""
    from lakeguard.access.principal import Action

    end: datetime | None = end_of(until) if until else None
    chosen = [Action(action) for action in actions]
    with identity_of(call) as identity:
        shown = identity.create_token(name, chosen, on, pii=pii, expires_at=end)
    note("the token is shown once; keep it in a secret store")
    answer(call, {"name": name, "token": shown.text}, secret_lines(shown.text))


@token_command.command("rotate")
@click.argument("name")
@click.option(
    "--overlap-hours",
    type=click.IntRange(0, _MOST_HOURS),
    default=24,
    show_default=True,
    help="How long earlier secrets stay valid.",
)
@shared_options
def rotate_token(call: Call, name: str, overlap_hours: int) -> None:
    """Give the service token NAME a new secret and print it, once."""
    with identity_of(call) as identity:
        shown = identity.rotate_token(name, timedelta(hours=overlap_hours))
    note(f"earlier secrets stay valid for {overlap_hours} h")
    answer(call, {"name": name, "token": shown.text}, secret_lines(shown.text))


@token_command.command("revoke")
@click.argument("name")
@reason_option(required=True)
@shared_options
def revoke_token(call: Call, name: str, reason: str) -> None:
    """Refuse all secrets of the service token NAME, within a minute. It cannot be restored."""
    with identity_of(call) as identity:
        row, now = identity.revoke_token(name, reason), identity.state.clock()
    answer(call, {"token": row.to_data()}, tokens_lines([row], now))
