"""All built-in rule types."""

from __future__ import annotations

from lakeguard.gate.rule_types.aggregates import (
    Deviation,
    Greatest,
    Least,
    Mean,
    NumberOfRows,
    Total,
)
from lakeguard.gate.rule_types.arrays_and_maps import ArrayElements, ArraySize, MapKeys
from lakeguard.gate.rule_types.columns import COMPARISONS, ColumnOrder
from lakeguard.gate.rule_types.datasets import DatasetEqual, ForeignKey, NotInReference
from lakeguard.gate.rule_types.drift import NullDrift, QuantileValue, SetDrift, Stability
from lakeguard.gate.rule_types.freshness import Freshness, NotFuture, NotOlderThan
from lakeguard.gate.rule_types.json import JsonKeys, JsonSchema, JsonValid
from lakeguard.gate.rule_types.membership import (
    FullMatch,
    MemberOfSet,
    NoMatch,
    NotMemberOfSet,
)
from lakeguard.gate.rule_types.nulls import MustBeNull, NotNull, Unique
from lakeguard.gate.rule_types.rule_type import RuleTypes
from lakeguard.gate.rule_types.sequences import (
    Decreasing,
    Increasing,
    NoGaps,
    NoIntervalGap,
    NoOverlap,
)
from lakeguard.gate.rule_types.shares import (
    Completeness,
    Distinct,
    DistinctRatio,
    MostCommon,
    UniqueRatio,
)
from lakeguard.gate.rule_types.sql_conditions import GroupQuery, RowCondition, TotalFormula
from lakeguard.gate.rule_types.table_shape import TABLE_RULES
from lakeguard.gate.rule_types.texts import Castable, Format, LetterCase, Like, WrittenDate
from lakeguard.gate.rule_types.value_range import OutsideRange, TextLength, ValueRange

RULE_TYPES = RuleTypes(
    (
        NotNull(),
        ValueRange(),
        TextLength(),
        MemberOfSet(),
        FullMatch(),
        ColumnOrder(),
        MustBeNull(),
        *COMPARISONS,
        OutsideRange(),
        NotMemberOfSet(),
        NoMatch(),
        Like(),
        Castable(),
        WrittenDate(),
        ArraySize(),
        ArrayElements(),
        MapKeys(),
        JsonValid(),
        JsonKeys(),
        JsonSchema(),
        Format(),
        LetterCase(),
        RowCondition(),
        TotalFormula(),
        GroupQuery(),
        Unique(),
        Distinct(),
        DistinctRatio(),
        UniqueRatio(),
        MostCommon(),
        Completeness(),
        ForeignKey(),
        NotInReference(),
        DatasetEqual(),
        NumberOfRows(),
        Mean(),
        Least(),
        Greatest(),
        Total(),
        Deviation(),
        QuantileValue(),
        Freshness(),
        NotOlderThan(),
        NotFuture(),
        NoGaps(),
        Increasing(),
        Decreasing(),
        NoOverlap(),
        NoIntervalGap(),
        SetDrift(),
        Stability(),
        NullDrift(),
        *TABLE_RULES,
    )
)
