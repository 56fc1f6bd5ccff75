"""Which words of a SELECT were understood, and which of them name no column.

The parser drops or rewrites some words: the column in ``date_trunc(unit, day)`` becomes a unit,
that in ``struct(a = b)`` a field name. A word that may be a column and was not understood makes
the lineage of the whole SELECT unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from lakeguard.registry.sql.sql_relations import NotModelled, Scope

_NOT_WORDS = {TokenType.STRING, TokenType.NUMBER, TokenType.RAW_STRING, TokenType.HEX_STRING}
_WORD = re.compile(r"\w")
_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        "select from where group by having qualify order sort distribute cluster limit offset as"
        " on and or not in is null like ilike rlike between case when then else end join left"
        " right full inner outer cross semi anti natural using union all intersect except minus"
        " distinct exists with recursive lateral view over partition rows range unbounded"
        " preceding following current row asc desc nulls first last true false values window cast"
        " interval for pivot unpivot include exclude rollup cube grouping sets filter within"
        " escape div",
    )
)
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


@dataclass(frozen=True)
class MissingColumn:
    """A name that is no column of the SELECT."""

    name: str
    start: int
    length: int
    options: frozenset[str]


class Words:
    """The words of one SELECT."""

    def __init__(self, text: str, names: Iterable[str]) -> None:
        self._text = text
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
        """Record a name that resolves to no column."""
        qualifier = parts[0].name.casefold() if len(parts) > 1 else None
        options = scope.options(qualifier)
        part = parts[1] if qualifier is not None and options else parts[0]
        if not options:
            options = scope.options(None)
        start = int(part.meta.get("start", 0))
        length = int(part.meta.get("end", start)) + 1 - start
        self.missing[start] = MissingColumn(part.name, start, length, frozenset(options))

    def refuse_unclaimed(self, tokens: Sequence[Token]) -> None:
        """NotModelled if a word that may be a column was not understood."""
        known = self._claimed | set(_grammar(tokens))
        before: Token | None = None
        for token in tokens:
            if token.start not in known:
                star = token.token_type is TokenType.STAR
                if star and (before is None or before.token_type in _STAR_FOLLOWS):
                    raise NotModelled
                if self._may_be_column(token):
                    raise NotModelled
            before = token

    def _may_be_column(self, token: Token) -> bool:
        word = token.text.casefold()
        if token.token_type in _NOT_WORDS or not _WORD.match(word):
            return False
        return word in self.names or (self.has_unknown_names and word not in _KEYWORDS)


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
