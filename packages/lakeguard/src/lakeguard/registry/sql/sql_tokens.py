"""Checks on the tokens of a build's SQL, before it is parsed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sqlglot.tokenizer_core import Token, TokenType

from lakeguard.registry.text.sql_lexing import SqlProblem, SqlRefused, word_in_spark

MAX_NESTING = 25
_PREFIXES = {TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE, TokenType.INTERVAL,
             TokenType.ARRAY, TokenType.STRUCT, TokenType.MAP, TokenType.LT}  # fmt: skip
"""Each nests what follows, such as ``not not`` and ``array<array<``."""
_FIRST = {TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN, TokenType.FROM}
_OPEN = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.CASE}
_CLOSE = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.END}
_CLAUSES = {
    TokenType.SELECT, TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING,
    TokenType.QUALIFY, TokenType.WINDOW, TokenType.ORDER_BY, TokenType.SORT_BY,
    TokenType.CLUSTER_BY, TokenType.DISTRIBUTE_BY, TokenType.LIMIT, TokenType.OFFSET,
    TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT, TokenType.JOIN, TokenType.ON,
    TokenType.USING,
}  # fmt: skip
_JOIN_WORDS = {
    TokenType.CROSS, TokenType.NATURAL, TokenType.INNER, TokenType.LEFT, TokenType.RIGHT,
    TokenType.FULL, TokenType.OUTER, TokenType.SEMI, TokenType.ANTI,
}  # fmt: skip
_UNFINISHED = _CLAUSES | _JOIN_WORDS | {
    TokenType.COMMA, TokenType.ALIAS, TokenType.DOT, TokenType.LATERAL, TokenType.WITH,
}  # fmt: skip
"""Keywords that need an operand."""
_NOTHING = (_CLAUSES - {TokenType.SELECT}) | _JOIN_WORDS | {
    TokenType.COMMA, TokenType.ALIAS, TokenType.R_PAREN, TokenType.SEMICOLON,
}  # fmt: skip
"""Tokens that do not count as an operand."""
_FUNCTIONS_TOO = {TokenType.LEFT, TokenType.RIGHT, TokenType.WINDOW}
_BEFORE_OUTER = {TokenType.LEFT, TokenType.RIGHT, TokenType.FULL, TokenType.VIEW}
_AFTER_FROM = _CLAUSES - {TokenType.FROM, TokenType.JOIN, TokenType.ON, TokenType.USING}
_BEFORE_A_RELATION = {TokenType.FROM, TokenType.JOIN, TokenType.COMMA}
_RELATION_STARTS = {
    TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING, TokenType.L_PAREN,
    TokenType.LATERAL,
}  # fmt: skip
PINNED = "inputs are pinned to a version; write the name alone"
_REFUSED_TOKENS = {
    TokenType.PIPE_GT: "pipe syntax is not supported; write SELECT",
    TokenType.PLACEHOLDER: "parameters are not supported",
    TokenType.PARAMETER: "parameters are not supported",
}


def one_statement(tokens: Sequence[Token]) -> int | None:
    """The offset of a closing semicolon; SqlRefused for more than one statement."""
    first = tokens[0]
    if first.token_type not in _FIRST:
        problem = f"a build must be one SELECT, not {first.text[:20]}"
        raise SqlRefused(SqlProblem(problem, first.start, first.end + 1 - first.start))
    for index, token in enumerate(tokens):
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        if token.token_type in _REFUSED_TOKENS:
            problem = _REFUSED_TOKENS[token.token_type]
            if token.text == "@" and _names_a_dataset(tokens[:index]):
                problem = f"@ after a table is not supported; {PINNED}"
            raise SqlRefused(SqlProblem(problem, token.start, token.end + 1 - token.start))
        if _is_identifier_clause(token, following):
            problem = "IDENTIFIER is not supported; write the name itself"
            raise SqlRefused(SqlProblem(problem, token.start, token.end + 1 - token.start))
        if token.token_type is TokenType.SEMICOLON:
            if following is None:
                return token.start
            raise SqlRefused(
                SqlProblem("a build must be one SELECT; found a second statement", token.start)
            )
    return None


def _is_identifier_clause(token: Token, following: Token | None) -> bool:
    """Spark reads ``identifier('a')`` as the name ``a``, also of a relation, where the parser
    finds an alias ``identifier`` with a list of columns."""
    calls = following is not None and following.token_type is TokenType.L_PAREN
    named = token.token_type is TokenType.IDENTIFIER
    return calls and not named and word_in_spark(token.text) == "identifier"


def _names_a_dataset(before: Sequence[Token]) -> bool:
    """Whether the tokens end with ``layer.name``."""
    kinds = [token.token_type for token in before[-2:]]
    return kinds[:1] == [TokenType.DOT] and kinds[-1] is not TokenType.DOT


def refuse_dangling(tokens: Sequence[Token]) -> None:
    """Refuse a trailing comma or keyword, which the parser ignores but Spark takes for the name
    of a table or column."""
    kinds = [_role(token, following) for token, following in pairwise([*tokens, None])]
    for token, kind, after in zip(tokens, kinds, [*kinds[1:], TokenType.SEMICOLON], strict=True):
        joined = kind in _JOIN_WORDS and after in _JOIN_WORDS | {TokenType.JOIN}
        if kind in _UNFINISHED and after in _NOTHING and not joined:
            length = token.end + 1 - token.start
            hint = "; quote a name that is a keyword in backticks"
            raise SqlRefused(SqlProblem(f"nothing follows {token.text}", token.start, length, hint))
    for before, token in pairwise(tokens):
        if token.token_type is TokenType.OUTER and before.token_type not in _BEFORE_OUTER:
            problem = "OUTER must follow LEFT, RIGHT, FULL or LATERAL VIEW"
            raise SqlRefused(SqlProblem(problem, token.start, 5))


def refuse_odd_relations(tokens: Sequence[Token]) -> None:
    """Refuse a bare keyword as a relation, which Spark takes for a table and the parser ignores."""
    in_select, in_from = [False], [False]
    for index, token in enumerate(tokens[:-1]):
        kind = token.token_type
        if kind is TokenType.L_PAREN:
            in_select.append(False)
            in_from.append(False)
        elif kind is TokenType.R_PAREN and len(in_from) > 1:
            in_select.pop()
            in_from.pop()
        elif kind is TokenType.SELECT:
            in_select[-1], in_from[-1] = True, False
        elif kind is TokenType.FROM and not _compares(tokens[max(0, index - 2) : index]):
            first = index == 0 or tokens[index - 1].token_type is TokenType.L_PAREN
            in_from[-1] = in_select[-1] or first
        elif kind in _AFTER_FROM:
            in_from[-1] = False
        if in_from[-1] and kind in _BEFORE_A_RELATION:
            _refuse_keyword(tokens[index + 1 : index + 3])


def _compares(before: Sequence[Token]) -> bool:
    """Whether FROM belongs to ``IS DISTINCT FROM`` or ``IS NOT DISTINCT FROM``."""
    kinds = [token.token_type for token in before]
    return kinds[-1:] == [TokenType.DISTINCT] and kinds[0] in (TokenType.IS, TokenType.NOT)


def _refuse_keyword(following: Sequence[Token]) -> None:
    named = following[0].token_type in _RELATION_STARTS
    called = len(following) > 1 and following[1].token_type in (TokenType.L_PAREN, TokenType.DOT)
    if not named and not called:
        word = following[0]
        problem = f"{word.text[:40]} is not a dataset; write layer.name"
        raise SqlRefused(SqlProblem(problem, word.start, word.end + 1 - word.start))


def _role(token: Token | None, following: Token | None) -> TokenType:
    """The role of a keyword in context: ``left(a, 1)`` is a call, not a join."""
    kind = TokenType.SEMICOLON if token is None else token.token_type
    calls = following is not None and following.token_type is TokenType.L_PAREN
    return TokenType.VAR if calls and kind in _FUNCTIONS_TOO else kind


def refuse_deep_nesting(tokens: Sequence[Token]) -> None:
    """Refuse what the parser would follow in a deep recursion."""
    depth = prefixes = 0
    for token in tokens:
        depth += (token.token_type in _OPEN) - (token.token_type in _CLOSE)
        prefixes = prefixes + 1 if token.token_type in _PREFIXES else 0
        if depth > MAX_NESTING or prefixes > 2 * MAX_NESTING:
            raise SqlRefused(SqlProblem(f"nested deeper than {MAX_NESTING} levels", token.start))
