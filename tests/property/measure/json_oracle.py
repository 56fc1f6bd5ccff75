"""What a JSON text is, by the letter of its grammar: slow, obvious, and without any reader."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.validators import extend

from lakeguard_sdk.expressions.measures import JsonFaults

_WHITE = " \t\n\r"
_DIGITS = "0123456789"
_PLAIN = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS = {"true": True, "false": False, "null": None}


class Wrong(Exception):
    """The text is not JSON."""


def faults(measure: JsonFaults, texts: list[str]) -> int:
    return sum(not right(measure, text) for text in texts)


def right(measure: JsonFaults, text: str) -> bool:
    try:
        value = value_of(text)
    except Wrong:
        return False
    if measure.fits is not None:
        return bool(_schema(measure.fits).is_valid(value))
    if measure.required is None and measure.allowed is None:
        return True
    if not isinstance(value, dict):
        return False
    has_all = all(key in value for key in measure.required or ())
    return has_all and (measure.allowed is None or all(key in measure.allowed for key in value))


@cache
def _schema(text: str) -> Any:
    """With numbers as they are written: 2.0 is an integer, 0.3 is a multiple of 0.1."""
    checker = Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "number": lambda _, item: isinstance(item, Fraction),
            "integer": lambda _, item: isinstance(item, Fraction) and item.denominator == 1,
        }
    )
    return extend(Draft202012Validator, type_checker=checker)(value_of(text))


def value_of(text: str) -> Any:
    reader = _Reader(text)
    value = reader.value(0)
    reader.blanks()
    reader.want(reader.at == len(text))
    return value


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def want(self, holds: bool) -> None:
        if not holds:
            raise Wrong

    def blanks(self) -> None:
        while self.here in _WHITE and self.here:
            self.at += 1

    @property
    def here(self) -> str:
        return self.text[self.at : self.at + 1]

    def take(self, mark: str) -> bool:
        if self.here != mark:
            return False
        self.at += 1
        return True

    def value(self, depth: int) -> Any:
        self.blanks()
        if self.here in ("[", "{"):
            self.want(depth < 200)
            return self._array(depth) if self.take("[") else self._object(depth)
        if self.here == '"':
            return self._string()
        for word, value in _WORDS.items():
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return value
        return self._number()

    def _array(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self.blanks()
        while not self.take("]"):
            if found:
                self.want(self.take(","))
            found.append(self.value(depth + 1))
            self.blanks()
        return found

    def _object(self, depth: int) -> dict[str, Any]:
        self.take("{")
        found: dict[str, Any] = {}
        self.blanks()
        while not self.take("}"):
            if found:
                self.want(self.take(","))
                self.blanks()
            key = self._string()
            self.want(key not in found)
            self.blanks()
            self.want(self.take(":"))
            found[key] = self.value(depth + 1)
            self.blanks()
        return found

    def _string(self) -> str:
        self.want(self.take('"'))
        found = ""
        while not self.take('"'):
            self.want(self.here >= " ")
            found += self._escaped() if self.take("\\") else self.here
            self.at += 1
        pairs = found.encode("utf-16", "surrogatepass")
        try:
            return pairs.decode("utf-16")
        except UnicodeDecodeError:
            raise Wrong from None

    def _escaped(self) -> str:
        if self.here != "u":
            self.want(self.here in _PLAIN)
            return _PLAIN[self.here]
        code = self.text[self.at + 1 : self.at + 5]
        self.want(len(code) == 4 and all(char in "0123456789abcdefABCDEF" for char in code))
        self.at += 4
        return chr(int(code, 16))

    def _digits(self) -> str:
        start = self.at
        while self.here and self.here in _DIGITS:
            self.at += 1
        self.want(self.at > start)
        return self.text[start : self.at]

    def _number(self) -> Fraction:
        start = self.at
        self.take("-")
        if not self.take("0"):
            self._digits()
        if self.take("."):
            self._digits()
        exponent = ""
        if self.here in ("e", "E"):
            self.at += 1
            self.want(self.here != "" and (self.here in "+-" or self.here in _DIGITS))
            if self.here in "+-":
                self.at += 1
            exponent = self._digits()
        written = self.text[start : self.at]
        self.want(len(written) <= 1_000 and int(exponent or "0") <= 1_000)
        return Fraction(written)
