"""``like``, ``castable`` and ``date_format``: the format of texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from lakeguard.gate.grammar.grammar_error import nearest
from lakeguard.gate.grammar.literals import Text
from lakeguard.gate.grammar.rule import ParsedRule
from lakeguard.gate.rule_types.nulls import failing_rows
from lakeguard.gate.rule_types.rule_type import ParameterSpec, RuleType
from lakeguard.gate.typecheck.checks import RowCheck
from lakeguard.gate.typecheck.resolution import Resolver
from lakeguard.gate.typecheck.typed_calls import BadArgument, checked
from lakeguard_sdk.expressions.conditions import (
    And,
    Call,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    Function,
    Matches,
    Not,
    Predicate,
    Scalar,
    Test,
)


class TextForm(RuleType):
    """One predicate with one text argument, which is refused where it is constant."""

    predicate: ClassVar[Predicate]
    nulls = "NULL passes."
    takes = "strings"

    def check(self, read: ParsedRule) -> None:
        self._argument(read)

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        column = columns.column()
        columns.column_of("a string", column.type == "string")
        test = Test(predicate=self.predicate, of=column, argument=self._argument(read))
        return failing_rows(Not(item=test), columns.where)

    def _argument(self, read: ParsedRule) -> str:
        name = self.parameters[0].name
        given = read.rule.parameter(name)
        try:
            return checked(self.predicate, given.value if isinstance(given, Text) else "")
        except BadArgument as reason:
            raise read.error(f"parameter {name}", reason.message) from None


class Like(TextForm):
    name = "like"
    summary = (
        "Every text matches the pattern: `%` matches any text, `_` one character; `!` escapes "
        "`%`, `_` and `!`."
    )
    example = "like(tail_num, pattern='N%')"
    parameters = (ParameterSpec("pattern", "text", "the pattern", required=True),)
    principal = "pattern"
    predicate = Predicate.LIKE


class Castable(TextForm):
    name = "castable"
    summary = (
        "Every text can be cast to the type: digits with a sign, a decimal point and, for "
        "doubles, an exponent; true or false; 2013-12-31; 2013-12-31T10:00:00Z."
    )
    example = "castable(amount_text, type='decimal(9,2)')"
    nulls = "NULL passes. An empty text, or blanks around a value, fail."
    parameters = (ParameterSpec("type", "text", "the target type", required=True),)
    principal = "type"
    predicate = Predicate.CASTABLE


class WrittenDate(TextForm):
    name = "date_format"
    summary = (
        "Every text is a date in a fixed-width format made of yyyy, MM, dd and, with a time, "
        "HH, mm, ss."
    )
    example = "date_format(birth_text, format='dd/MM/yyyy')"
    parameters = (ParameterSpec("format", "text", "the format", required=True),)
    principal = "format"
    predicate = Predicate.DATE_FORMAT


# Well-known text formats: email addresses, codes, numbers with check digits.

_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4 = rf"(?:{_BYTE}[.]){{3}}{_BYTE}"
_HEX = "[0-9a-fA-F]"


@dataclass(frozen=True)
class TextKind:
    """A pattern for the whole text, and a predicate where the pattern alone is too weak."""

    meaning: str
    pattern: str
    predicate: Predicate | None = None

    def condition(self, of: Scalar) -> Condition:
        """TRUE for texts of this kind."""
        form = Matches(of=of, pattern=self.pattern)
        if self.predicate is None:
            return form
        return And(items=(form, Test(predicate=self.predicate, of=of)))


def _kind(meaning: str, pattern: str) -> TextKind:
    return TextKind(meaning, pattern)


TEXT_KINDS: Mapping[str, TextKind] = {
    "email": _kind(
        "an email address",
        "[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}[.]){1,8}[A-Za-z]{2,63}",
    ),
    "url": _kind(
        "a URL",
        r"https?://[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?(?:[/?#][^ \t\n\r]*)?",
    ),
    "uuid": _kind("a UUID", f"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"),
    "ipv4": _kind("an IPv4 address", _IPV4),
    "ipv6": _kind("a full IPv6 address", f"(?:{_HEX}{{1,4}}:){{7}}{_HEX}{{1,4}}"),
    "cidr": _kind("an IPv4 CIDR block", f"{_IPV4}/(?:3[0-2]|[12]?[0-9])"),
    "phone": _kind("an international phone number without blanks", "[+][1-9][0-9]{6,14}"),
    "iban": TextKind(
        "an IBAN without blanks, with valid check digits",
        "[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}",
        Predicate.IBAN,
    ),
    "card": TextKind(
        "a card number of 12 to 19 digits with a valid Luhn check digit",
        "[0-9]{12,19}",
        Predicate.LUHN,
    ),
    "country": _kind("a two-letter country code", "[A-Z]{2}"),
    "currency": _kind("a three-letter currency code", "[A-Z]{3}"),
    "language": _kind("a language code, with or without a country", "[a-z]{2,3}(?:-[A-Z]{2})?"),
    "mac": _kind("a MAC address", f"(?:{_HEX}{{2}}:){{5}}{_HEX}{{2}}"),
}


# ``format(column, kind='email')`` and ``case(column, letters='upper')``

_CASES = {"upper": Function.UPPER, "lower": Function.LOWER}


class WordRule(RuleType):
    """Rules with one word from a closed set."""

    known: ClassVar[tuple[str, ...]]
    nulls = "NULL passes."
    takes = "strings"

    def check(self, read: ParsedRule) -> None:
        word = self.word(read)
        if word not in self.known:
            message = f"{self.principal} must be one of {', '.join(self.known)}"
            hint = nearest(word, self.known)
            raise read.error(f"parameter {self.principal}", message, hint=hint)

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        column = columns.column()
        columns.column_of("a string", column.type == "string")
        return failing_rows(Not(item=self.passing(self.word(read), column)), columns.where)

    def word(self, read: ParsedRule) -> str:
        given = read.rule.parameter(self.principal or "")
        return given.value if isinstance(given, Text) else ""

    def passing(self, word: str, column: ColumnRef) -> Condition:
        """TRUE for texts that match the word."""
        return TEXT_KINDS[word].condition(column)


class Format(WordRule):
    name = "format"
    summary = "Every text has the format: " + "; ".join(
        f"`{word}`, {kind.meaning}" for word, kind in TEXT_KINDS.items()
    )
    summary += ". Codes are checked by format, not looked up in a list."
    example = "format(mail, kind='email')"
    nulls = "NULL passes. An empty text fails."
    parameters = (ParameterSpec("kind", "text", "the format", required=True),)
    principal = "kind"
    known = tuple(TEXT_KINDS)


class LetterCase(WordRule):
    name = "case"
    summary = (
        "Every letter from A to Z is upper case, or with `'lower'` lower case; other letters "
        "and characters pass."
    )
    example = "case(country, letters='upper')"
    parameters = (ParameterSpec("letters", "text", "`'upper'` or `'lower'`", required=True),)
    principal = "letters"
    known = tuple(_CASES)

    def passing(self, word: str, column: ColumnRef) -> Condition:
        turned = Call(function=_CASES[word], arguments=(column,), type="string")
        return Compare(op=Comparison.EQ, left=turned, right=column)
