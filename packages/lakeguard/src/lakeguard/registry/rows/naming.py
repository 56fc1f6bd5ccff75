"""Names for what rows call otherwise: one rule each, and nothing is guessed."""

from __future__ import annotations

import re

from lakeguard_sdk.errors import BadName
from lakeguard_sdk.names import check_word

_APART = re.compile(r"[^a-z0-9]+")
_OWN_ID = re.compile(r"(?:ds|src|tgt|job)_[0-9A-HJKMNP-TV-Z]{26}")


def is_word(text: str) -> bool:
    try:
        check_word(text)
    except BadName:
        return False
    return True


def clean_word(text: str) -> str | None:
    """``OpenCellID Raw`` as ``opencellid_raw``; None where no name comes of it.

    A text that is a name already stays as it is. Else letters become lower case, whatever is
    neither letter nor digit becomes one underscore, and none stands at an end. Characters
    beyond ASCII are never dropped: such a text has no name.
    """
    if is_word(text):
        return text
    name = _APART.sub("_", text.lower()).strip("_")
    return name if text.isascii() and is_word(name) else None


def is_own_id(text: str) -> bool:
    """Whether the registry itself gave this id, so that it is no other system's."""
    return _OWN_ID.fullmatch(text) is not None
