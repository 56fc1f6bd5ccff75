"""Parses SQL builds with sqlglot. Imported on demand, because sqlglot is slow to import."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from sqlglot import exp
from sqlglot.dialects.databricks import Databricks
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from lakeguard.registry.sql.sql_facts import SqlFacts, TableReference
from lakeguard.registry.sql.sql_functions import (
    ambiguous_run_times,
    bare_users,
    called_aggregate,
    function_problems,
    run_times,
)
from lakeguard.registry.sql.sql_tables import (
    check_relations,
    common_tables,
    reads_given,
    table_references,
)
from lakeguard.registry.sql.sql_tokens import (
    one_statement,
    refuse_dangling,
    refuse_deep_nesting,
    refuse_odd_relations,
)
from lakeguard.registry.text.sql_lexing import (
    SqlProblem,
    SqlRefused,
    refuse_disagreement,
    scan,
)
from lakeguard_sdk.core.dataset_name import DatasetName

PARAMETER = re.compile(r"[a-z][a-z0-9_]*")
_STUMBLES = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, AssertionError)
"""Internal errors of the parser for some inputs, such as ``map(1)``."""
_REFUSED_NODES: dict[type[exp.Expr], str] = {
    exp.DDL: "a build must not write or create objects",
    exp.DML: "a build must not write or create objects",
    exp.Command: "a build must be one SELECT",
    exp.Into: "a build must not write or create objects",
    exp.QueryTransform: "scripts are not supported",
    exp.Parameter: "write a parameter as :name",
    exp.SessionParameter: "write a parameter as :name",
    exp.Stream: "streams are not supported",
    exp.Lock: "locks are not supported",
    exp.MatchRecognize: "MATCH_RECOGNIZE is not Spark SQL",
    exp.TableSample: "TABLESAMPLE is random, so a run could not be built again",
}


def read_sql(text: str, given: frozenset[str] = frozenset()) -> SqlFacts:
    """Facts and problems of the SQL; SqlRefused if it cannot be parsed.

    ``given`` are case-folded relations that may be read without a layer.
    """
    root, tokens = parse_select(text)
    semicolon = one_statement(tokens)
    references = tuple(_references(root))
    times = tuple(run_times(tokens, root))
    problems = {
        *_refused_nodes(root, tokens),
        *_refused_parameters(root, allowed=not given),
        *check_relations(root, text, given),
        *ambiguous_run_times(times, root, any_column=bool(given)),
    }
    known = {problem.offset for problem in problems}
    calls = function_problems(tokens, root)
    problems |= {problem for problem in calls if problem.offset not in known}
    users = tuple(bare_users(tokens, root))
    problems |= set(users) if given else set()
    unknown = () if problems else tuple(_unknown_qualifiers(tokens, root, references))
    as_columns = _column_starts(root)
    problems |= {found for _, found in unknown if found.offset not in as_columns}
    return SqlFacts(
        tables=references,
        common_tables=common_tables(root),
        semicolon=semicolon,
        combines=root.find(exp.SetOperation) is not None,
        parameters=tuple(sorted({node.name for node in root.find_all(exp.Placeholder)})),
        reads_given=reads_given(root, given),
        run_times=times,
        undeclared=(
            *(item for item in unknown if item[1].offset in as_columns),
            *(("user", found) for found in users if not given),
        ),
        row_by_row=None if called_aggregate(tokens) else row_by_row(root),
        problems=tuple(sorted(problems, key=lambda found: (found.offset, found.problem))),
    )


@lru_cache(maxsize=256)
def parse_select(text: str) -> tuple[exp.Expr, Sequence[Token]]:
    """The tree, which must not be changed, and the tokens; SqlRefused if it cannot be parsed."""
    spans = scan(text)
    tokens = _tokens(text)
    refuse_disagreement(spans, ((token.start, token.end + 1) for token in tokens))
    one_statement(tokens)
    refuse_dangling(tokens)
    refuse_odd_relations(tokens)
    refuse_deep_nesting(tokens)
    root = _parsed(text, tokens)
    _refuse_long_chains(root)
    return root, tokens


def _tokens(text: str) -> Sequence[Token]:
    try:
        tokens: Sequence[Token] = Databricks().tokenize(text)
    except (TokenError, *_STUMBLES):
        raise SqlRefused(SqlProblem("invalid SQL", 0)) from None
    if not tokens:
        raise SqlRefused(SqlProblem("no SELECT in this file", 0))
    return tokens


def _parsed(text: str, tokens: Sequence[Token]) -> exp.Expr:
    statement = [token for token in tokens if token.token_type is not TokenType.SEMICOLON]
    try:
        roots = Databricks().parser().parse(statement, text)
    except ParseError as error:
        raise SqlRefused(_syntax(text, error)) from None
    except RecursionError:
        raise SqlRefused(SqlProblem("nested too deeply", 0)) from None
    except _STUMBLES:
        raise SqlRefused(SqlProblem("invalid Spark SQL", tokens[0].start)) from None
    root = roots[0] if len(roots) == 1 else None
    if isinstance(root, exp.Subquery) and not isinstance(root.unnest(), exp.Query):
        root = None
    if not isinstance(root, exp.Select | exp.SetOperation | exp.Subquery):
        raise SqlRefused(SqlProblem("a build must be one SELECT", tokens[0].start))
    return root


MAX_DEPTH = 500
"""Levels of the tree: Spark's parser and analyzer fail at some hundred more."""


