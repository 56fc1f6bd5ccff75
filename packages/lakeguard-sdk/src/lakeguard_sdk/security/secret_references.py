"""Secret references, resolved only where they are used.

``env:NAME`` is an environment variable, ``file:PATH`` the content of a file without trailing line
ends, ``secret://NAME`` what the command of ``lakeguard.toml`` prints for that name. Values exist in
memory only, and every text that may contain one goes through ``without``.
"""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote, quote_plus

from lakeguard_sdk.errors import SecretMissing

MASK = "***"
_LONGEST_FILE = 1 << 20
_AT_ONCE = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
"""Opening a FIFO without a writer must not block."""


STORE = "secret://"
"""Start of a reference into a secret store."""
_SECONDS = 30
_command: tuple[str, ...] = ()
"""Prints a secret of the store; of this process, which serves one project."""


def use_store(command: Sequence[str]) -> None:
    """Resolve ``secret://NAME`` with this command, which gets NAME as its last argument and prints
    the value. It comes from ``lakeguard.toml``: a definition never names a program."""
    global _command
    _command = tuple(command)


def resolve(reference: str) -> str:
    """The secret's value; raises ``SecretMissing``, which never contains a value."""
    scheme, _, rest = reference.partition(":")
    if scheme == "env" and rest:
        return _variable(reference, rest)
    if scheme == "file" and rest:
        return _content(reference, rest)
    if reference.startswith(STORE) and reference != STORE:
        return _printed(reference)
    # The text may be a literal secret, so it is not repeated.
    raise SecretMissing(reference=MASK, reason="write env:NAME, file:PATH or secret://NAME")


def resolve_all(references: Mapping[str, str]) -> dict[str, str]:
    return {name: resolve(reference) for name, reference in references.items()}


def without(text: str, values: Iterable[str]) -> str:
    """The text with every secret masked, including URL-encoded forms."""
    spellings = {
        spelled
        for value in values
        for spelled in (value, quote(value, safe=""), quote(value), quote_plus(value))
        if spelled
    }
    for spelled in sorted(spellings, key=len, reverse=True):
        text = text.replace(spelled, MASK)
    return text


def _printed(reference: str) -> str:
    """The output of the store's command; its error output may hold secrets and is not shown."""
    if not _command:
        raise SecretMissing(reference=reference, reason="lakeguard.toml names no secrets command")
    name = reference.removeprefix(STORE)
    if name.startswith("-"):
        raise SecretMissing(reference=reference, reason="a name does not start with -")
    program = os.path.basename(_command[0])
    try:
        ended = subprocess.run(  # noqa: S603 - no shell; the command is the operator's
            [*_command, name],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        text = ended.stdout[:_LONGEST_FILE].decode("utf-8").rstrip("\r\n")
    except subprocess.TimeoutExpired:
        reason = f"{program} did not end within {_SECONDS} s"
        raise SecretMissing(reference=reference, reason=reason) from None
    except OSError as error:
        reason = f"{program} cannot be started: {error.strerror}"
        raise SecretMissing(reference=reference, reason=reason) from None
    except UnicodeDecodeError:
        raise SecretMissing(reference=reference, reason=f"{program} printed no text") from None
    if ended.returncode:
        reason = f"{program} ended with exit code {ended.returncode}"
        raise SecretMissing(reference=reference, reason=reason)
    return _given(reference, text)


def _variable(reference: str, name: str) -> str:
    value = os.environ.get(name)
    if value is None:
        raise SecretMissing(reference=reference, reason="the variable is not set")
    return _given(reference, value)


def _content(reference: str, place: str) -> str:
    try:
        text = _plain_text(reference, place)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SecretMissing(reference=reference, reason=reason) from None
    except UnicodeDecodeError:
        raise SecretMissing(reference=reference, reason="the file is not text") from None
    return _given(reference, text.rstrip("\r\n"))


def _plain_text(reference: str, place: str) -> str:
    opened = os.open(place, _AT_ONCE)
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise SecretMissing(reference=reference, reason="it is not a regular file")
    with os.fdopen(opened, encoding="utf-8") as file:
        return file.read(_LONGEST_FILE)


def _given(reference: str, value: str) -> str:
    if not value.strip():
        raise SecretMissing(reference=reference, reason="it is empty")
    return value
