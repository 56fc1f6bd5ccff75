"""Rendering of errors: stable code, message, next command."""

from __future__ import annotations

import click

from lakeguard.cli.options import with_env
from lakeguard.cli.terminal.layout import Tone, toned
from lakeguard.services.plain_text import escaped, escaped_lines
from lakeguard_sdk.client import Client
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.errors import BadName, LakeGuardError, NotRegistered

WRONG_CALL = "LG-1000"
"""Usage error: an unknown command, option or value."""

DEFECT = LakeGuardError.code
"""An unexpected exception."""


def failure_data(error: BaseException, env: str | None = None) -> dict[str, object]:
    """JSON of an error: always ``code``, ``message``, ``next`` and ``retryable``."""
    if isinstance(error, LakeGuardError):
        data = error.to_data()
        return {**data, "next": with_env(str(data["next"]), env)}
    if isinstance(error, click.ClickException):
        return {
            "code": WRONG_CALL,
            "message": " ".join(error.format_message().split()),  # choices stand below each other
            "next": _help_command(error),
            "retryable": False,
        }
    return {
        "code": DEFECT,
        "message": f"{type(error).__name__}: {error}",
        "next": LakeGuardError.next_command,
        "retryable": False,
    }


def with_meant_dataset(error: Exception, client: Client) -> Exception:
    """A name without its layer, as an unknown dataset with the one that is meant; else the error
    itself."""
    if not isinstance(error, BadName):
        return error
    text = str(error.fields["name"])
    try:
        known = [row.dataset_name for row in client.reader.datasets()]
    except LakeGuardError:
        return error
    same = [name for name in known if name.name == text.casefold()]
    hint = f"; did you mean {' or '.join(same)}?" if same else did_you_mean(text, known)
    return NotRegistered(dataset=text[:200], hint=hint) if hint else error


def failure_lines(error: BaseException, env: str | None = None) -> list[str]:
    """Notes, then ``LG-code message``, then ``Next: command``."""
    data = failure_data(error, env)
    first, *more = escaped_lines(data["message"])
    return [
        *(line for note in getattr(error, "__notes__", ()) for line in (*escaped_lines(note), "")),
        f"{toned(str(data['code']), Tone.BAD)}  {first}",
        *more,
        f"Next: {escaped(data['next'])}",
    ]


def exit_code_of(error: BaseException) -> int:
    if isinstance(error, LakeGuardError):
        return error.exit_code
    return 2 if isinstance(error, click.ClickException) else 1


def _help_command(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{context.command_path if context else 'lakeguard'} --help"