def _refuse_long_chains(root: exp.Expr) -> None:
    """Refuse hundreds of operators, casts or UNIONs in a row, each of which is a level of the
    tree; those of AND and OR are not, as Spark balances them."""
    waiting: list[tuple[exp.Expr, int, int]] = [(root, 0, 0)]
    while waiting:
        node, depth, start = waiting.pop()
        depth += not isinstance(node, exp.Connector)
        start = int(node.meta.get("start", start))
        if depth > MAX_DEPTH:
            problem = f"a chain of more than {MAX_DEPTH} operators"
            raise SqlRefused(SqlProblem(problem, start, hint="; divide it into smaller SELECTs"))
        waiting += [(child, depth, start) for child in node.iter_expressions()]


def _syntax(text: str, error: ParseError) -> SqlProblem:
    found: dict[str, Any] = error.errors[0] if error.errors else {}
    word = str(found.get("highlight") or "")
    lines = text.split("\n")
    line = min(int(found.get("line") or 1), len(lines))
    offset = sum(len(each) + 1 for each in lines[: line - 1])
    offset += max(int(found.get("col") or 1) - len(word), 0)
    near = f" near {word[:40]!r}" if word.strip() else ""
    return SqlProblem(f"invalid Spark SQL{near}", min(offset, len(text)), len(word) or 1)


_KEYWORDS: dict[type[exp.Expr], str] = {
    exp.TableSample: "TABLESAMPLE",
    exp.MatchRecognize: "MATCH_RECOGNIZE",
    exp.Into: "INTO",
    exp.Lock: "FOR",
}
"""Keywords of refused nodes whose parts follow them."""


def _refused_nodes(root: exp.Expr, tokens: Sequence[Token]) -> Iterator[SqlProblem]:
    refused_types = tuple(_REFUSED_NODES)
    for node in root.walk():
        if isinstance(node, refused_types):
            why = next(why for kind, why in _REFUSED_NODES.items() if isinstance(node, kind))
            keyword = _keyword(node, tokens)
            if keyword is None:
                yield SqlProblem(why, _start(node))
            else:
                yield SqlProblem(why, keyword.start, len(keyword.text))
        if isinstance(node, exp.CTE) and not isinstance(node.this, exp.Query | exp.DML):
            yield SqlProblem("a common table expression must be a SELECT", _start(node))


def _keyword(node: exp.Expr, tokens: Sequence[Token]) -> Token | None:
    """The keyword before the parts of the node; the last one, if no part has a known place."""
    word = _KEYWORDS.get(type(node))
    places = [int(each.meta["start"]) for each in node.walk() if "start" in each.meta]
    end = min(places, default=None)
    found = (
        token
        for token in reversed(tokens)
        if token.text.upper() == word and (end is None or token.start <= end)
    )
    return next(found, None)


