"""Finds strings, quoted names and comments in Spark SQL.

An independent scanner that is compared with the parser's tokens: where the two disagree, Spark
might execute what the parser took for a comment, so the SQL is refused. Variables and
templates, which Spark would substitute, are refused as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from lakeguard.registry.text.characters import forbidden_character

MAX_CHARACTERS = 200_000


@dataclass(frozen=True)
class SqlProblem:
    """A problem at ``offset``; ``hint`` is appended to the message."""

    problem: str
    offset: int
    length: int = 1
    hint: str = ""


class SqlRefused(Exception):
    """The SQL cannot be parsed, so no further checks are possible."""

    def __init__(self, problem: SqlProblem) -> None:
        self.problem = problem
        super().__init__(problem.problem)


class Opaque(NamedTuple):
    """A span that holds no code."""

    kind: Literal["string", "name", "comment"]
    start: int
    end: int


_INTERESTING = re.compile(r"--|/\*(?!\+)|\b[rR](?=['\"])|['\"`]|\$\{|\{")
_LINE_COMMENT = re.compile(r"[^\n]*")
_INSIDE = {
    "'": re.compile(r"(?:[^'\\]|\\.)*'", re.DOTALL),
    '"': re.compile(r'(?:[^"\\]|\\.)*"', re.DOTALL),
    "`": re.compile(r"(?:[^`]|``)*`", re.DOTALL),
}
_RAW = {"'": re.compile(r"[^']*'"), '"': re.compile(r'[^"]*"')}


def scan(text: str) -> list[Opaque]:
    """Strings, quoted names and comments in order; SqlRefused for SQL that is never run."""
    _refuse_whole(text)
    spans: list[Opaque] = []
    at = 0
    while found := _INTERESTING.search(text, at):
        span = _span(text, found)
        spans.append(span)
        at = span.end
    return spans


def _refuse_whole(text: str) -> None:
    if len(text) > MAX_CHARACTERS:
        raise SqlRefused(SqlProblem(f"longer than {MAX_CHARACTERS:,} characters", 0))
    found = forbidden_character(text)
    if found:
        raise SqlRefused(SqlProblem(f"{found[1]} is not allowed", found[0]))
    variable = text.find("${")
    if variable >= 0:
        raise SqlRefused(SqlProblem("variables are not supported: ${", variable, 2))


def _span(text: str, found: re.Match[str]) -> Opaque:
    start = found.start()
    match found[0]:
        case "--":
            return _line_comment(text, start)
        case "/*":
            return _block_comment(text, start)
        case "{":
            raise SqlRefused(SqlProblem("templates are not supported: {", start))
        case "r" | "R":
            quote = text[start + 1]
            return Opaque("string", start, _end(text, start, start + 2, _RAW[quote]))
        case "`":
            end = _end(text, start, start + 1, _INSIDE["`"])
            if end - start < 3:
                raise SqlRefused(SqlProblem("empty name", start, 2))
            return Opaque("name", start, end)
        case quote:
            return Opaque("string", start, _end(text, start, start + 1, _INSIDE[quote]))


def _end(text: str, start: int, inside: int, pattern: re.Pattern[str]) -> int:
    found = pattern.match(text, inside)
    if not found:
        raise SqlRefused(SqlProblem(f"unterminated {text[start]}", start))
    return found.end()


def _line_comment(text: str, start: int) -> Opaque:
    found = _LINE_COMMENT.match(text, start)
    end = found.end() if found else len(text)
    if text[start:end].rstrip("\r").endswith("\\"):
        raise SqlRefused(SqlProblem("a comment ending in \\ continues on the next line", end - 1))
    return Opaque("comment", start, end)


def _block_comment(text: str, start: int) -> Opaque:
    end = text.find("*/", start + 2)
    if end < 0:
        raise SqlRefused(SqlProblem("unterminated comment", start, 2))
    nested = text.find("/*", start + 2, end)
    if nested >= 0:
        raise SqlRefused(SqlProblem("nested comments are not supported", nested, 2))
    return Opaque("comment", start, end + 2)


def refuse_disagreement(spans: list[Opaque], tokens: Iterable[tuple[int, int]]) -> None:
    """SqlRefused unless each token is outside all spans, or equals a string or quoted name."""
    waiting = iter(spans)
    span = next(waiting, None)
    for start, end in tokens:
        while span is not None and span.kind == "comment" and span.end <= start:
            span = next(waiting, None)
        if span is None or end <= span.start:
            continue
        prefixed = start == span.start or (start == span.start - 1)
        if span.kind == "comment" or end != span.end or not prefixed:
            raise _ambiguous(span)
        span = next(waiting, None)
    while span is not None:
        if span.kind != "comment":
            raise _ambiguous(span)
        span = next(waiting, None)


def _ambiguous(span: Opaque) -> SqlRefused:
    problem = "ambiguous quotes or comments"
    return SqlRefused(SqlProblem(problem, span.start, span.end - span.start))


def word_in_spark(text: str) -> str:
    """The keyword or function that Spark may take a word for. It compares capitals, letter by
    letter: a dotless i has that of an i, and a long s that of an s."""
    return text.casefold() if text.isascii() else "".join(map(_small_letter, text))


def _small_letter(character: str) -> str:
    capital = character.upper()
    return (capital if len(capital) == 1 else character).lower()[0]
