"""Every rule as calls with an oracle, and the data to ask them of."""

from __future__ import annotations

import re
from random import Random

from hypothesis import strategies as st

from tests.property.measure.macro_json_cases import JSON_PRIMITIVES
from tests.property.measure.macro_key_cases import KEY_MACROS, VALUE_MACROS
from tests.property.measure.macro_number_cases import MISSING_MACROS, NUMBER_MACROS, TIME_MACROS
from tests.property.measure.macro_oracle import Data, Oracle
from tests.property.measure.macro_primitive_keys import KEY_PRIMITIVES
from tests.property.measure.macro_primitive_rows import ROW_PRIMITIVES
from tests.property.measure.macro_primitive_values import (
    TABLE_PRIMITIVES,
    VALUE_PRIMITIVES,
)
from tests.property.measure.macro_rows import rows
from tests.property.measure.macro_text_cases import TEXT_MACROS

MACROS: dict[str, Oracle] = {
    **TEXT_MACROS,
    **NUMBER_MACROS,
    **TIME_MACROS,
    **MISSING_MACROS,
    **KEY_MACROS,
    **VALUE_MACROS,
}
PRIMITIVES: dict[str, Oracle] = {
    **ROW_PRIMITIVES,
    **KEY_PRIMITIVES,
    **VALUE_PRIMITIVES,
    **TABLE_PRIMITIVES,
    **JSON_PRIMITIVES,
}


_TIME = re.compile(r"\b(day|till|at|done|local|ended|seen)\b|timestamp|date")
_QUICK = TIME_MACROS | ROW_PRIMITIVES | VALUE_PRIMITIVES
_KEYS = ("new_values(day, ", "new_values(at, ", "new_values(local, ", "no_gaps(")
TIMED: dict[str, Oracle] = {
    call: oracle
    for call, oracle in (_QUICK | KEY_MACROS | VALUE_MACROS).items()
    if (call in _QUICK and _TIME.search(call)) or call.startswith(_KEYS)
}
"""Rules that look at days and times, or at texts of them, and few that need a query each."""


@st.composite
def tables(draw: st.DrawFn, least: int, most: int) -> Data:
    """So many new rows beside fewer that are there already."""
    chance = Random(draw(st.integers(0, 2**32)))
    return table_of(chance, draw(st.integers(least, most)))


def table_of(chance: Random, count: int) -> Data:
    middle = count + chance.choice([0, 0, 0, 9])
    batch, existing, others = (rows(chance, size) for size in (count, count // 3, 12))
    if chance.random() < 0.3:
        others = chance.sample([*batch, *existing], count + count // 3)[chance.randrange(2) :]
    return Data(
        batch=batch,
        existing=existing,
        others=others,
        counts=tuple(max(0, middle + chance.randrange(-5, 6)) for _ in range(6)),
    )
