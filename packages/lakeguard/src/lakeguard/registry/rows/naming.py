"""Names for what rows call otherwise: one rule each, and nothing is guessed."""

from __future__ import annotations

import re

from lakeguard_sdk.errors import BadName
from lakeguard_sdk.names import check_word

_APART = re.compile(r"[^a-z0-9]+")


def clean_word(text: str) -> str | None:
    """``OpenCellID Raw`` as ``opencellid_raw``; None where no name comes of it.

    A text that is a name already stays as it is. Else letters become lower case, whatever is
    neither letter nor digit becomes one underscore, and none stands at an end. Characters
    beyond ASCII are never dropped: such a text has no name.
    """
    for name in (text, _APART.sub("_", text.lower()).strip("_")):
        try:
            return check_word(name) if text.isascii() else None
        except BadName:
            continue
    return None


def clean_column(text: str) -> str:
    """``Cell ID#`` as ``cell_id``: ``#`` is dropped, a blank becomes ``_``, all lower case."""
    return text.replace("#", "").strip().replace(" ", "_").lower()
