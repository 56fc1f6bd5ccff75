"""``set_drift(column, new=0, gone=0)``"""

from __future__ import annotations

from lakeguard.gate.judgement import DriftJudged, ask
from lakeguard.gate.literals import Number
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.resolution import Resolver
from lakeguard.gate.rule_type import ParameterSpec, RuleType
from lakeguard_sdk.measure import DistinctValues
from lakeguard_sdk.words import Scope

_MOST = 1000


class SetDrift(RuleType):
    name = "set_drift"
    summary = (
        "Against the last published version the column has at most so many values that are new,"
        " and lost at most so many. Values are compared by their digests: none of them is"
        " recorded, but the digests are, and have no salt: who can guess a value can find it, so do"
        " not ask this of a column that carries a tag. The first version passes; with more"
        " different values than `most` the rule cannot be judged, and blocks."
    )
    example = "set_drift(carrier, new=2, gone=0)"
    nulls = "NULL is no value. NaN equals NaN."
    takes = "any but binary and nested"
    parameters = (
        ParameterSpec("new", "whole", "how many values may be new"),
        ParameterSpec("gone", "whole", "how many values may be gone"),
        ParameterSpec("most", "whole", f"how many values there may be; {_MOST} if not given"),
    )
    judges = "value"
    scopes = (Scope.TABLE, Scope.BATCH)

    def check(self, read: ReadRule) -> None:
        rule = read.rule
        if rule.parameter("new") is None and rule.parameter("gone") is None:
            raise read.error("type", "set_drift needs new, gone or both")
        for clause in ("warn_if", "fail_if"):
            if getattr(rule, clause) is not None:
                raise read.error(clause, "set_drift is held against new= and gone=")
        if not 1 <= (_whole(read, "most") or 1) <= _MOST:
            raise read.error("parameter most", f"at most {_MOST:,} values are compared")

    def compile(self, read: ReadRule, columns: Resolver) -> DriftJudged:
        column = columns.column()
        columns.column_of("a column with values to list", column.type != "binary")
        measure = DistinctValues(
            column=column,
            most=_whole(read, "most") or _MOST,
            scope=read.rule.scope or Scope.TABLE,
            where=columns.where,
        )
        return DriftJudged(column.name, ask(measure), _whole(read, "new"), _whole(read, "gone"))


def _whole(read: ReadRule, name: str) -> int | None:
    number = read.rule.parameter(name)
    return int(number.value) if isinstance(number, Number) else None
