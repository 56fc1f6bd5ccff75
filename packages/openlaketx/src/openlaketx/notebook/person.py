"""Who is at the keyboard."""

from __future__ import annotations

import getpass


def person() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