def _refused_parameters(root: exp.Expr, *, allowed: bool) -> Iterator[SqlProblem]:
    """Only ``:name`` is a parameter, and only in builds: a transform has none."""
    for node in root.find_all(exp.Placeholder):
        name = node.name
        if not allowed:
            yield SqlProblem("a transform has no parameters", _start(node))
        elif not PARAMETER.fullmatch(name):
            yield SqlProblem("write a parameter as :name, in lower snake case", _start(node))


def _start(node: exp.Expr) -> int:
    """Smallest known offset below a node."""
    known = [int(each.meta["start"]) for each in node.walk() if "start" in each.meta]
    return min(known, default=0)


def _references(root: exp.Expr) -> Iterator[TableReference]:
    for table in table_references(root):
        name, layer = table.this, table.args["db"]
        yield TableReference(
            dataset=DatasetName(f"{layer.name}.{name.name}"),
            start=int(layer.meta["start"]),
            end=int(name.meta["end"]) + 1,
            aliased=table.args.get("alias") is not None,
        )


# Whether a SELECT processes each row independently, so new rows only add rows.

_LOOKS_AT_OTHER_ROWS = (
    exp.AggFunc,
    exp.Group,
    exp.Having,
    exp.Distinct,
    exp.Window,
    exp.Limit,
    exp.Offset,
    exp.Fetch,
    exp.SetOperation,
    exp.Subquery,
    exp.CTE,
    exp.Exists,
    exp.Pivot,
    exp.TableSample,
)
_KEEPS_LEFT = ("", "LEFT", "INNER", "CROSS")


def row_by_row(root: exp.Expr) -> str | None:
    """The dataset after FROM, if each of its rows is processed independently, else None.

    Conservative: only a plain SELECT with other tables joined to the right qualifies.
    """
    if not isinstance(root, exp.Select) or root.find(*_LOOKS_AT_OTHER_ROWS) is not None:
        return None
    tables = list(root.find_all(exp.Table))
    joins = root.args.get("joins") or []
    if any(str(join.side or join.kind or "").upper() not in _KEEPS_LEFT for join in joins):
        return None
    if not tables or any(not table.db for table in tables):
        return None
    names = [f"{table.db}.{table.name}" for table in tables]
    first = root.args.get("from_") or root.args.get("from")
    if first is None or not isinstance(first.this, exp.Table):
        return None
    name = f"{first.this.db}.{first.this.name}"
    return name if names.count(name) == 1 else None


# Qualified names must start with an alias of the SELECT, a parent or a column.

_GIVEN_BY_FUNCTIONS = {"col", "key", "value", "pos"}
"""Default column names of explode and similar functions."""
_NOT_A_NAME = {
    TokenType.DOT,
    TokenType.R_PAREN,
    TokenType.R_BRACKET,
    TokenType.NUMBER,
    TokenType.STRING,
}


def _unknown_qualifiers(
    tokens: Sequence[Token], root: exp.Expr, tables: Sequence[TableReference]
) -> Iterator[tuple[str, SqlProblem]]:
    """First words of dotted names that the SELECT does not define."""
    known = _given_names(root) | _GIVEN_BY_FUNCTIONS
    read = {table.start for table in tables}
    for before, token, after in zip([None, *tokens], tokens, tokens[1:], strict=False):
        follows_dot = before is not None and before.token_type is TokenType.DOT
        if after.token_type is not TokenType.DOT or follows_dot:
            continue
        if token.token_type in _NOT_A_NAME or token.start in read:
            continue
        if token.text.casefold() not in known:
            problem = f"{token.text[:80]!r} is not a table or column of this SELECT"
            found = SqlProblem(problem, token.start, token.end + 1 - token.start)
            yield token.text.casefold(), found


def _column_starts(root: exp.Expr) -> set[int]:
    """Offsets of the names that the parser takes for columns."""
    first = (column.parts[0] for column in root.find_all(exp.Column))
    return {int(part.meta["start"]) for part in first if "start" in part.meta}


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
