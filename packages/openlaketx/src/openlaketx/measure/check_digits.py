"""Check digits as SQL that every engine reads alike, and that no text makes raise.

Each is a condition over a text that was made ready once, so that nothing is worked out again for
every digit. It is asked of texts of the right shape alone.
"""

from __future__ import annotations

from string import ascii_uppercase

READY = "lg_t"
"""The text that was made ready."""

_LONGEST_CARD = 20
_DIGITS = "0123456789"
_DOUBLED = "0516273849"
"""Each digit at the place that is the sum of the digits of twice its value."""
_PIECE, _PIECES = 15, 5
"""So many digits, and what is left of those before them, fit in a long integer; so many pieces
hold the 34 characters of an IBAN with two digits for each letter."""

CARD = rf"[0-9]{{2,{_LONGEST_CARD}}}"
IBAN = r"[A-Z]{2}(?:0[2-9]|[1-8][0-9]|9[0-8])[A-Z0-9]{11,30}"
"""Check digits are 02 to 98: 99 would leave the same as 02."""


def ready_card(text: str) -> str:
    """Zeros before a number add nothing."""
    return f"lpad({text}, {_LONGEST_CARD}, '0')"


def right_card() -> str:
    """Every second digit from the right but the last counts double, and the sum is a multiple of
    10. Places begin with 1, so that each of the twenty counts one too many, which is one too."""
    places = (
        f"instr('{_DOUBLED if at % 2 else _DIGITS}', substr({READY}, {at}, 1))"
        for at in range(1, _LONGEST_CARD + 1)
    )
    return f"(({' + '.join(places)}) % 10 = 0)"


def ready_iban(text: str) -> str:
    """The first four characters last, and two digits for every letter."""
    turned = f"concat(substr({text}, 5), substr({text}, 1, 4))"
    for number, letter in enumerate(ascii_uppercase, 10):
        turned = f"replace({turned}, '{letter}', '{number}')"
    return f"lpad({turned}, {_PIECE * _PIECES}, '0')"


def right_iban() -> str:
    """The number leaves 1 when it is divided by 97, piece by piece."""
    left = "0"
    for piece in range(_PIECES):
        digits = f"TRY_CAST(substr({READY}, {piece * _PIECE + 1}, {_PIECE}) AS BIGINT)"
        left = f"(({left} * {10**_PIECE} + {digits}) % 97)"
    return f"({left} = 1)"
