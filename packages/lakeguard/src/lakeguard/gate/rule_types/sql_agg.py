"""``sql_agg(sum(amount) / count(*), min=, max=)``"""

from __future__ import annotations

from decimal import Decimal

from lakeguard.gate.judgement import Bounds, FormulaJudged, ask
from lakeguard.gate.literals import Number
from lakeguard.gate.reach import Reach
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.resolution import Resolver
from lakeguard.gate.rule import Totalled
from lakeguard.gate.rule_type import ParameterSpec, RuleType
from lakeguard.gate.rule_types.value_limits import check_limits
from lakeguard.gate.senseless import compared_reaches
from lakeguard.gate.total_reach import total_reach
from lakeguard.gate.where_tree import written_text
from lakeguard_sdk.expression import Comparison
from lakeguard_sdk.total_value import divides


class TotalFormula(RuleType):
    name = "sql_agg"
    summary = (
        "A value of all new rows lies between the bounds: `sum(x)`, `min(x)`, `max(x)`, `avg(x)`,"
        " `count(x)`, `count(distinct column)` and `count(*)`, with `+` `-` `*` `/` `%` and numbers"
        " between them. `x` is any number that conditions can reckon; `count` takes any value."
    )
    example = "sql_agg(sum(amount * quantity) / count(distinct order_id), min=5, max=500)"
    nulls = (
        "Rows where `x` is NULL are left out. An aggregate without a value, or a divisor that is"
        " 0, leaves nothing to judge, and the rule fails. A NaN makes the value NaN, which fails."
    )
    takes = "any that it names"
    columns = (0, 0)
    judges = "value"
    parameters = (
        ParameterSpec("aggregate", "aggregate", "the value", required=True),
        ParameterSpec("min", "number", "the least value that passes"),
        ParameterSpec("max", "number", "the greatest value that passes"),
    )
    totals = True

    def check(self, read: ReadRule) -> None:
        check_limits(read)

    def compile(self, read: ReadRule, columns: Resolver) -> FormulaJudged:
        total = columns.total()
        inexact = total.inexact or divides(total.formula)
        low, high = (_number(read, name) for name in ("min", "max"))
        if read.fresh:
            _refuse_idle(read, total_reach(total.formula, total.measures, 0), low, high)
        bounds = Bounds("double" if inexact else "decimal(38,18)", low, high, summed=inexact)
        asked = tuple(ask(measure) for measure in total.measures)
        return FormulaJudged(_subject(read), asked, total.formula, bounds)


def _refuse_idle(read: ReadRule, reach: Reach, low: Decimal | None, high: Decimal | None) -> None:
    """Bounds that the value always keeps, or never does."""
    ends = {Comparison.GE: low, Comparison.LE: high}
    told = [
        compared_reaches(op, reach, Reach(end, end)) for op, end in ends.items() if end is not None
    ]
    if told and (False in told or all(told)):
        message = "this is the same whatever the rows hold, so that it says nothing"
        raise read.error("parameter min" if low is not None else "parameter max", message)


def _number(read: ReadRule, name: str) -> Decimal | None:
    bound = read.rule.parameter(name)
    return bound.value if isinstance(bound, Number) else None


def _subject(read: ReadRule) -> str:
    totalled = read.rule.parameter("aggregate")
    return written_text(totalled.tree) if isinstance(totalled, Totalled) else ""
