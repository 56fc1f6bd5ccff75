"""``lakeguard org``, ``user`` and ``role``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from lakeguard.cli.options import Call, shared_options, written
from lakeguard.cli.rendering.identity import (
    grant_lines,
    grants_lines,
    organisation_lines,
    user_lines,
)
from lakeguard.cli.session import client_of, project_of, require_folder
from lakeguard.cli.terminal.output import answer
from lakeguard.plane import open_state
from lakeguard.service_plane import manage_identity
from lakeguard.settings import load_settings

if TYPE_CHECKING:
    from lakeguard.services.manage_identity import ManageIdentity

ROLES = ("viewer", "engineer", "steward", "admin", "pii")


def reason_option(*, required: bool) -> Callable[..., Any]:
    default: dict[str, Any] = {} if required else {"default": ""}
    return click.option(
        "--reason",
        callback=written,
        required=required,
        help="Reason, recorded with the change.",
        **default,
    )


def _group() -> str:
    """The first word of the command that is called."""
    group = click.get_current_context().parent
    return "" if group is None else group.info_name or ""


@contextmanager
def identity_of(call: Call) -> Iterator[ManageIdentity]:
    """Management of identity in the environment; delivers changes to the ledger at the end."""
    require_folder(_group())
    client_of(call).start()
    settings = load_settings(project_of(call), call.env)
    database = open_state(settings)
    try:
        yield manage_identity(settings, database)
    finally:
        database.close()


# ``lakeguard org``


@click.group("org")
def org_command() -> None:
    """List the organisations of the database, create one, or revoke the access to one."""


@org_command.command("list")
@shared_options
def list_organisations(call: Call) -> None:
    """List organisations."""
    with identity_of(call) as identity:
        rows = identity.organisations()
    answer(call, {"organisations": [row.to_data() for row in rows]}, organisation_lines(rows))


@org_command.command("create")
@click.argument("name")
@shared_options
def create_organisation(call: Call, name: str) -> None:
    """Create the organisation NAME; nothing happens if it exists.

    An environment whose ``organisation`` is NAME works in it.
    """
    with identity_of(call) as identity:
        row = identity.create_organisation(name)
    answer(call, {"organisation": row.to_data()}, organisation_lines([row]))


@org_command.command("revoke")
@click.argument("name")
@reason_option(required=True)
@shared_options
def revoke_organisation(call: Call, name: str, reason: str) -> None:
    """Refuse all users and service tokens of the organisation NAME, within a minute."""
    with identity_of(call) as identity:
        row = identity.set_organisation(name, reason, active=False)
    answer(call, {"organisation": row.to_data()}, organisation_lines([row]))


@org_command.command("restore")
@click.argument("name")
@reason_option(required=False)
@shared_options
def restore_organisation(call: Call, name: str, reason: str) -> None:
    """Restore the access of users and service tokens to the organisation NAME."""
    with identity_of(call) as identity:
        row = identity.set_organisation(name, reason, active=True)
    answer(call, {"organisation": row.to_data()}, organisation_lines([row]))


# ``lakeguard user``


@click.group("user")
def user_command() -> None:
    """List users, create one, or revoke all access of one."""


@user_command.command("list")
@shared_options
def list_users(call: Call) -> None:
    """List users with their origin and state."""
    with identity_of(call) as identity:
        rows = identity.users()
    answer(call, {"users": [row.to_data() for row in rows]}, user_lines(rows))


@user_command.command("create")
@click.argument("name")
@shared_options
def create_user(call: Call, name: str) -> None:
    """Create the user NAME, so that roles can be granted before the first sign-in.

    NAME is the value of the issuer's user claim.
    """
    with identity_of(call) as identity:
        row = identity.create_user(name)
    answer(call, {"user": row.to_data()}, user_lines([row]))


@user_command.command("revoke")
@click.argument("name")
@reason_option(required=True)
@shared_options
def revoke_user(call: Call, name: str, reason: str) -> None:
    """Refuse the user NAME, within a minute. Grants are kept for a restore."""
    with identity_of(call) as identity:
        row = identity.set_user(name, reason, active=False)
    answer(call, {"user": row.to_data()}, user_lines([row]))


@user_command.command("restore")
@click.argument("name")
@reason_option(required=False)
@shared_options
def restore_user(call: Call, name: str, reason: str) -> None:
    """Restore the access of the user NAME."""
    with identity_of(call) as identity:
        row = identity.set_user(name, reason, active=True)
    answer(call, {"user": row.to_data()}, user_lines([row]))


# ``lakeguard role``


@click.group("role")
def role_command() -> None:
    """List roles of users, grant one, or revoke a grant."""


@role_command.command("list")
@click.argument("user", required=False)
@click.option("--all", "every", is_flag=True, help="Include revoked grants.")
@shared_options
def list_roles(call: Call, user: str | None, every: bool) -> None:
    """List grants, of all users or of USER."""
    with identity_of(call) as identity:
        rows = identity.grants(user, every=every)
    answer(call, {"grants": [row.to_data() for row in rows]}, grants_lines(rows))


@role_command.command("grant")
@click.argument("user")
@click.argument("role", type=click.Choice(ROLES), metavar="ROLE")
@click.option(
    "--on",
    default="",
    metavar="NAMESPACE",
    help="domain:NAME, a layer, a dataset, or records:KIND.",
)
@reason_option(required=False)
@shared_options
def grant_role(call: Call, user: str, role: str, on: str, reason: str) -> None:
    """Grant ROLE to USER, on everything or on a domain, a layer or a dataset.

    viewer reads; engineer also applies, runs and deploys; steward also waives, rolls back,
    discards, approves and invalidates; admin also manages users and tokens. pii shows personal
    values where another role lets the user read.
    """
    from lakeguard.access.principal import Role

    with identity_of(call) as identity:
        row = identity.grant(user, Role(role), on, reason)
    answer(call, {"grant": row.to_data()}, grant_lines(row))


@role_command.command("revoke")
@click.argument("grant")
@reason_option(required=True)
@shared_options
def revoke_role(call: Call, grant: str, reason: str) -> None:
    """Revoke GRANT, an id that ``role list`` shows; this takes effect within a minute."""
    with identity_of(call) as identity:
        row = identity.revoke_grant(grant, reason)
    answer(call, {"grant": row.to_data()}, grant_lines(row))
