"""Rows of ``INSERT INTO table (columns) VALUES (...)``: parsed, never executed.

Statements without rows, such as ``SET``, ``USE``, ``BEGIN``, ``COMMIT`` and ``GO``, are skipped.
All others are refused.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from lakeguard.registry.rows.row import Row, Value
from lakeguard.registry.rows.source_text import SourceText, Span
from lakeguard.registry.rows.sql_tokens import Kind, Token, Tokens
from lakeguard.registry.rows.sql_values import read_value
from lakeguard.registry.rows.texts import counted
from lakeguard_sdk.errors import (
    BadColumns,
    DefinitionError,
    RaggedRow,
    RefusedStatement,
    RefusedValue,
)

_ONLY_INSERTS = "only INSERT INTO table (columns) VALUES (...) is"
_STATEMENTS = {
    "ALTER", "ANALYZE", "BEGIN", "CALL", "COMMIT", "COPY", "CREATE", "DECLARE", "DELETE", "DENY",
    "DO", "DROP", "END", "EXEC", "EXECUTE", "EXPLAIN", "GO", "GRANT", "IF", "INSERT", "LOAD",
    "LOCK", "MERGE", "PRINT", "RAISERROR", "REPLACE", "REVOKE", "ROLLBACK", "SAVEPOINT", "SELECT",
    "SET", "START", "TRUNCATE", "UPDATE", "UPSERT", "USE", "VACUUM", "WHILE", "WITH",
}  # fmt: skip
"""Keywords that start a new statement after one without a semicolon."""
_OTHER_INSERTS = {
    "ALL", "DELAYED", "FIRST", "HIGH_PRIORITY", "IGNORE", "LOW_PRIORITY", "OR", "OVERWRITE", "TOP",
}  # fmt: skip
_SELECTS = {"SELECT", "WITH", "TABLE", "EXEC", "EXECUTE"}
_NO_SELECT = "rows must be in VALUES (...)"


def read_inserts(source: SourceText, _table: str) -> Iterator[Row | DefinitionError]:
    """Each statement names its table; the file name is ignored."""
    tokens = Tokens(source)
    while not tokens.at_end:
        tokens.depth = 0
        try:
            yield from _statement(tokens)
        except (RefusedStatement, BadColumns) as mistake:
            yield mistake
            _skip_statement(tokens)
    if tokens.for_sqlcmd:
        for span in tokens.filled_in:
            problem = "sqlcmd would substitute a variable; write the value itself"
            yield RefusedValue(source.place(span), value="a string with $(...)", problem=problem)


def _statement(tokens: Tokens) -> Iterator[Row | DefinitionError]:
    match tokens.now.word:
        case "INSERT":
            yield from _insert(tokens)
        case "GO" if tokens.now.fresh:
            _go(tokens)
        case "SET":
            _set(tokens)
        case "USE":
            tokens.advance()
            _name(tokens)
            _end(tokens, "USE")
        case "BEGIN" | "COMMIT" as word:
            tokens.advance()
            tokens.take_word("TRAN", "TRANSACTION", "WORK")
            _end(tokens, word)
        case "START":
            start = tokens.advance()
            if not tokens.take_word("TRANSACTION"):
                raise _refused(tokens, start, start.label, _ONLY_INSERTS)
            _end(tokens, "START TRANSACTION")
        case _:
            if not tokens.take(";"):
                raise _refused(tokens, tokens.now, tokens.now.label, _ONLY_INSERTS)


def _go(tokens: Tokens) -> None:
    tokens.advance()
    if not (tokens.now.fresh or tokens.now.is_sign(";")):
        raise _refused(tokens, tokens.now, f"GO {tokens.now.label}", "GO must be alone on its line")


def _set(tokens: Tokens) -> None:
    tokens.advance()
    while not (tokens.at_end or tokens.now.word in _STATEMENTS):
        if tokens.advance().is_sign(";"):
            return


def _end(tokens: Tokens, statement: str) -> None:
    """Expect a semicolon or a new statement."""
    if tokens.take(";") or tokens.at_end or tokens.now.word in _STATEMENTS:
        return
    found = f"{statement} {tokens.now.label}"
    raise _refused(tokens, tokens.now, found, _ONLY_INSERTS)


def _insert(tokens: Tokens) -> Iterator[Row | DefinitionError]:
    tokens.advance()
    if tokens.now.word in _OTHER_INSERTS:
        raise _refused(tokens, tokens.now, f"INSERT {tokens.now.word}", _ONLY_INSERTS)
    tokens.take_word("INTO")
    table = _table(tokens)
    names, name_spans = _columns(tokens)
    if not tokens.take_word("VALUES"):
        raise _without_values(tokens)
    while True:
        yield _row(tokens, table, names, name_spans)
        if not tokens.take(","):
            break
    if tokens.now.word == "ON":
        on = tokens.advance()
        clause = f"ON {tokens.now.label}"
        raise _refused(tokens, on, clause, "upserts are not supported")
    _end(tokens, "INSERT ... VALUES ...")


def _table(tokens: Tokens) -> str:
    """The table name without database and schema, which may be variables."""
    token = _name(tokens)
    if _is_variable(token):
        raise _refused(tokens, token, "INSERT", "the table name is a variable")
    return token.value.strip().lower()


def _is_variable(token: Token) -> bool:
    return "$(" in token.value or "${" in token.value


def _name(tokens: Tokens) -> Token:
    """Consume ``table``, ``schema.table``, ``db.schema.table`` or ``db..table``; the last part."""
    while True:
        if tokens.now.kind not in (Kind.WORD, Kind.NAME):
            problem = f"expected a name before {tokens.now.label}"
            raise _refused(tokens, tokens.now, "the statement", problem)
        token = tokens.advance()
        if not tokens.take("."):
            return token
        tokens.take(".")


def _columns(tokens: Tokens) -> tuple[tuple[str, ...], tuple[Span, ...]]:
    opening = tokens.now
    if opening.word == "VALUES":
        unnamed = "the columns are missing: INSERT INTO table (columns) VALUES (...)"
        raise BadColumns(tokens.source.place(opening.span), problem=unnamed)
    if not tokens.take("("):
        raise _without_values(tokens)
    if tokens.now.word in _SELECTS:
        raise _without_values(tokens)
    names: dict[str, Span] = {}
    while True:
        token = tokens.now
        if problem := _column_problem(token, names):
            raise BadColumns(tokens.source.place(token.span), problem=problem)
        names[token.value.strip().lower()] = token.span
        tokens.source.refuse_wide(len(names), token.span)
        tokens.advance()
        if tokens.take(")"):
            return tuple(names), tuple(names.values())
        if not tokens.take(","):
            missing = f"expected a comma or ) before {tokens.now.label}"
            raise BadColumns(tokens.source.place(tokens.now.span), problem=missing)


def _column_problem(token: Token, before: Container[str]) -> str | None:
    if token.kind not in (Kind.WORD, Kind.NAME):
        return f"expected a column name before {token.label}"
    if _is_variable(token):
        return f"column {token.label} is a variable; variables are not supported"
    if token.value.strip().lower() in before:
        return f"duplicate column {token.label!r}"
    return None


def _without_values(tokens: Tokens) -> RefusedStatement:
    token = tokens.now
    if token.word in _SELECTS:
        return _refused(tokens, token, f"INSERT ... {token.word}", _NO_SELECT)
    if token.is_sign("("):
        return _refused(tokens, token, "INSERT ... (...)", _NO_SELECT)
    if token.word:
        return _refused(tokens, token, f"INSERT ... {token.label}", _ONLY_INSERTS)
    return _refused(tokens, token, "INSERT", f"expected VALUES before {token.label}")


def _row(
    tokens: Tokens, table: str, names: tuple[str, ...], name_spans: tuple[Span, ...]
) -> Row | DefinitionError:
    """A row or its error; parsing continues with the next row."""
    start, depth = tokens.now.span.start, tokens.depth
    if not tokens.take("("):
        problem = f"expected ( at the start of a row, not {tokens.now.label}"
        raise _refused(tokens, tokens.now, "INSERT", problem)
    values: list[Value] = []
    spans: list[Span] = []
    try:
        while not values or tokens.take(","):
            value, span = read_value(tokens)
            values.append(value)
            spans.append(span)
            tokens.source.refuse_wide(len(values), span)
    except RefusedValue as mistake:
        _skip_row(tokens, depth)
        return mistake
    row_span = Span(start, tokens.advance().span.end)
    if len(values) != len(names):
        found, expected = counted(len(values), "value"), counted(len(names), "column")
        return RaggedRow(tokens.source.place(row_span), found=found, expected=expected)
    by_name = dict(zip(names, values, strict=True))
    return Row(table, by_name, tokens.source, row_span, tuple(spans), name_spans)


def _skip_row(tokens: Tokens, depth: int) -> None:
    """Skip to the closing parenthesis of the row, or to the end of the statement."""
    while tokens.depth > depth and not (tokens.at_end or tokens.now.is_sign(";")):
        tokens.advance()


def _skip_statement(tokens: Tokens) -> None:
    while not (tokens.at_end or (tokens.now.fresh and tokens.now.word == "GO")):
        if tokens.advance().is_sign(";"):
            return


def _refused(tokens: Tokens, token: Token, statement: str, problem: str) -> RefusedStatement:
    place = tokens.source.place(token.span)
    return RefusedStatement(place, statement=statement, problem=problem)
