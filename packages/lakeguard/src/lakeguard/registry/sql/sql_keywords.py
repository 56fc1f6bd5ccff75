"""Which keywords of a SELECT cannot be columns.

Spark accepts nearly every keyword as the name of a column, without quotes. A column is an operand,
so a word after an operand, such as AND, is a keyword. Elsewhere it counts as one only where what
surrounds it leaves no other reading.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence

from sqlglot.tokenizer_core import Token, TokenType

KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        "select from where group by having qualify order sort distribute cluster limit offset as"
        " on and or not in is null like ilike rlike between case when then else end join left"
        " right full inner outer cross semi anti natural using union all intersect except minus"
        " distinct exists with recursive lateral view over partition rows range unbounded"
        " preceding following current row asc desc nulls first last true false values window cast"
        " interval for pivot unpivot include exclude rollup cube grouping sets filter within"
        " escape div",
    )
)
_LITERALS = {TokenType.STRING, TokenType.RAW_STRING, TokenType.NUMBER, TokenType.HEX_STRING}
_ENDS = {*_LITERALS, TokenType.R_PAREN, TokenType.R_BRACKET}
_CONSTANTS = frozenset({"null", "true", "false"})
_CLOSING = _CONSTANTS | frozenset(
    re.findall(
        r"\w+",
        "all anti asc cross cube current desc distinct end except exclude first following full"
        " grouping include inner intersect is join last lateral left minus natural not nulls outer"
        " pivot preceding range recursive right rollup row rows semi sets unbounded union unpivot"
        " view window with within",
    )
)
"""After an operand; no operand follows these directly."""
_BEFORE_A_QUERY = frozenset(
    re.findall(
        r"\w+",
        "all and as distinct else except exists from having in intersect join lateral minus not on"
        " or select then union when where",
    )
)
"""Before the parenthesis of a subquery; other words call a function."""
_FIRST_OF_AN_OPERAND = _CONSTANTS | {"case", "cast", "exists", "filter", "first", "interval",
                                     "last", "left", "right"}  # fmt: skip
_AFTER_BOUND = {"unbounded": ("preceding", "following"), "current": ("row",)}


def keyword_offsets(tokens: Sequence[Token], known: Container[int]) -> Iterator[int]:
    """Offsets of keywords that are no columns, whatever columns there are.

    ``known`` has the offsets of words that are understood otherwise.
    """
    ended = False
    for index, token in enumerate(tokens):
        word = token.text.casefold()
        if token.start in known:
            ended = True
        elif token.token_type is TokenType.IDENTIFIER or word not in KEYWORDS:
            ended = token.token_type in _ENDS
        elif ended or word in _CONSTANTS:
            yield token.start
            ended = word in _CLOSING
        elif _Place(tokens, index, known).is_keyword(word):
            yield token.start
            ended = word in _AFTER_BOUND or word in ("lateral", "with")


class _Place:
    """A word where an operand may begin."""

    def __init__(self, tokens: Sequence[Token], index: int, known: Container[int]) -> None:
        self._tokens = tokens
        self._index = index
        self._known = known

    def is_keyword(self, word: str) -> bool:
        match word:
            case "select":
                return self._is_select()
            case "with":
                return self._begins_query() and self._has_word(1)
            case "distinct" | "all":
                if self._word(-1) == "select":
                    return self._has_operand() or self._is_star(1)
                return self._kind(-1) is TokenType.L_PAREN and self._has_argument()
            case "not" | "case":
                return self._has_operand() or (word, self._word(1)) == ("case", "when")
            case "when":
                return self._word(-1) == "case" and self._has_operand()
            case "where":
                return self._word(-2) == "filter" and self._kind(-3) is TokenType.R_PAREN
            case "interval" | "values":
                return self._kind(1) is TokenType.NUMBER
            case "lateral":
                called = self._kind(2) is TokenType.L_PAREN and self._word(1) not in KEYWORDS
                return self._kind(-1) is TokenType.COMMA and called
        return (
            word in _AFTER_BOUND and self._word(1) in _AFTER_BOUND[word] and not self._is_known(1)
        )

    def _is_select(self) -> bool:
        if self._at(-1) is None:
            return True
        follows = self._word(1) in ("distinct", "all") or self._kind(1) is TokenType.HINT
        return self._begins_query() and (follows or self._has_operand() or self._is_star(1))

    def _begins_query(self) -> bool:
        if self._at(-1) is None:
            return True
        if self._kind(-1) is not TokenType.L_PAREN:
            return False
        return self._word(-2) in _BEFORE_A_QUERY or not re.match(r"\w", self._word(-2))

    def _has_argument(self) -> bool:
        """In ``struct(distinct a)`` the second word is an alias."""
        return self._word(-2) != "struct" and self._has_operand()

    def _has_operand(self) -> bool:
        """Whether an operand begins after the word, which then is none itself."""
        if self._kind(1) in _LITERALS or self._has_word(1):
            return True
        return self._word(1) in _FIRST_OF_AN_OPERAND

    def _has_word(self, step: int) -> bool:
        word = self._word(step)
        return self._is_known(step) and not self._is_star(step) and word not in KEYWORDS

    def _is_star(self, step: int) -> bool:
        return self._kind(step) is TokenType.STAR

    def _is_known(self, step: int) -> bool:
        token = self._at(step)
        return token is not None and token.start in self._known

    def _word(self, step: int) -> str:
        token = self._at(step)
        return "" if token is None else token.text.casefold()

    def _kind(self, step: int) -> TokenType | None:
        token = self._at(step)
        return None if token is None else token.token_type

    def _at(self, step: int) -> Token | None:
        place = self._index + step
        return self._tokens[place] if 0 <= place < len(self._tokens) else None
