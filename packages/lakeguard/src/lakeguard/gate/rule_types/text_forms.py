"""``like``, ``castable`` and ``date_format``: how every text of a column is written."""

from __future__ import annotations

from typing import ClassVar

from lakeguard.gate.judgement import RowsJudged
from lakeguard.gate.literals import Text
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.resolution import Resolver
from lakeguard.gate.rule_type import ParameterSpec, RuleType
from lakeguard.gate.rule_types.failing_rows import failing_rows
from lakeguard.gate.typed_calls import BadArgument, checked
from lakeguard_sdk.expression import Not, Predicate, Test


class TextForm(RuleType):
    """One predicate with one text beside it; the text is refused where it says nothing."""

    predicate: ClassVar[Predicate]
    nulls = "NULL passes."
    takes = "strings"

    def check(self, read: ReadRule) -> None:
        self._argument(read)

    def compile(self, read: ReadRule, columns: Resolver) -> RowsJudged:
        column = columns.column()
        columns.column_of("a string", column.type == "string")
        test = Test(predicate=self.predicate, of=column, argument=self._argument(read))
        return failing_rows(Not(item=test), columns.where)

    def _argument(self, read: ReadRule) -> str:
        name = self.parameters[0].name
        given = read.rule.parameter(name)
        try:
            return checked(self.predicate, given.value if isinstance(given, Text) else "")
        except BadArgument as reason:
            raise read.error(f"parameter {name}", reason.message) from None


class Like(TextForm):
    name = "like"
    summary = (
        "Every text is like the pattern: `%` stands for any text, `_` for one character, and `!`"
        " before `%`, `_` or `!` makes it plain."
    )
    example = "like(tail_num, pattern='N%')"
    parameters = (ParameterSpec("pattern", "text", "the pattern", required=True),)
    principal = "pattern"
    predicate = Predicate.LIKE


class Castable(TextForm):
    name = "castable"
    summary = (
        "Every text is written as a value of the type: digits with a sign, a point and, for"
        " doubles, an exponent; true or false; 2013-12-31; 2013-12-31T10:00:00Z."
    )
    example = "castable(amount_text, type='decimal(9,2)')"
    nulls = "NULL passes. An empty text, and blanks around a value, fail."
    parameters = (ParameterSpec("type", "text", "the type, as columns have it", required=True),)
    principal = "type"
    predicate = Predicate.CASTABLE


class WrittenDate(TextForm):
    name = "date_format"
    summary = (
        "Every text is a day of the calendar in a format of fixed width, made of yyyy, MM, dd and,"
        " where it has a time, HH, mm, ss."
    )
    example = "date_format(birth_text, format='dd/MM/yyyy')"
    parameters = (ParameterSpec("format", "text", "the format", required=True),)
    principal = "format"
    predicate = Predicate.DATE_FORMAT
