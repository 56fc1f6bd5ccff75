"""Token cursor shared by all parsers of the grammar."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from lakeguard.gate.grammar.grammar_error import (
    ErrorKind,
    GrammarError,
    Span,
    nearest,
)
from lakeguard.gate.grammar.literals import (
    MOST_DIGITS,
    MOST_EXPONENT,
    Flag,
    Literal_,
    Number,
    Text,
)
from lakeguard.gate.grammar.tokens import (
    RULE_TOKENS,
    Lexicon,
    Token,
    tokenize,
)
from lakeguard.gate.grammar.unparse import RESERVED, column_text
from lakeguard_sdk.expressions.conditions import Comparison

_COMPARISONS = frozenset(Comparison)


class Cursor:
    """Reads tokens in order; every error carries the span of its token."""

    def __init__(self, text: str, lexicon: Lexicon = RULE_TOKENS) -> None:
        self._tokens, self._error = tokenize(text, lexicon)
        self._at = 0

    @property
    def token(self) -> Token:
        token = self._tokens[self._at]
        if token.kind == "end" and self._error is not None:
            raise self._error
        return token

    def advance(self) -> Token:
        token = self.token
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def since(self, start: Span) -> Span:
        """From ``start`` to the end of the last token read."""
        last = self._tokens[max(0, self._at - 1)].span
        return Span(start.offset, last.offset + last.length - start.offset)

    def at_word(self, *words: str) -> bool:
        """Whether the current token is one of the keywords, in any case."""
        return self.token.kind == "word" and self.token.value.lower() in words

    def at_mark(self, *marks: str) -> bool:
        return self.token.kind == "mark" and self.token.value in marks

    def next_is(self, mark: str) -> bool:
        """Whether the mark follows the current token."""
        following = self._tokens[min(self._at + 1, len(self._tokens) - 1)]
        return following.kind == "mark" and following.value == mark

    def take_word(self, *words: str) -> Token | None:
        return self.advance() if self.at_word(*words) else None

    def take_mark(self, *marks: str) -> Token | None:
        return self.advance() if self.at_mark(*marks) else None

    def take_sign(self) -> Token:
        """Splits the sign off the number here; a number without a sign is returned as it is."""
        token = self.token
        if token.kind != "number" or token.value[0] not in "+-":
            return token
        span = token.span
        rest = Token("number", token.value[1:], Span(span.offset + 1, span.length - 1))
        self._tokens = (*self._tokens[: self._at], rest, *self._tokens[self._at + 1 :])
        return Token("mark", token.value[0], Span(span.offset, 1))

    def expect_mark(self, mark: str) -> Token:
        found = self.take_mark(mark)
        if found is None:
            raise self.error(f"{mark!r} expected")
        return found

    def expect_word(self, *words: str) -> Token:
        found = self.take_word(*words)
        if found:
            return found
        hint = nearest(self.token.value, words) if self.token.kind == "word" else ""
        raise self.error(f"{' or '.join(words)} expected", hint=hint)

    def error(self, message: str, *, kind: ErrorKind = "syntax", hint: str = "") -> GrammarError:
        """An error at the current token."""
        found = "" if self.token.kind == "end" else f", found {_shown(self.token)}"
        if self.at_mark("."):
            found += "; write a column name with a dot in backticks"
        return GrammarError(
            message + found, self.token.span, kind=kind, hint=hint, word=self.token.value
        )

    def refuse(self, token: Token, message: str, *, hint: str = "") -> GrammarError:
        """A semantic error at a token that was already read."""
        return GrammarError(message, token.span, kind="meaning", hint=hint, word=token.value)

    @property
    def at_column(self) -> bool:
        token = self.token
        return token.kind == "name" or (
            token.kind == "word" and token.value.lower() not in RESERVED
        )

    def expect_column(self) -> Token:
        if self.at_column:
            return self.advance()
        if self.token.kind == "word":
            raise self.error(
                f"a column expected; {self.token.value} is a keyword, write it as "
                f"`{self.token.value}`"
            )
        raise self.error("a column expected")

    @property
    def at_literal(self) -> bool:
        return self.token.kind in ("number", "text") or self.at_word("true", "false")

    def expect_literal(self) -> tuple[Literal_, Span]:
        token = self.token
        if token.kind == "number":
            return Number(value=self.expect_number()), token.span
        if self.at_literal:
            self.advance()
            if token.kind == "text":
                return Text(value=token.value), token.span
            return Flag(value=token.value.lower() == "true"), token.span
        if self.at_word("null"):
            raise self.error("NULL is not a value; use `is null`")
        if self.at_column:
            quoted = f"'{token.value}'"
            raise self.error(f"a value expected; write a text as {quoted[:42]}")
        raise self.error("a value expected")

    def expect_number(self) -> Decimal:
        if self.token.kind != "number":
            raise self.error("a number expected")
        try:
            number = Decimal(self.token.value)
        except InvalidOperation:
            raise self._too_large() from None
        digits = len(number.as_tuple().digits)
        if digits > MOST_DIGITS or (number and abs(number.adjusted()) > MOST_EXPONENT):
            raise self._too_large()
        self.advance()
        return number if number else Decimal(0)

    def _too_large(self) -> GrammarError:
        return self.error(
            f"a number has at most {MOST_DIGITS} digits and an exponent within {MOST_EXPONENT}"
        )

    def expect_comparison(self) -> Comparison:
        if self.token.kind == "mark" and self.token.value in _COMPARISONS:
            return Comparison(self.advance().value)
        raise self.error("one of = <> < <= > >= expected")


def _shown(token: Token) -> str:
    if token.kind == "name":
        return column_text(token.value)
    return repr(token.value) if len(token.value) <= 40 else repr(token.value[:37] + "...")
