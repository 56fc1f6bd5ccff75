"""``quantile(column, q=0.95)``"""

from __future__ import annotations

from decimal import Decimal

from lakeguard.gate.judgement import Bounds, GroupsJudged, ValueJudged, ask
from lakeguard.gate.literals import Number, number_text
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.resolution import Resolver
from lakeguard.gate.rule_type import ParameterSpec, RuleType
from lakeguard.gate.rule_types.value_limits import NUMBERS, by_groups, check_limits, past_of
from lakeguard_sdk.measure import Quantile
from lakeguard_sdk.schema import is_numeric


class QuantileValue(RuleType):
    name = "quantile"
    summary = (
        "The value below which a share `q` of the values lies is between the bounds. Between two"
        " values it lies where the share does; numbers are taken as doubles."
    )
    example = "quantile(dep_delay, q=0.95, max=120)"
    nulls = (
        "NULLs are left out; with no value at all the rule fails. NaN and infinities make the"
        " value NaN, which fails."
    )
    takes = "numbers"
    parameters = (
        ParameterSpec("q", "share", "the share below it; 0.5 is the median", required=True),
        *NUMBERS,
    )
    judges = "value"
    groups = True

    def check(self, read: ReadRule) -> None:
        check_limits(read)

    def compile(self, read: ReadRule, columns: Resolver) -> ValueJudged | GroupsJudged:
        column = columns.column()
        columns.column_of("numbers", is_numeric(column.type))
        q = _number(read, "q") or Decimal(0)
        bounds = Bounds("double", _number(read, "min"), _number(read, "max"), summed=True)
        measure = Quantile(q=format(q.normalize(), "f"), column=column, where=columns.where)
        subject = f"{number_text(q)} quantile of {column.name}"
        if read.rule.by:
            return by_groups(subject, measure, bounds, columns)
        return ValueJudged(subject, ask(measure), bounds, past_of(read.rule))


def _number(read: ReadRule, name: str) -> Decimal | None:
    bound = read.rule.parameter(name)
    return bound.value if isinstance(bound, Number) else None
