"""Patterns of texts: which letters and digits they are, is left out."""

from __future__ import annotations

import string

LONGEST = 60
"""Characters of a text that its pattern is made of; a longer text ends in ``…``."""

_START = f"left(value, {LONGEST})"
_PLAIN = (
    f"translate({_START}, '{string.ascii_lowercase}{string.ascii_uppercase}{string.digits}',"
    f" '{'a' * 26}{'A' * 26}{'9' * 10}')"
)
_ANY = (
    f"regexp_replace(regexp_replace(regexp_replace({_START}, '[\\p{{Lu}}\\p{{Lt}}]', 'A', 'g'),"
    " '[\\p{Ll}\\p{Lm}\\p{Lo}]', 'a', 'g'), '\\p{Nd}', '9', 'g')"
)
_PATTERN = (
    f"CASE WHEN strlen(value) = length(value) THEN {_PLAIN} ELSE {_ANY} END"
    f" || CASE WHEN length(value) > {LONGEST} THEN '…' ELSE '' END"
)
"""Letters of ASCII are many times faster to find."""

PATTERNS = f"SELECT {_PATTERN} AS value, sum(rows) AS rows FROM lg_values GROUP BY 1"  # noqa: S608
"""Over the counted values of a text column."""
