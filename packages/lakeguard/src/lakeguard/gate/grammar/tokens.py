"""Tokenizer of the grammar; every token has its span."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from lakeguard.gate.grammar.grammar_error import GrammarError, Span

LONGEST_TEXT = 4000

TokenKind = Literal[
    "word", "name", "number", "text", "mark", "end", "reference", "label", "clock", "quantity"
]
Lexicon = tuple[tuple[TokenKind, re.Pattern[str]], ...]
"""Token patterns of a language; the first match wins."""

_BLANK = re.compile(r"[ \t\r\n]+")
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?"
    r"(?:Z|[+-][0-9]{2}:[0-9]{2})?)?(?![\w.:-])"
)
_DURATION = re.compile(r"[0-9]{1,6}[smhdw](?![\w.:+-])")
_REFERENCE = re.compile(r"->[ \t\r\n]*[a-z]+[.][a-z][a-z0-9_]*(?![\w.])")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.:+-])")
_LOOKS_NUMERIC = re.compile(r"[+-]?\.?[0-9][\w.:+-]*")
QUOTED = re.compile(r"'(?:[^']|'')*'")
BACKTICKED = re.compile(r"`(?:[^`]|``)+`")
_MARK = re.compile(r"<>|!=|<=|>=|[=<>()\[\],%+*/.-]")
RULE_TOKENS: Lexicon = (
    ("word", WORD),
    ("text", _TIME),
    ("text", _DURATION),
    ("number", _NUMBER),
    ("text", QUOTED),
    ("reference", _REFERENCE),
    ("name", BACKTICKED),
    ("mark", _MARK),
)
_HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_INSTEAD = {
    '"': "write texts in single quotes and unusual column names in backticks",
    ";": "a rule is one expression",
    "{": "write lists in square brackets",
    "-": "a minus must be followed by a number",
    ".": "write a column name with a dot in backticks",
}


@dataclass(frozen=True)
class Token:
    """``value`` is the meaning of the token: quotes and escapes are removed."""

    kind: TokenKind
    value: str
    span: Span


def tokenize(
    text: str, lexicon: Lexicon = RULE_TOKENS
) -> tuple[tuple[Token, ...], GrammarError | None]:
    """The tokens up to the end or the first invalid character, and the error for the latter.

    The error is raised only when the parser reaches it, so the first mistake is reported.
    """
    tokens: list[Token] = []
    error = _unreadable(text)
    at = 0
    while at < len(text) and error is None:
        if blank := _BLANK.match(text, at):
            at = blank.end()
            continue
        try:
            tokens.append(_token(text, at, lexicon))
        except GrammarError as found:
            error = found
            break
        at += tokens[-1].span.length
    return (*tokens, Token("end", "", Span(at, 1))), error


def _unreadable(text: str) -> GrammarError | None:
    if len(text) > LONGEST_TEXT:
        span = Span(LONGEST_TEXT, len(text) - LONGEST_TEXT)
        message = f"too long: {len(text):,} characters, at most {LONGEST_TEXT:,}"
        return GrammarError(message, span, kind="syntax")
    if hidden := _HIDDEN.search(text):
        message = f"an invisible character, U+{ord(hidden[0]):04X}"
        return GrammarError(message, Span(hidden.start(), 1), kind="syntax")
    return None


def _token(text: str, at: int, lexicon: Lexicon) -> Token:
    for kind, pattern in lexicon:
        if found := pattern.match(text, at):
            return Token(kind, _meaning(found[0]), _span(found))
    raise _no_token(text, at)


def _meaning(written: str) -> str:
    if written[0] == "'":
        return written[1:-1].replace("''", "'")
    if written[0] == "`":
        return written[1:-1].replace("``", "`")
    return "<>" if written == "!=" else written


def _no_token(text: str, at: int) -> GrammarError:
    if text[at] in "'`":
        kind = "text" if text[at] == "'" else "name"
        span = Span(at, len(text) - at)
        return GrammarError(f"unclosed {kind}", span, kind="syntax")
    if found := _LOOKS_NUMERIC.match(text, at):
        return GrammarError(f"{found[0][:40]!r} is not a number", _span(found), kind="syntax")
    instead = _INSTEAD.get(text[at])
    message = f"unexpected {text[at]!r}" + (f": {instead}" if instead else "")
    return GrammarError(message, Span(at, 1), kind="syntax")


def _span(found: re.Match[str]) -> Span:
    return Span(found.start(), found.end() - found.start())
