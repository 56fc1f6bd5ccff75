"""The subset of regular expressions that every engine matches alike; the rest is refused.

A pattern matches the whole value. It may contain literal characters, ``\\d \\w \\D \\W``, classes
without nested classes, ``\\t \\n \\r \\f``, ``\\x41`` and ``\\x{1F600}``, ``\\p{Z}``, groups,
alternatives, and the quantifiers ``* + ? {m} {m,} {m,n}``, greedy or lazy, up to 1000.
"""

from __future__ import annotations

import re
from functools import lru_cache

from lakeguard.gate.grammar.pattern_shape import (
    DIGITS,
    SEPARATORS,
    WORD,
    Alternatives,
    Anchored,
    Characters,
    EmptyPattern,
    PatternError,
    PatternNode,
    Repeated,
    Sequence,
    Span,
    check_shape,
    includes,
    inverted,
    is_empty,
    is_universal,
)

LONGEST_PATTERN = 1000
DEEPEST_GROUP = 20
MOST_REPEATS = 1000

_REFUSED_GROUPS = {
    "(?=": "look-ahead",
    "(?!": "look-ahead",
    "(?<=": "look-behind",
    "(?<!": "look-behind",
    "(?>": "an atomic group",
    "(?P": "a named group",
    "(?<": "a named group",
    "(?i": "(?i): write both cases, as in [aA][bB]",
    "(?s": "(?s): write [\\d\\D] for any character",
}
_REFUSED_ESCAPES = {
    "s": "[ \\t\\n\\x0B\\f\\r]",
    "S": "[^ \\t\\n\\x0B\\f\\r]",
    "h": "[ \\t]",
    "R": "\\r?\\n",
    "v": "[\\n\\x0B\\f\\r]",
    "u": "\\x{…}",
    "b": "",
    "B": "",
    "X": "",
    "G": "",
    "Q": "",
    "K": "",
}
_SINGLE = {"t": 9, "n": 10, "r": 13, "f": 12}
_CLASSES = {"d": DIGITS, "w": WORD, "D": inverted(DIGITS), "W": inverted(WORD)}
_SHORT_COUNTS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_HEX = re.compile(r"x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})")
_COUNT = re.compile(r"\{([0-9]{1,4})(?:(,)([0-9]{1,4})?)?\}")


def check_pattern(pattern: str) -> None:
    """Raises PatternError, naming the construct, for anything that engines match differently or
    slowly."""
    if not pattern:
        raise EmptyPattern("an empty pattern matches only the empty text: use length(…, max=0)")
    if len(pattern) > LONGEST_PATTERN:
        raise PatternError(f"a pattern has at most {LONGEST_PATTERN:,} characters")
    check_shape(_Reader(pattern).read())


@lru_cache(maxsize=1024)
def matches_everything(pattern: str) -> bool:
    """Whether every text matches; False for a refused pattern."""
    return is_universal(_Reader(pattern).read()) if _is_accepted(pattern) else False


@lru_cache(maxsize=1024)
def matches_all_of(pattern: str, other: str) -> bool:
    """Whether every text that the other pattern matches, matches; False for a refused pattern."""
    if not (_is_accepted(pattern) and _is_accepted(other)):
        return False
    return includes(_Reader(pattern).read(), _Reader(other).read())


@lru_cache(maxsize=1024)
def matches_nothing(pattern: str) -> bool:
    """Whether no text matches; False for a refused pattern."""
    return is_empty(_Reader(pattern).read()) if _is_accepted(pattern) else False


def _is_accepted(pattern: str) -> bool:
    try:
        check_pattern(pattern)
    except PatternError:
        return False
    return True


