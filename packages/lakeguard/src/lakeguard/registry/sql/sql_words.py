"""Which words of a SELECT were understood, and which of them name no column.

The parser drops or rewrites some words: the column in ``date_trunc(unit, day)`` becomes a unit,
that in ``struct(a = b)`` a field name. A word that may be a column and was not understood makes
the lineage of the whole SELECT unknown.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from lakeguard.registry.sql.sql_keywords import keyword_offsets
from lakeguard.registry.sql.sql_relations import PLAIN, NotModelled, Scope

STRINGS = {TokenType.STRING, TokenType.RAW_STRING}
_NUMBERS = {TokenType.NUMBER, TokenType.HEX_STRING, TokenType.BIT_STRING}
_NOT_WORDS = {*STRINGS, *_NUMBERS}
_WORD = re.compile(r"\w")
_NUMBER = re.compile(
    r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?(?:d|f|bd)?|[0-9]+[lsy]", re.IGNORECASE
)
"""A number as Spark writes it; ``1e``, ``0x1`` and ``2e7s`` are names."""
_STAR_FOLLOWS = {
    TokenType.L_PAREN, TokenType.COMMA, TokenType.SELECT, TokenType.DISTINCT, TokenType.DOT,
    TokenType.ALL, TokenType.HINT,
}  # fmt: skip
"""Before a star that stands for columns; elsewhere it multiplies."""
_CASTS = {"cast", "try_cast"}
_UNITS = {
    f"{unit}{ending}"
    for unit in ("year", "quarter", "month", "week", "day", "hour", "minute", "second",
                 "millisecond", "microsecond", "dayofyear")
    for ending in ("", "s")
}  # fmt: skip
_UNIT_FIRST = {"timestampadd", "dateadd", "date_add", "timestampdiff", "datediff", "date_diff",
               "timediff", "extract"}  # fmt: skip
"""Functions whose first argument may be a unit."""
_ITEM_FOLLOWS = {
    TokenType.SELECT, TokenType.COMMA, TokenType.DISTINCT, TokenType.ALL, TokenType.HINT,
}  # fmt: skip
_WITHOUT_PARENTHESES = {
    "all", "current_catalog", "current_database", "current_date", "current_schema", "current_time",
    "current_timestamp", "current_user", "grouping__id", "localtimestamp", "session_user",
    "window", "session_window", "_metadata",
}  # fmt: skip
"""Functions and virtual columns that look like a column."""


def folds_as_in_spark(name: str) -> bool:
    """Whether ``casefold`` tells this name from others exactly as Spark does.

    Spark compares columns in lower case and common table expressions in upper case, with the
    Unicode version of its JVM, so each letter must have one capital and that one small letter.
    """
    return name.isascii() or all(map(_folds_one_to_one, name))


def same_in_spark(one: str, other: str) -> bool:
    """Whether Spark certainly takes both names for the same."""
    if one == other:
        return True
    return one.casefold() == other.casefold() and all(map(folds_as_in_spark, (one, other)))


def foldings(name: str) -> frozenset[str]:
    """Whatever a comparison without case may make of the name, of it all or letter by letter."""
    letters = ("".join(fold(each)[0] for each in name) for fold in (str.lower, str.upper))
    spelled = (name, name.lower(), name.upper(), *letters)
    return frozenset(folded for each in spelled for folded in (each.lower(), each.casefold()))


def _folds_one_to_one(character: str) -> bool:
    if character.isascii():
        return True
    small, capital = character.lower(), character.upper()
    return (
        character in (small, capital)
        and (small.upper(), capital.lower(), character.casefold()) == (capital, small, small)
        and character not in "\u03a3\u03c3"  # Sigma: its small letter depends on the next one
        and character <= "\uffff"
        and unicodedata.ucd_3_2_0.category(character) != "Cn"
    )


@dataclass(frozen=True)
class MissingColumn:
    """A name that is no column of the SELECT."""

    name: str
    qualifier: str | None
    """The relation that lacks it; None if no relation of the SELECT has it."""
    start: int
    length: int
    options: frozenset[str]


class Words:
    """The words of one SELECT."""

    def __init__(self, text: str, tokens: Sequence[Token], names: Iterable[str]) -> None:
        self._text = text
        self._tokens = tokens
        self._places = {token.start: place for place, token in enumerate(tokens)}
        self._claimed: set[int] = set()
        self.names = {name.casefold() for name in names}
        """Every name that a column has anywhere in the SELECT."""
        self.has_unknown_names = False
        """Whether a relation has columns whose names are not known."""
        self.missing: dict[int, MissingColumn] = {}

    def claim(self, *nodes: object) -> None:
        """The names below these nodes are understood."""
        for node in nodes:
            if isinstance(node, exp.Expr):
                for each in node.find_all(exp.Identifier, exp.Star):
                    if "start" in each.meta:
                        self._claimed.add(int(each.meta["start"]))

    def alias(self, node: exp.Expr) -> tuple[str | None, list[str]]:
        """The alias of a relation, and the names of its columns if they are listed."""
        alias = node.args.get("alias")
        if alias is None:
            return None, []
        if not isinstance(alias, exp.TableAlias):
            raise NotModelled
        self.claim(alias)
        columns = [column.name for column in alias.columns]
        if any(not name for name in columns):
            raise NotModelled
        self.names |= {name.casefold() for name in columns}
        return alias.name or None, columns

    def called(self, node: exp.Expr) -> str:
        """The name of a function as written; empty if the parser does not say."""
        if "start" not in node.meta:
            return ""
        return self._text[int(node.meta["start"]) : int(node.meta["end"]) + 1].strip("`").lower()

    def miss(self, parts: Sequence[exp.Identifier], scope: Scope) -> None:
        """Record a name that resolves to no column, unless Spark may know more of it: a relation
        that the qualifier names further out, a generated name, a function."""
        qualifier = parts[0].name if len(parts) > 1 else None
        options = scope.options(None if qualifier is None else qualifier.casefold())
        part = parts[0] if qualifier is None else parts[1]
        unsure = self.is_call(part.name) or not PLAIN.fullmatch(part.name)
        if unsure or "start" not in part.meta or (qualifier is not None and not options):
            return
        start = int(part.meta["start"])
        length = int(part.meta["end"]) + 1 - start
        self.missing[start] = MissingColumn(part.name, qualifier, start, length, frozenset(options))

    def before(self, name: exp.Identifier) -> list[str] | None:
        """The functions, outermost first, that are called on a name within an item of a SELECT
        list; None if anything but them and parentheses precedes it, such as a sign."""
        called: list[str] = []
        place = self._places.get(int(name.meta.get("start", -1)), 0) - 1
        while place > 0 and self._tokens[place].token_type is TokenType.L_PAREN:
            place -= 1
            token = self._tokens[place]
            if token.token_type not in _ITEM_FOLLOWS and _WORD.match(token.text):
                called.insert(0, token.text.casefold())
                place -= 1
        begins = place >= 0 and self._tokens[place].token_type in _ITEM_FOLLOWS
        return called if begins else None

    def is_plain_text(self, text: str) -> bool:
        """Whether every string with this text is written exactly so, without escapes."""
        quoted = [token for token in self._tokens if token.token_type in STRINGS]
        return all(
            token.token_type is TokenType.STRING
            and self._text[token.start + 1 : token.end] == token.text
            for token in quoted
            if token.text == text
        )

    def is_call(self, name: str) -> bool:
        """Whether Spark may take a bare name for a call of a function."""
        return name.casefold() in _WITHOUT_PARENTHESES

    def refuse_unclaimed(self) -> None:
        """NotModelled if a word that may be a column was not understood."""
        tokens = self._tokens
        known = self._claimed | set(_grammar(tokens))
        keywords = set(keyword_offsets(tokens, known))
        before: Token | None = None
        for token in tokens:
            if self._is_name_of_digits(token):
                raise NotModelled
            if token.start not in known:
                star = token.token_type is TokenType.STAR
                if star and (before is None or before.token_type in _STAR_FOLLOWS):
                    raise NotModelled
                if self._may_be_column(token, keywords):
                    raise NotModelled
            before = token

    def _is_name_of_digits(self, token: Token) -> bool:
        """Whether Spark reads a name where the parser reads a number, perhaps with a cast."""
        text, start, end = self._text, token.start, token.end + 1
        if token.token_type not in _NUMBERS or not (text[start].isdigit() or text[start] == "."):
            return False
        while start > 0 and _WORD.match(text[start - 1]):
            start -= 1
        while end < len(text) and _WORD.match(text[end]):
            end += 1
        return not _NUMBER.fullmatch(text, start, end)

    def _may_be_column(self, token: Token, keywords: Set[int]) -> bool:
        word = token.text.casefold()
        if token.token_type is TokenType.IDENTIFIER:
            return word in self.names or self.has_unknown_names
        if token.token_type in _NOT_WORDS or not _WORD.match(word):
            return False
        return word in self.names or (self.has_unknown_names and token.start not in keywords)


def _grammar(tokens: Sequence[Token]) -> Iterator[int]:
    """Offsets of words that are no columns, whatever columns there are: functions, types, units."""
    for index, token in enumerate(tokens):
        word = token.text.casefold()
        kinds = [each.token_type for each in tokens[index + 1 : index + 3]]
        follows = kinds[0] if kinds else None
        if follows is TokenType.L_PAREN:
            yield token.start
            if word in _CASTS:
                yield from _cast_type(tokens, index + 1)
            if word in _UNIT_FIRST:
                unit = tokens[index + 2] if index + 2 < len(tokens) else token
                if unit.text.casefold() in _UNITS:
                    yield unit.start
        elif follows is TokenType.STRING and token.token_type is not TokenType.IDENTIFIER:
            yield token.start  # DATE '2020-01-01'
        elif token.token_type is TokenType.DCOLON and index + 1 < len(tokens):
            yield tokens[index + 1].start
        elif token.token_type in (TokenType.NUMBER, TokenType.STRING):
            yield from _unit_after(tokens, index)


def _cast_type(tokens: Sequence[Token], opened: int) -> Iterator[int]:
    """The words from AS to the end of a cast."""
    depth, typed = 0, False
    for token in tokens[opened:]:
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth == 0:
            return
        typed = typed or (depth == 1 and token.token_type is TokenType.ALIAS)
        if typed:
            yield token.start


def _unit_after(tokens: Sequence[Token], index: int) -> Iterator[int]:
    """``INTERVAL 1 DAY``: the word after the number."""
    if index > 0 and tokens[index - 1].token_type is TokenType.INTERVAL:
        after = tokens[index + 1 : index + 2]
        if after and after[0].text.casefold() in _UNITS:
            yield after[0].start
