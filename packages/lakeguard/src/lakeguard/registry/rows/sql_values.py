"""Values of an INSERT: literals only, no expressions."""

from __future__ import annotations

from lakeguard.registry.rows.row import NOW, Value
from lakeguard.registry.rows.source_text import Span
from lakeguard.registry.rows.sql_tokens import Kind, Token, Tokens
from lakeguard.registry.rows.texts import exact_number
from lakeguard_sdk.errors import RefusedValue, TooLarge

_CONSTANTS: dict[str, bool | None] = {"TRUE": True, "FALSE": False, "NULL": None}
_NOW_WITHOUT_CALL = "CURRENT_TIMESTAMP"
_NOW = frozenset(
    {
        _NOW_WITHOUT_CALL,
        "NOW",
        "GETDATE",
        "GETUTCDATE",
        "SYSDATETIME",
        "SYSUTCDATETIME",
        "SYSDATETIMEOFFSET",
    }
)
_TYPED = frozenset({"DATE", "TIME", "TIMESTAMP", "TIMESTAMPTZ", "DATETIME"})
_WITHIN_TYPE = frozenset(
    {"PRECISION", "VARYING", "CHARACTER", "CHAR", "UNSIGNED", "SIGNED"}
    | {"WITH", "WITHOUT", "LOCAL", "TIME", "ZONE"}
)
_LITERALS_ONLY = "only literals are supported, no expressions"
_PARAMETERS = ("?", ":", "@", "%", "&")


def read_value(tokens: Tokens) -> tuple[Value, Span]:
    """One value up to the following comma or parenthesis; RefusedValue for anything else."""
    start = tokens.now.span.start
    value, end = _plain(tokens)
    while tokens.now.is_sign("::"):
        tokens.advance()
        end = _pass_type(tokens)
    if not (tokens.now.is_sign(",") or tokens.now.is_sign(")")):
        raise _refused(tokens, tokens.now, _unfinished(tokens.now))
    return value, Span(start, end)


def _plain(tokens: Tokens) -> tuple[Value, int]:
    if tokens.now.word == "CAST":
        return _cast(tokens)
    return _literal(tokens)


def _cast(tokens: Tokens) -> tuple[Value, int]:
    """The value of ``CAST('x' AS type)``; the type is ignored."""
    cast = tokens.advance()
    if not tokens.take("("):
        raise _refused(tokens, cast, "expected ( after CAST")
    value, _ = _literal(tokens)
    if not tokens.take_word("AS"):
        raise _refused(tokens, tokens.now, f"{_LITERALS_ONLY}; expected AS in CAST")
    _pass_type(tokens)
    if not tokens.now.is_sign(")"):
        raise _refused(tokens, tokens.now, "expected ) after CAST")
    return value, tokens.advance().span.end


def _literal(tokens: Tokens) -> tuple[Value, int]:
    token = tokens.now
    match token.kind:
        case Kind.TEXT:
            tokens.advance()
            return token.value, token.span.end
        case Kind.NUMBER:
            return _number(tokens, "")
        case Kind.SIGN if token.value in ("+", "-"):
            tokens.advance()
            if tokens.now.kind is not Kind.NUMBER:
                raise _refused(tokens, token, _LITERALS_ONLY)
            return _number(tokens, token.value)
        case Kind.WORD:
            return _word(tokens)
        case _:
            raise _refused(tokens, token, _problem(token))


def _number(tokens: Tokens, sign: str) -> tuple[Value, int]:
    token = tokens.advance()
    value = exact_number(sign + token.value)
    if value is None:
        place = tokens.source.place(token.span)
        raise TooLarge(place, thing="the number", limit="can be held exactly")
    return value, token.span.end


def _word(tokens: Tokens) -> tuple[Value, int]:
    token = tokens.advance()
    word = token.word
    called = tokens.now.is_sign("(")
    if word in _CONSTANTS and not called:
        return _CONSTANTS[word], token.span.end
    if word in _NOW and (called or word == _NOW_WITHOUT_CALL):
        return NOW, _pass_call(tokens) if called else token.span.end
    if word in _TYPED:
        while tokens.take_word("WITH", "WITHOUT", "TIME", "ZONE"):
            pass
        if tokens.now.kind is Kind.TEXT:
            text = tokens.advance()
            return text.value, text.span.end
    problem = "functions are not supported" if called else _problem(token)
    raise _refused(tokens, token, problem, call=called)


def _pass_call(tokens: Tokens) -> int:
    tokens.advance()
    if tokens.now.kind is Kind.NUMBER:
        tokens.advance()
    if not tokens.now.is_sign(")"):
        raise _refused(tokens, tokens.now, _LITERALS_ONLY)
    return tokens.advance().span.end


def _pass_type(tokens: Tokens) -> int:
    """``numeric(10, 2)``, ``double precision``, ``pg_catalog.timestamp(3) with time zone``."""
    if tokens.now.kind not in (Kind.WORD, Kind.NAME):
        raise _refused(tokens, tokens.now, "expected a type")
    end = tokens.advance().span.end
    while tokens.take("."):
        if tokens.now.kind not in (Kind.WORD, Kind.NAME):
            raise _refused(tokens, tokens.now, "expected a type")
        end = tokens.advance().span.end
    end = _pass_type_words(tokens, end)
    if tokens.take("("):
        while tokens.now.kind in (Kind.NUMBER, Kind.WORD) or tokens.now.is_sign(","):
            tokens.advance()
        if not tokens.now.is_sign(")"):
            raise _refused(tokens, tokens.now, "invalid type")
        end = _pass_type_words(tokens, tokens.advance().span.end)
    return end


def _pass_type_words(tokens: Tokens, end: int) -> int:
    while tokens.now.word in _WITHIN_TYPE:
        end = tokens.advance().span.end
    return end


def _problem(token: Token) -> str:
    """Why a token is not a value."""
    match token.kind:
        case Kind.ESCAPED:
            return "escape sequences are not supported; write the characters themselves"
        case Kind.NAME:
            return "it is a name; write strings in single quotes"
        case Kind.SIGN if token.value == "(":
            return "subqueries and expressions are not supported"
        case Kind.SIGN if token.value in (",", ")"):
            return "expected a value before it"
        case Kind.SIGN if token.value in _PARAMETERS:
            return "parameters are not supported"
        case Kind.WORD if "$" in token.value:
            return "variables are not supported"
        case Kind.END:
            return "expected a value before it"
        case _:
            return _LITERALS_ONLY


def _unfinished(token: Token) -> str:
    if token.kind is Kind.END:
        return "expected ) before it"
    if token.kind is Kind.TEXT:
        return "two strings are not joined; double a quote inside a string"
    return _LITERALS_ONLY


def _refused(tokens: Tokens, token: Token, problem: str, *, call: bool = False) -> RefusedValue:
    value = f"{token.label}()" if call else token.label
    return RefusedValue(tokens.source.place(token.span), value=value, problem=problem)
