"""Rows of ``INSERT INTO table (columns) VALUES (...)``: parsed, never executed.

Statements that carry no row, such as ``SET``, ``USE``, ``BEGIN``, ``COMMIT`` and ``GO``, are
passed over. Everything else is refused by name.
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
"""Words that a new statement begins with where the one before has no semicolon."""
_OTHER_INSERTS = {
    "ALL", "DELAYED", "FIRST", "HIGH_PRIORITY", "IGNORE", "LOW_PRIORITY", "OR", "OVERWRITE", "TOP",
}  # fmt: skip
_SELECTS = {"SELECT", "WITH", "TABLE", "EXEC", "EXECUTE"}
_NO_SELECT = "rows are written out in VALUES (...)"


def read_inserts(source: SourceText, _table: str) -> Iterator[Row | DefinitionError]:
    """The name of the file says nothing: each statement names its table."""
    tokens = Tokens(source)
    while not tokens.at_end:
        tokens.depth = 0
        try:
            yield from _statement(tokens)
        except (RefusedStatement, BadColumns) as mistake:
            yield mistake
            _pass_statement(tokens)
    if tokens.for_sqlcmd:
        for span in tokens.filled_in:
            problem = "sqlcmd would fill in its variable; write the value itself"
            yield RefusedValue(source.place(span), value="a text with $(...)", problem=problem)


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
                raise _refused(tokens, start, start.said, _ONLY_INSERTS)
            _end(tokens, "START TRANSACTION")
        case _:
            if not tokens.take(";"):
                raise _refused(tokens, tokens.now, tokens.now.said, _ONLY_INSERTS)


def _go(tokens: Tokens) -> None:
    tokens.advance()
    if not (tokens.now.fresh or tokens.now.is_sign(";")):
        raise _refused(tokens, tokens.now, f"GO {tokens.now.said}", "GO stands alone on its line")


def _set(tokens: Tokens) -> None:
    tokens.advance()
    while not (tokens.at_end or tokens.now.word in _STATEMENTS):
        if tokens.advance().is_sign(";"):
            return


def _end(tokens: Tokens, statement: str) -> None:
    """A semicolon, or the beginning of something else."""
    if tokens.take(";") or tokens.at_end or tokens.now.word in _STATEMENTS:
        return
    said = f"{statement} {tokens.now.said}"
    raise _refused(tokens, tokens.now, said, _ONLY_INSERTS)


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
        said = f"ON {tokens.now.said}"
        raise _refused(tokens, on, said, "a row is added, and not merged")
    _end(tokens, "INSERT ... VALUES ...")


def _table(tokens: Tokens) -> str:
    """The last part of the name; database and schema, variables too, are dropped."""
    token = _name(tokens)
    if _is_variable(token):
        raise _refused(tokens, token, "INSERT", "the table's name is a variable")
    return token.value.strip().lower()


def _is_variable(token: Token) -> bool:
    return "$(" in token.value or "${" in token.value


def _name(tokens: Tokens) -> Token:
    """Passes ``table``, ``schema.table``, ``db.schema.table`` or ``db..table``; its last part."""
    while True:
        if tokens.now.kind not in (Kind.WORD, Kind.NAME):
            problem = f"a name is missing before {tokens.now.said}"
            raise _refused(tokens, tokens.now, "the statement", problem)
        token = tokens.advance()
        if not tokens.take("."):
            return token
        tokens.take(".")


def _columns(tokens: Tokens) -> tuple[tuple[str, ...], tuple[Span, ...]]:
    opening = tokens.now
    if opening.word == "VALUES":
        unnamed = "the columns are not named: INSERT INTO table (columns) VALUES (...)"
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
            missing = f"a comma or ) is missing before {tokens.now.said}"
            raise BadColumns(tokens.source.place(tokens.now.span), problem=missing)


def _column_problem(token: Token, before: Container[str]) -> str | None:
    if token.kind not in (Kind.WORD, Kind.NAME):
        return f"the name of a column is missing before {token.said}"
    if _is_variable(token):
        return f"column {token.said} is a variable; variables are not filled in"
    if token.value.strip().lower() in before:
        return f"column {token.said!r} is named twice"
    return None


def _without_values(tokens: Tokens) -> RefusedStatement:
    token = tokens.now
    if token.word in _SELECTS:
        return _refused(tokens, token, f"INSERT ... {token.word}", _NO_SELECT)
    if token.is_sign("("):
        return _refused(tokens, token, "INSERT ... (...)", _NO_SELECT)
    if token.word:
        return _refused(tokens, token, f"INSERT ... {token.said}", _ONLY_INSERTS)
    return _refused(tokens, token, "INSERT", f"VALUES is missing before {token.said}")


def _row(
    tokens: Tokens, table: str, names: tuple[str, ...], name_spans: tuple[Span, ...]
) -> Row | DefinitionError:
    """A row, or its mistake; after either, the next row can be read."""
    start, depth = tokens.now.span.start, tokens.depth
    if not tokens.take("("):
        problem = f"a row begins with ( and not with {tokens.now.said}"
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
        _pass_row(tokens, depth)
        return mistake
    row_span = Span(start, tokens.advance().span.end)
    if len(values) != len(names):
        found, expected = counted(len(values), "value"), counted(len(names), "column")
        return RaggedRow(tokens.source.place(row_span), found=found, expected=expected)
    by_name = dict(zip(names, values, strict=True))
    return Row(table, by_name, tokens.source, row_span, tuple(spans), name_spans)


def _pass_row(tokens: Tokens, depth: int) -> None:
    """Up to the parenthesis that closes the row, or to the end of the statement."""
    while tokens.depth > depth and not (tokens.at_end or tokens.now.is_sign(";")):
        tokens.advance()


def _pass_statement(tokens: Tokens) -> None:
    while not (tokens.at_end or (tokens.now.fresh and tokens.now.word == "GO")):
        if tokens.advance().is_sign(";"):
            return


def _refused(tokens: Tokens, token: Token, statement: str, problem: str) -> RefusedStatement:
    place = tokens.source.place(token.span)
    return RefusedStatement(place, statement=statement, problem=problem)