class _Reader:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._depth = 0

    def read(self) -> PatternNode:
        node = self._alternatives()
        if self._at < len(self._pattern):
            raise PatternError("unmatched ')'; write the character as \\)")
        return node

    def _rest(self, text: str) -> bool:
        return self._pattern.startswith(text, self._at)

    def _alternatives(self) -> PatternNode:
        options = [self._sequence()]
        while self._rest("|"):
            self._at += 1
            options.append(self._sequence())
        return options[0] if len(options) == 1 else Alternatives(tuple(options))

    def _sequence(self) -> PatternNode:
        items = []
        while self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            items.append(self._quantified(self._atom()))
        return items[0] if len(items) == 1 else Sequence(tuple(items))

    def _atom(self) -> PatternNode:
        char = self._pattern[self._at]
        if char == "(":
            return self._group()
        if char == "[":
            return Characters(self._class())
        if char == "\\":
            return Characters(self._escape())
        if char == ".":
            raise PatternError("'.' differs between engines: write [^\\n], or \\. for a dot")
        if char in "^$":
            raise _anchored(repr(char), f", or write \\{char}")
        if char in "*+?{":
            raise PatternError(f"{char!r} has nothing to repeat; write the character as \\{char}")
        if char in "]}":
            raise PatternError(f"unmatched {char!r}; write the character as \\{char}")
        self._at += 1
        return Characters(((ord(char), ord(char)),))

    def _group(self) -> PatternNode:
        for opening, construct in _REFUSED_GROUPS.items():
            if self._rest(opening):
                raise PatternError(f"{construct} is not supported by every engine")
        if self._rest("(?") and not self._rest("(?:"):
            raise PatternError(
                f"{self._pattern[self._at : self._at + 3]!r} is not supported by every engine"
            )
        if self._depth >= DEEPEST_GROUP:
            raise PatternError(f"groups are nested too deeply: at most {DEEPEST_GROUP} levels")
        self._depth += 1
        self._at += 3 if self._rest("(?:") else 1
        inner = self._alternatives()
        if not self._rest(")"):
            raise PatternError("unmatched '('; write the character as \\(")
        self._at += 1
        self._depth -= 1
        return inner if not isinstance(inner, Characters) else Sequence((inner,))

    def _quantified(self, atom: PatternNode) -> PatternNode:
        low, high = self._quantifier()
        if (low, high) == (1, 1):
            return atom
        if self._rest("+"):
            raise PatternError(
                "possessive quantifiers are not supported by every engine: remove the +"
            )
        if self._rest("?"):
            self._at += 1
        if self._at < len(self._pattern) and self._pattern[self._at] in "*+?{":
            raise PatternError(
                "a quantifier follows a quantifier; put the repeated part in a group"
            )
        return Repeated(atom, low, high)

    def _quantifier(self) -> tuple[int, int | None]:
        char = self._pattern[self._at : self._at + 1]
        if char in _SHORT_COUNTS:
            self._at += 1
            return _SHORT_COUNTS[char]
        if char != "{":
            return 1, 1
        found = _COUNT.match(self._pattern, self._at)
        if not found:
            raise PatternError("a quantifier is {m}, {m,} or {m,n}; write the character as \\{")
        low = int(found[1])
        high = low if not found[2] else int(found[3]) if found[3] else None
        if max(low, high or 0) > MOST_REPEATS or (high is not None and high < max(low, 1)):
            raise PatternError(f"{found[0]}: counts must ascend, from 1 to at most {MOST_REPEATS}")
        self._at = found.end()
        return low, high

    def _escape(self) -> Span:
        """An escape outside or inside a class."""
        char = self._pattern[self._at + 1 : self._at + 2]
        if char in _CLASSES:
            self._at += 2
            return _CLASSES[char]
        if char in _SINGLE:
            self._at += 2
            return ((_SINGLE[char], _SINGLE[char]),)
        if self._rest("\\p{Z}"):
            self._at += 5
            return SEPARATORS
        if found := _HEX.match(self._pattern, self._at + 1):
            code = int(found[1] or found[2], 16)
            if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
                raise PatternError(f"\\{found[0]} is not a character")
            self._at = found.end()
            return ((code, code),)
        if char and not char.isalnum() and char.isascii() and char.isprintable() and char != " ":
            self._at += 2
            return ((ord(char), ord(char)),)
        raise _escape_error(char)

    def _class(self) -> Span:
        self._at += 1
        negated = self._rest("^")
        self._at += negated
        spans: list[tuple[int, int]] = []
        start = self._at
        while not self._rest("]") or self._at == start:
            spans.extend(self._class_item(first=self._at == start))
        self._at += 1
        return inverted(tuple(spans)) if negated else tuple(spans)

    def _class_item(self, *, first: bool) -> Span:
        low = self._class_member(first=first)
        is_range = self._rest("-") and not self._rest("-]")
        if not is_range:
            return low
        self._at += 1
        high = self._class_member(first=False)
        single = len(low) == 1 == len(high) and low[0][0] == low[0][1] and high[0][0] == high[0][1]
        if not single or high[0][0] < low[0][0]:
            raise PatternError(
                "a range in a class goes from a lower to a higher character; write a hyphen as \\-"
            )
        return ((low[0][0], high[0][0]),)

    def _class_member(self, *, first: bool) -> Span:
        if self._at >= len(self._pattern):
            raise PatternError("unmatched '['; write the character as \\[")
        char = self._pattern[self._at]
        if char == "\\":
            return self._escape()
        if char == "[":
            raise PatternError("nested classes differ between engines; write the character as \\[")
        if char == "]" and first:
            raise PatternError("an empty class; write the character as \\]")
        if self._rest("&&"):
            raise PatternError("&& in a class differs between engines; write \\&")
        if char == "-" and not first and not self._rest("-]"):
            raise PatternError("write a hyphen between two members as \\-")
        self._at += 1
        return ((ord(char), ord(char)),)


def _anchored(mark: str, instead: str) -> Anchored:
    what = f"remove {mark}{instead}"
    return Anchored(f"a pattern matches the whole value: {what}", what)


def _escape_error(char: str) -> PatternError:
    if not char:
        return PatternError("a backslash at the end; write the character as \\\\")
    if char in ("A", "z", "Z"):
        return _anchored("\\" + char, "")
    if char in ("p", "P"):
        return PatternError("Unicode classes differ between engines: only \\p{Z} is portable")
    if char.isdigit():
        return PatternError(
            "back-references and octal characters are not supported by every engine"
        )
    instead = _REFUSED_ESCAPES.get(char, "")
    advice = f": write {instead}" if instead else ""
    return PatternError(f"\\{char} differs between engines{advice}")
