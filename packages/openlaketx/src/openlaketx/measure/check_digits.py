"""Check digits as SQL that every engine reads alike, and that no text makes raise.

A character counts by its place in a text of all of them, so that nothing is cast.
"""

from __future__ import annotations

_LONGEST_CARD = 20
_LONGEST_IBAN = 34
_DIGITS = "0123456789"
_DOUBLED = "0516273849"
"""Each digit at the place that is the sum of the digits of twice its value."""
_SIGNS = _DIGITS + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

CARD = rf"[0-9]{{2,{_LONGEST_CARD}}}"
IBAN = r"[A-Z]{2}(?:0[2-9]|[1-8][0-9]|9[0-8])[A-Z0-9]{11,30}"
"""What the sums below are asked of. Check digits are 02 to 98: 99 would leave the same as 02."""


def luhn_sum(text: str) -> str:
    """The sum that cards must have a multiple of 10 of; every second digit from the right but the
    last counts double. Zeros before a number add nothing."""
    padded = f"lpad({text}, {_LONGEST_CARD}, '0')"
    places = (
        f"instr('{_DOUBLED if at % 2 else _DIGITS}', substr({padded}, {at}, 1))"
        for at in range(1, _LONGEST_CARD + 1)
    )
    # every place counts one too many, which twenty of them make good
    return f"({' + '.join(places)})"


def iban_remainder(text: str) -> str:
    """What the number that an IBAN stands for leaves by 97: its first four characters last, and
    every letter two digits."""
    turned = f"lpad(concat(substr({text}, 5), substr({text}, 1, 4)), {_LONGEST_IBAN}, '0')"
    so_far = "0"
    for at in range(1, _LONGEST_IBAN + 1):
        sign = f"substr({turned}, {at}, 1)"
        more = f"CASE WHEN instr('{_DIGITS}', {sign}) > 0 THEN 10 ELSE 100 END"
        so_far = f"(({so_far} * {more} + instr('{_SIGNS}', {sign}) - 1) % 97)"
    return so_far
