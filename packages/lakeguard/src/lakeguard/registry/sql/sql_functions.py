"""Checks the functions that a build calls.

By token, because quoted names call the same function, and because the parser renames functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from lakeguard.registry.sql.spark_functions import AGGREGATES, ALLOWED, REFUSED
from lakeguard.registry.text.sql_lexing import SqlProblem
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
_WORD = re.compile(r"[^\W\d]\w*")
_SPECIAL = re.compile(r"(?i)\s*(now|today|tomorrow|yesterday)\b")
_DATE_WORDS = {"date", "timestamp", "timestamp_ltz", "timestamp_ntz"}


def function_problems(tokens: Sequence[Token], root: exp.Expr) -> Iterator[SqlProblem]:
    """Every call of a function that is not known to give the same result again."""
    names = _alias_offsets(root)
    for before, token, after in _around(tokens):
        length = token.end + 1 - token.start
        name = token.text.casefold()
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
        elif name in _DATE_WORDS and after is not None and _is_special(after):
            problem = f"{token.text} '{after.text[:40]}' is the time of the query"
            yield SqlProblem(problem, token.start, length, "; use current_timestamp")


def called_aggregate(tokens: Sequence[Token]) -> bool:
    """Whether a function that looks at several rows is called."""
    return any(
        _is_call(token, after) and token.text.casefold() in AGGREGATES
        for _, token, after in _around(tokens)
    )


def _around(tokens: Sequence[Token]) -> Iterator[tuple[Token | None, Token, Token | None]]:
    return zip([None, *tokens[:-1]], tokens, [*tokens[1:], None], strict=True)


def _is_call(token: Token, after: Token | None) -> bool:
    if after is None or after.token_type is not TokenType.L_PAREN:
        return False
    if token.token_type is TokenType.IDENTIFIER:
        return True
    word = token.text.casefold()
    return word in ALLOWED or (
        _WORD.fullmatch(word) is not None and word not in _BEFORE_PARENTHESIS
    )


def _stands_alone(before: Token | None, after: Token | None) -> bool:
    """Whether a word is neither quoted, nor part of a dotted name, nor an alias."""
    dotted = any(each is not None and each.token_type is TokenType.DOT for each in (before, after))
    return not dotted and (before is None or before.token_type is not TokenType.ALIAS)


def _is_special(token: Token) -> bool:
    return token.token_type is TokenType.STRING and _SPECIAL.match(token.text) is not None


def _alias_offsets(root: exp.Expr) -> set[int]:
    """Names of relations, which may be followed by a list of columns."""
    return {
        int(name.meta["start"])
        for alias in root.find_all(exp.TableAlias)
        for name in alias.find_all(exp.Identifier)
        if "start" in name.meta
    }
