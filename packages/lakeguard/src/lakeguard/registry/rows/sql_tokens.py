"""The words, texts, numbers and signs of an SQL file of inserts, whatever database it is for.

Written apart from the reading of Spark SQL: here comments nest, a backslash is a character,
names stand in any quotes and schema names may be variables.

The tokenizer of sqlglot is not used. Measured with its T-SQL dialect, it takes half as long again
and 30 bytes of memory for each byte of a file, as it reads all of it before the first row. A quote
that is not closed costs every row before it, and a comment that is not closed has no position.
Neither T-SQL nor PostgreSQL of it reads sqlcmd variables or all three quotes of names; a dialect
of our own was not tried.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import NamedTuple

from lakeguard.registry.rows.source_text import SourceText, Span
from lakeguard.registry.rows.texts import shown
from lakeguard_sdk.errors import RefusedStatement


class Kind(Enum):
    WORD = auto()
    """A name without quotes, or a keyword; variables may be part of it."""
    NAME = auto()
    TEXT = auto()
    ESCAPED = auto()
    """A text whose backslashes mean something."""
    NUMBER = auto()
    SIGN = auto()
    END = auto()


class Token(NamedTuple):
    kind: Kind
    span: Span
    value: str
    """Without quotes."""
    fresh: bool
    """Whether it is the first on its line."""

    @property
    def word(self) -> str:
        """A keyword in upper case, or nothing."""
        return self.value.upper() if self.kind is Kind.WORD else ""

    def is_sign(self, sign: str) -> bool:
        return self.kind is Kind.SIGN and self.value == sign

    @property
    def said(self) -> str:
        """For a message: a text is never shown."""
        match self.kind:
            case Kind.TEXT | Kind.ESCAPED:
                return "a text"
            case Kind.END:
                return "the end of the file"
            case _:
                return shown(self.value)


_VARIABLE = r"\$\(\w{1,200}\)|\$\{[^{}\r\n]{1,200}\}"
_SPACE = re.compile(r"(?:\s++|--[^\n]*+)*")
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_TOKEN = re.compile(
    rf"""
      (?P<text>[nN]?')
    | (?P<escaped>[eE]')
    | (?P<custom>[nN]?[qQ]' | \$\w*+\$)
    | (?P<word>(?:[^\W\d]|{_VARIABLE})(?:\w++|{_VARIABLE})*)
    | (?P<number>(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?(?![\w.]))
    | (?P<malformed>[0-9][\w.]*+)
    | (?P<name>["\[`])
    | (?P<sign>::|\|\||.)
    """,
    re.VERBOSE | re.DOTALL,
)
_TEXT_END = re.compile(r"[^']*+(?:''[^']*+)*'(?!')")
_ESCAPED_END = re.compile(r"[^'\\]*+(?:(?:''|\\.)[^'\\]*+)*'(?!')", re.DOTALL)
_NAME_ENDS = {
    '"': re.compile(r'[^"]*+(?:""[^"]*+)*"(?!")'),
    "`": re.compile(r"[^`]*+(?:``[^`]*+)*`(?!`)"),
    "[": re.compile(r"[^\]]*+(?:\]\][^\]]*+)*\](?!\])"),
}
_COMMAND = re.compile(r":(?!:)[ \t]*(\w*)[^\n]*+")
_SUBSTITUTED = re.compile(r"\$\(\w+\)")
_MANY = 100


class Tokens:
    """A text token by token; ``now`` is the one to be read next."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.depth = 0
        """Parentheses that were opened and not closed."""
        self.filled_in: list[Span] = []
        """Texts that sqlcmd would change, if it runs the file."""
        self.for_sqlcmd = False
        self._at = 0
        self.now = self._read()

    @property
    def at_end(self) -> bool:
        return self.now.kind is Kind.END

    def advance(self) -> Token:
        """Passes a token and gives it."""
        passed = self.now
        if passed.kind is Kind.SIGN:
            self.depth += (passed.value == "(") - (passed.value == ")")
        self.now = self._read()
        return passed

    def take(self, sign: str) -> bool:
        """Passes the sign if it is the next token."""
        if not self.now.is_sign(sign):
            return False
        self.advance()
        return True

    def take_word(self, *words: str) -> bool:
        if self.now.word not in words:
            return False
        self.advance()
        return True

    def _read(self) -> Token:
        fresh = self._skip()
        text, start = self.source.text, self._at
        found = _TOKEN.match(text, start)
        if found is None:
            return Token(Kind.END, Span(start, start), "", True)
        kind, value = self._token(found)
        return Token(kind, Span(start, self._at), value, fresh)

    def _skip(self) -> bool:
        """Passes spaces, comments and settings of sqlcmd; whether a line began on the way."""
        text, fresh = self.source.text, self._at == 0
        while True:
            before = self._at
            space = _SPACE.match(text, before)
            self._at = space.end() if space else before
            fresh = fresh or text.find("\n", before, self._at) >= 0
            if text.startswith("/*", self._at):
                self._at = self._comment_end(self._at)
            elif not (fresh and self._skip_setting()):
                return fresh

    def _comment_end(self, start: int) -> int:
        depth, at = 1, start + 2
        while depth:
            edge = _COMMENT_EDGE.search(self.source.text, at)
            if edge is None:
                raise self.source.unreadable(start, "a comment is not closed", 2)
            depth += 1 if edge[0] == "/*" else -1
            at = edge.end()
        return at

    def _skip_setting(self) -> bool:
        """``:setvar`` carries no row; other commands of sqlcmd may, in another file."""
        found = _COMMAND.match(self.source.text, self._at)
        if found is None:
            return False
        self._at = found.end()
        if found[1].lower() != "setvar":
            place = self.source.place(Span(found.start(), found.end(1)))
            problem = "it is a command of another program"
            raise RefusedStatement(place, statement=f":{shown(found[1])}", problem=problem)
        self.for_sqlcmd = True
        return True

    def _token(self, found: re.Match[str]) -> tuple[Kind, str]:
        self._at = found.end()
        match found.lastgroup:
            case "text":
                return Kind.TEXT, self._text(found)
            case "escaped":
                return self._escaped(found)
            case "custom":
                problem = f"{shown(found[0])} is not a quote here; write '...'"
                raise self.source.unreadable(found.start(), problem, len(found[0]))
            case "name":
                return Kind.NAME, self._name(found)
            case "word":
                self.for_sqlcmd |= "$(" in found[0]
                return Kind.WORD, found[0]
            case "number":
                return Kind.NUMBER, found[0]
            case _:
                return Kind.SIGN, found[0]

    def _text(self, found: re.Match[str]) -> str:
        inside = self._inside(found, _TEXT_END)
        if len(self.filled_in) < _MANY and _SUBSTITUTED.search(inside):
            self.filled_in.append(Span(found.start(), self._at))
        return inside.replace("''", "'").replace("\r\n", "\n")

    def _escaped(self, found: re.Match[str]) -> tuple[Kind, str]:
        inside = self._inside(found, _ESCAPED_END)
        if "\\" in inside:
            return Kind.ESCAPED, inside
        return Kind.TEXT, inside.replace("''", "'").replace("\r\n", "\n")

    def _name(self, found: re.Match[str]) -> str:
        inside = self._inside(found, _NAME_ENDS[found[0]])
        if not inside.strip():
            raise self.source.unreadable(found.start(), "a name is not empty", 2)
        self.for_sqlcmd |= "$(" in inside
        close = "]" if found[0] == "[" else found[0]
        return inside.replace(close * 2, close)

    def _inside(self, found: re.Match[str], ending: re.Pattern[str]) -> str:
        end = ending.match(self.source.text, found.end())
        if end is None:
            problem = f"{found[0]} is not closed; a quote within is written twice"
            raise self.source.unreadable(found.start(), problem, len(found[0]))
        self._at = end.end()
        self.source.refuse_long(Span(found.start(), self._at))
        return end[0][:-1]
