"""All rule types that exist."""

from __future__ import annotations

from lakeguard.gate.rule_type import RuleTypes
from lakeguard.gate.rule_types.aggregates import Greatest, Least, Mean, NumberOfRows, Total
from lakeguard.gate.rule_types.column_order import ColumnOrder
from lakeguard.gate.rule_types.membership import FullMatch, MemberOfSet
from lakeguard.gate.rule_types.not_null import NotNull
from lakeguard.gate.rule_types.uniqueness import Unique
from lakeguard.gate.rule_types.value_range import TextLength, ValueRange

RULE_TYPES = RuleTypes(
    (
        NotNull(),
        ValueRange(),
        TextLength(),
        MemberOfSet(),
        FullMatch(),
        ColumnOrder(),
        Unique(),
        NumberOfRows(),
        Mean(),
        Least(),
        Greatest(),
        Total(),
    )
)
