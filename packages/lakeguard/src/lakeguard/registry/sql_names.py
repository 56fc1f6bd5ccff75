"""Qualified names: each begins with a name that the SELECT itself gives, or is a parent.

A second fence beside the parser's: whatever position Spark may find a name in, a dotted one
that the SELECT does not define, such as a format before a path, is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from lakeguard.registry.sql_facts import TableReference
from lakeguard.registry.sql_lexing import SqlProblem

_GIVEN_BY_FUNCTIONS = {"col", "key", "value", "pos"}
"""The columns of explode and its like, where they are given no other name."""
_NOT_A_NAME = {
    TokenType.DOT,
    TokenType.R_PAREN,
    TokenType.R_BRACKET,
    TokenType.NUMBER,
    TokenType.STRING,
}


def foreign_names(
    tokens: Sequence[Token], root: exp.Expr, tables: Sequence[TableReference]
) -> Iterator[SqlProblem]:
    """Dotted names that begin with nothing known."""
    known = _given_names(root) | _GIVEN_BY_FUNCTIONS
    read = {table.start for table in tables}
    for before, token, after in zip([None, *tokens], tokens, tokens[1:], strict=False):
        follows_dot = before is not None and before.token_type is TokenType.DOT
        if after.token_type is not TokenType.DOT or follows_dot:
            continue
        if token.token_type in _NOT_A_NAME or token.start in read:
            continue
        if token.text.casefold() not in known:
            problem = f"{token.text[:80]!r} is no table or column of this SELECT"
            yield SqlProblem(problem, token.start, token.end + 1 - token.start)


def _given_names(root: exp.Expr) -> set[str]:
    names: set[str] = set()
    for node in root.find_all(exp.Alias, exp.TableAlias, exp.Aliases, exp.Table, exp.Lambda):
        match node:
            case exp.TableAlias():
                names |= {node.name, *(column.name for column in node.columns)}
            case exp.Lambda():
                names |= {parameter.name for parameter in node.expressions}
            case exp.Aliases():
                names |= {alias.name for alias in node.aliases}
            case exp.Alias():
                names.add(node.alias)
            case exp.Table():
                names.add(node.name)
    return {name.casefold() for name in names}
