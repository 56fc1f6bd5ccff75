"""``format(column, kind='email')`` and ``case(column, letters='upper')``"""

from __future__ import annotations

from typing import ClassVar

from lakeguard.gate.grammar_error import nearest
from lakeguard.gate.judgement import RowsJudged
from lakeguard.gate.literals import Text
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.resolution import Resolver
from lakeguard.gate.rule_type import ParameterSpec, RuleType
from lakeguard.gate.rule_types.failing_rows import failing_rows
from lakeguard.gate.text_kinds import TEXT_KINDS
from lakeguard_sdk.expression import (
    Call,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    Function,
    Not,
)

_CASES = {"upper": Function.UPPER, "lower": Function.LOWER}


class WordRule(RuleType):
    """One word of a closed set says what every text must be."""

    known: ClassVar[tuple[str, ...]]
    nulls = "NULL passes."
    takes = "strings"

    def check(self, read: ReadRule) -> None:
        word = self.word(read)
        if word not in self.known:
            message = f"{self.principal} is one of {', '.join(self.known)}"
            hint = nearest(word, self.known)
            raise read.error(f"parameter {self.principal}", message, hint=hint)

    def compile(self, read: ReadRule, columns: Resolver) -> RowsJudged:
        column = columns.column()
        columns.column_of("a string", column.type == "string")
        return failing_rows(Not(item=self.passing(self.word(read), column)), columns.where)

    def word(self, read: ReadRule) -> str:
        given = read.rule.parameter(self.principal or "")
        return given.value if isinstance(given, Text) else ""

    def passing(self, word: str, column: ColumnRef) -> Condition:
        """TRUE for texts that are what the word says."""
        return TEXT_KINDS[word].condition(column)


class Format(WordRule):
    name = "format"
    summary = "Every text is of the kind: " + "; ".join(
        f"`{word}`, {kind.meaning}" for word, kind in TEXT_KINDS.items()
    )
    summary += ". Codes are known by their form: no list of them is kept."
    example = "format(mail, kind='email')"
    nulls = "NULL passes. An empty text fails."
    parameters = (ParameterSpec("kind", "text", "the kind", required=True),)
    principal = "kind"
    known = tuple(TEXT_KINDS)


class LetterCase(WordRule):
    name = "case"
    summary = (
        "Every letter from A to Z of every text is a capital one, or with `'lower'` a small one;"
        " other letters and signs pass."
    )
    example = "case(country, letters='upper')"
    parameters = (ParameterSpec("letters", "text", "`'upper'` or `'lower'`", required=True),)
    principal = "letters"
    known = tuple(_CASES)

    def passing(self, word: str, column: ColumnRef) -> Condition:
        turned = Call(function=_CASES[word], arguments=(column,), type="string")
        return Compare(op=Comparison.EQ, left=turned, right=column)
