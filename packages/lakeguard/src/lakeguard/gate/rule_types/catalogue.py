"""All rule types that exist."""

from __future__ import annotations

from lakeguard.gate.rule_type import RuleTypes
from lakeguard.gate.rule_types.aggregates import (
    Deviation,
    Greatest,
    Least,
    Mean,
    NumberOfRows,
    Total,
)
from lakeguard.gate.rule_types.arrays import ArrayElements, ArraySize
from lakeguard.gate.rule_types.column_order import ColumnOrder
from lakeguard.gate.rule_types.comparisons import COMPARISONS
from lakeguard.gate.rule_types.dataset_equal import DatasetEqual
from lakeguard.gate.rule_types.drift import NullDrift, Stability
from lakeguard.gate.rule_types.freshness import Freshness, NotFuture, NotOlderThan
from lakeguard.gate.rule_types.json_texts import JsonKeys, JsonSchema, JsonValid
from lakeguard.gate.rule_types.maps import MapKeys
from lakeguard.gate.rule_types.membership import (
    FullMatch,
    MemberOfSet,
    NoMatch,
    NotMemberOfSet,
)
from lakeguard.gate.rule_types.most_common import MostCommon
from lakeguard.gate.rule_types.not_null import NotNull
from lakeguard.gate.rule_types.not_range import OutsideRange
from lakeguard.gate.rule_types.null import MustBeNull
from lakeguard.gate.rule_types.references import ForeignKey, NotInReference
from lakeguard.gate.rule_types.sequences import (
    Decreasing,
    Increasing,
    NoGaps,
    NoIntervalGap,
    NoOverlap,
)
from lakeguard.gate.rule_types.set_drift import SetDrift
from lakeguard.gate.rule_types.shares import (
    Completeness,
    Distinct,
    DistinctRatio,
    UniqueRatio,
)
from lakeguard.gate.rule_types.spread import QuantileValue
from lakeguard.gate.rule_types.sql_agg import TotalFormula
from lakeguard.gate.rule_types.sql_query import GroupQuery
from lakeguard.gate.rule_types.sql_row import RowCondition
from lakeguard.gate.rule_types.table_shape import TABLE_RULES
from lakeguard.gate.rule_types.text_forms import Castable, Like, WrittenDate
from lakeguard.gate.rule_types.text_words import Format, LetterCase
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
