"""Checks the functions that a build calls.

By token, because quoted names call the same function, and because the parser renames functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from lakeguard.registry.sql.spark_functions import (
    AGGREGATES,
    ALLOWED,
    BARE_CLOCKS,
    CLOCKS,
    REFUSED,
)
from lakeguard.registry.sql.sql_facts import RunTime
from lakeguard.registry.text.sql_lexing import SqlProblem, word_in_spark
from lakeguard_sdk.core.did_you_mean import did_you_mean

_BEFORE_PARENTHESIS = frozenset(
    re.findall(
        r"\w+",
        "all and any as between both by case cross cube distinct distribute div else escape except"
        " exclude exists filter for from full group having ilike in inner intersect interval is"
        " join lateral leading like limit minus not nulls offset on or order outer over partition"
        " pivot placing qualify recursive regexp rlike rollup select semi anti sets some sort"
        " tablesample then trailing union unpivot using values view when where window with within"
        " natural left right stream table",
    )
)
"""Keywords after which a parenthesis opens no arguments."""
_SESSION_WORDS = {"current_user", "session_user", "current_time", "current_path"}
"""Functions that Spark calls without parentheses."""
_USER = "user"
"""Another one, and a frequent name of a column."""
_WORD = re.compile(r"[^\W\d]\w*")
_STRINGS = {TokenType.STRING, TokenType.RAW_STRING}
_ZONE = (
    r"[+-][\d:]+|Z|(UTC|GMT|UT)([+-]?[\d:]+)?|\w+(/[\w+-]+)+|EST5EDT|CST6CDT|MST7MDT|PST8PDT|"
    "ACT|AET|AGT|ART|AST|BET|BST|CAT|CET|CNT|CST|CTT|EAT|ECT|EET|EST|HST|IET|IST|JST|MET|MIT|MST|NET|"
    "NST|PLT|PNT|PRC|PRT|PST|ROC|ROK|SST|UCT|VST|WET|GB|GB-Eire|NZ|NZ-CHAT|W-SU|Cuba|Egypt|Eire|"
    "Greenwich|Hongkong|Iceland|Iran|Israel|Jamaica|Japan|Kwajalein|Libya|Navajo|Poland|Portugal|"
    "Singapore|Turkey|Universal|Zulu"
)
_SPECIAL = re.compile(
    rf"[\x00-\x20]*((?i:now|today|tomorrow|yesterday))[ \t]*({_ZONE})?[\x00-\x20]*"
)
"""Texts that Spark reads as the time of the query wherever it makes a date or timestamp of them."""
_DATE_WORDS = {"date", "timestamp", "timestamp_ltz", "timestamp_ntz"}


def function_problems(tokens: Sequence[Token], root: exp.Expr) -> Iterator[SqlProblem]:
    """Every call of a function, and every text, that may not give the same result again."""
    names = _alias_offsets(root)
    yield from _special_texts(tokens)
    for before, token, after in _around(tokens):
        length = token.end + 1 - token.start
        name = word_in_spark(token.text)
        if token.start in names or token.token_type is TokenType.STRING:
            continue
        if _is_call(token, after):
            qualified = before is not None and before.token_type is TokenType.DOT
            if name.startswith("ai_") or name in REFUSED:
                why = REFUSED.get(name, "may read data outside the parents")
                yield SqlProblem(f"{name[:80]}() {why}", token.start, length)
            elif qualified or name not in ALLOWED:
                hint = did_you_mean(name, ALLOWED)
                yield SqlProblem(f"{name[:80]}() is not a function", token.start, length, hint)
        elif name in _SESSION_WORDS and _stands_alone(before, after):
            yield SqlProblem(f"{name} {REFUSED[name]}", token.start, length)


def bare_users(tokens: Sequence[Token], root: exp.Expr) -> Iterator[SqlProblem]:
    """Every ``user`` without parentheses, which Spark calls unless a relation has such a column.
    One that is made somewhere in the SELECT may be out of its scope."""
    named = _name_offsets(root)
    for before, token, after in _around(tokens):
        if (
            word_in_spark(token.text) != _USER
            or token.token_type in _STRINGS
            or token.start in named
        ):
            continue
        if not _is_call(token, after) and _stands_alone(before, after):
            hint = "; for a column, write its table before it"
            length = token.end + 1 - token.start
            yield SqlProblem(f"{_USER} {REFUSED[_USER]}", token.start, length, hint)


def _special_texts(tokens: Sequence[Token]) -> Iterator[SqlProblem]:
    """``cast('now' AS timestamp)``, ``year('today')``, ``date 'to' 'day'``: Spark joins texts that
    follow each other."""
    for is_text, group in groupby(enumerate(tokens), lambda item: item[1].token_type in _STRINGS):
        found = list(group)
        text = "".join(token.text for _, token in found)
        if not is_text or _SPECIAL.fullmatch(text) is None:
            continue
        first, last = found[0][0], found[-1][1]
        typed = first > 0 and word_in_spark(tokens[first - 1].text) in _DATE_WORDS
        start = tokens[first - typed].start
        problem = f"{text.strip()[:40]!r} is the time of the query"
        hint = "; use current_timestamp() or current_date()"
        yield SqlProblem(problem, start, last.end + 1 - start, hint)


def run_times(tokens: Sequence[Token], root: exp.Expr) -> Iterator[RunTime]:
    """Every function that gives the time of the run."""
    named = _name_offsets(root)
    padded = [None, *tokens, None, None]
    for before, token, after, last in zip(padded, tokens, padded[2:], padded[3:], strict=False):
        name = word_in_spark(token.text)
        if name not in CLOCKS or token.token_type is TokenType.STRING:
            continue
        called = after is not None and after.token_type is TokenType.L_PAREN
        if called and last is not None and last.token_type is TokenType.R_PAREN:
            yield RunTime(name, token.start, last.end + 1, bare=False)
        elif called or name not in BARE_CLOCKS or token.start in named:
            continue
        elif _stands_alone(before, after):
            yield RunTime(name, token.start, token.end + 1, bare=True)


def ambiguous_run_times(
    found: Sequence[RunTime], root: exp.Expr, *, any_column: bool
) -> Iterator[SqlProblem]:
    """Bare words that may also be a column; ``any_column`` if the columns that are read are not
    known."""
    for item in found:
        if item.bare and (any_column or item.function in _made_columns(root)):
            problem = f"{item.function} may be a column here"
            hint = f"; write {item.function}() for the time of the run, or the column's table"
            yield SqlProblem(problem, item.start, item.end - item.start, hint)


def called_aggregate(tokens: Sequence[Token]) -> bool:
    """Whether a function that looks at several rows is called."""
    return any(
        _is_call(token, after) and word_in_spark(token.text) in AGGREGATES
        for _, token, after in _around(tokens)
    )


def _around(tokens: Sequence[Token]) -> Iterator[tuple[Token | None, Token, Token | None]]:
    return zip([None, *tokens[:-1]], tokens, [*tokens[1:], None], strict=True)


def _is_call(token: Token, after: Token | None) -> bool:
    if after is None or after.token_type is not TokenType.L_PAREN:
        return False
    if token.token_type is TokenType.IDENTIFIER:
        return True
    word = word_in_spark(token.text)
    return word in ALLOWED or (
        _WORD.fullmatch(word) is not None and word not in _BEFORE_PARENTHESIS
    )


def _stands_alone(before: Token | None, after: Token | None) -> bool:
    """Whether a word is neither quoted, nor part of a dotted name, nor an alias."""
    dotted = any(each is not None and each.token_type is TokenType.DOT for each in (before, after))
    return not dotted and (before is None or before.token_type is not TokenType.ALIAS)


def _name_offsets(root: exp.Expr) -> set[int]:
    """Identifiers other than unqualified columns, which may be functions."""
    return {
        int(name.meta["start"])
        for name in root.find_all(exp.Identifier)
        if "start" in name.meta
        and not (isinstance(name.parent, exp.Column) and len(name.parent.parts) == 1)
    }


def _made_columns(root: exp.Expr) -> set[str]:
    """Words for the names that the SELECT gives to columns, except to a clock of that name."""
    names: set[str] = set()
    for node in root.find_all(exp.Alias, exp.Aliases, exp.TableAlias, exp.Lambda):
        match node:
            case exp.Alias():
                names |= {word_in_spark(node.alias)} - _clock_names(node.this.unnest())
            case exp.Aliases():
                names |= {word_in_spark(alias.name) for alias in node.expressions}
            case exp.TableAlias():
                names |= {word_in_spark(column.name) for column in node.columns}
            case exp.Lambda():
                names |= {word_in_spark(parameter.name) for parameter in node.expressions}
    return names


def _clock_names(node: exp.Expr) -> set[str]:
    if isinstance(node, exp.CurrentDate | exp.CurrentTimestamp):
        return {name.casefold() for name in node.sql_names()}
    return set()


def _alias_offsets(root: exp.Expr) -> set[int]:
    """Names of relations, which may be followed by a list of columns."""
    return {
        int(name.meta["start"])
        for alias in root.find_all(exp.TableAlias)
        for name in alias.find_all(exp.Identifier)
        if "start" in name.meta
    }
