"""Conditions of every kind as texts of the grammar, drawn at random, and a table to ask them of."""

from __future__ import annotations

import struct
from decimal import Decimal
from random import Random
from typing import Any

from lakeguard_sdk.types.schema import Column, TableSchema, decimal_size

TYPES = {
    "b": "byte",
    "i": "integer",
    "Long Column": "long",
    "f": "float",
    "d": "double",
    "small": "decimal(9,2)",
    "wide": "decimal(38,18)",
    "s": "string",
    "t": "string",
    "yes": "boolean",
    "day": "date",
    "at": "timestamp",
    "local": "timestamp_ntz",
    "tags": "array<string>",
    "nums": "array<integer>",
    "counts": "map<string,integer>",
    "place": "struct<city:string,geo:struct<lat:double>>",
}
SCHEMA = TableSchema(columns=tuple(Column(name=n, type=t) for n, t in TYPES.items()))
_FIRST_DAY, _LAST_DAY, _MICROS = -719_162, 2_932_896, 86_400_000_000
TEXTS = [
    *["", " ", "a", "A", "ab", "abb", " a ", "\ta\u00a0", "\u3000a", "ß", "É", "e\u0301", "💥"],
    *["\U0010ffff", "a\nb", "a\u2028", "it's", "%", "a%b", "a_b", "!", "\\", "\x00", "İ", "K"],
    *["007", "12", "-5", "+5", "1.5", "1.", ".5", "1e3", "1e400", "1_000", "0x10", "999.995"],
    *["9223372036854775808", "2147483647", "true", "FALSE", "yes", "١٢", "NaN", "inf", "1" * 60],
    *["2013-12-31", "2013-02-30", "0000-02-29", "2013-1-1", "31/12/2013", "29/02/2013", "20131231"],
    *["2013-12-31T10:00:00Z", "2013-12-31 23:59:59.123456", "2013-12-31T24:00:00", "9999-12-31"],
    *["2013-12-31T10:00:00+14:59", "2013-12-31T10:00:00-15:00", "31/12/2013 10:00", "epoch"],
    *["4111111111111111", "4111111111111112", "79927398713", "00", "18", "6304000000000000000000"],
    *["59", "5" * 20, "0" * 20, "0" * 21, "DE89370400440532013000", "DE88370400440532013000"],
    *["GB82WEST12345698765432", "gb82WEST12345698765432", "MT31MALT01100000000000000000123"],
    *["DE89 3704", "D089370400440532013000", "AA00" + "Z" * 30, "AA00" + "Z" * 31, "X112É3456789"],
]  # fmt: skip


def rows(chance: Random, count: int) -> list[dict[str, Any]]:
    """Few and telling values: collisions are wanted, and so are the ends of each type."""
    return [{name: _value(chance, kind) for name, kind in TYPES.items()} for _ in range(count)]


def _value(chance: Random, data_type: str) -> Any:
    if chance.random() < 0.15:
        return None
    bits = {"byte": 7, "integer": 31, "long": 63}.get(data_type)
    if bits:
        top = 2**bits
        return chance.choice([-top, -3, -1, 0, 1, 2, 3, 7, 10, 100, top - 1])
    if size := decimal_size(data_type):
        units = [0, 1, -1, 5, 15, 25, -25, 100, 150, 12345, 10 ** size[0] - 1, 1 - 10 ** size[0]]
        picked = chance.choice([*units, chance.randrange(10 ** (size[1] + 4))])
        return Decimal((int(picked < 0), tuple(map(int, str(abs(picked)))), -size[1]))
    match data_type:
        case "float" | "double":
            odd = [0.0, -0.0, 0.1, 1.5, -3.25, 7.0, 1e15, float("nan"), float("inf"), -float("inf")]
            value = chance.choice(odd if data_type == "float" else [*odd, 5e-324, 1.7e308, 1e-300])
            return struct.unpack("f", struct.pack("f", value))[0] if data_type == "float" else value
        case "string":
            return chance.choice(TEXTS)
        case "boolean":
            return chance.random() < 0.5
        case "date":
            return chance.choice([_FIRST_DAY, -1, 0, 59, 15_706, 19_782, _LAST_DAY])
        case "timestamp" | "timestamp_ntz":
            ends = [_FIRST_DAY * _MICROS, (_LAST_DAY + 1) * _MICROS - 1]
            return chance.choice([*ends, -1, 0, 1, _MICROS, 1_356_998_400_123_456])
    return _nested(chance, data_type)


def _nested(chance: Random, data_type: str) -> Any:
    few = range(chance.randrange(4))
    if data_type.startswith("array<"):
        element = data_type.removeprefix("array<").removesuffix(">")
        return [_value(chance, element) for _ in few]
    if data_type.startswith("map<"):
        return [(f"k{index}", _value(chance, "integer")) for index in few]
    geo = None if chance.random() < 0.2 else {"lat": _value(chance, "double")}
    return {"city": _value(chance, "string"), "geo": geo}


class Writer:
    """Writes conditions that mean something, most of the time; what is refused is drawn again."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance

    def _one(self, *options: Any) -> str:
        picked = self._chance.choice(options)
        return picked if isinstance(picked, str) else str(picked())

    def _often(self, depth: int) -> bool:
        return depth > 0 and self._chance.random() < 0.7

    def condition(self, depth: int) -> str:
        if self._often(depth):
            inner = self.condition(depth - 1)
            other = self.condition(depth - 1)
            word = self._one("and", "or")
            return self._one(f"({inner} {word} {other})", f"not ({inner})", inner)
        return self._one(
            lambda: self._compared(depth + 1), lambda: self._compared(depth + 1), self._predicate,
            self._other,
        )  # fmt: skip

    def _compared(self, depth: int) -> str:
        op = self._one("=", "<>", "<", "<=", ">", ">=")
        kind = self._one("exact", "double", "text", "time")
        if kind == "exact":
            return f"{self.exact(depth)} {op} {self._one(lambda: self.exact(depth), self._number)}"
        if kind == "double":
            return f"{self.double(depth)} {op} {self._one(lambda: self.double(1), self._number)}"
        if kind == "text":
            return f"{self.text(depth)} {op} {self._one(lambda: self.text(1), self._quoted)}"
        times = {
            "day": "'2013-01-01'",
            "at": "'2013-01-01T00:00:00Z'",
            "local": "'1970-01-01T00:00'",
        }
        name = self._one(*times)
        return f"{name} {op} {times[name]}"

    def exact(self, depth: int) -> str:
        if not self._often(depth):
            return self._one("b", "i", "`Long Column`", "small", "wide")

        def inner() -> str:
            return self._one(lambda: self.exact(depth - 1), self._number)

        return self._one(
            lambda: f"({self.exact(depth - 1)} {self._one('+', '-', '*', '%')} {inner()})",
            lambda: f"({self.exact(depth - 1)} {self._one('+', '-', '*', '%')} {inner()})",
            lambda: f"abs({self.exact(depth - 1)})",
            lambda: f"round({self._one('small', 'wide')}, {self._one('0', '1', '3')})",
            lambda: f"coalesce({self.exact(0)}, {inner()})",
            lambda: f"nullif({self.exact(depth - 1)}, {self._number()})",
            lambda: f"length({self.text(depth - 1)})",
            lambda: f"{self._one('year', 'month', 'day', 'weekday')}({self._time()})",
            lambda: f"hour({self._one('at', 'local')})",
            lambda: f"days_between({self._time()}, {self._time()})",
            lambda: f"size({self._one('tags', 'nums', 'counts')})",
            lambda: f"if({self.condition(0)}, {self.exact(0)}, {inner()})",
        )

    def double(self, depth: int) -> str:
        if not self._often(depth):
            return self._one("f", "d", "place.geo.lat")

        def inner() -> str:
            return self._one(lambda: self.double(depth - 1), self._number)

        return self._one(
            lambda: f"({self.double(depth - 1)} {self._one('+', '-', '*', '/', '%')} {inner()})",
            lambda: f"({self.exact(depth - 1)} / {self.exact(depth - 1)})",
            lambda: f"({self.exact(0)} * {self.double(0)})",
            lambda: f"double({self.exact(depth - 1)})",
            lambda: f"abs({self.double(depth - 1)})",
            lambda: f"coalesce({self.double(0)}, {self._number()})",
            lambda: f"nullif({self.double(0)}, {self.double(0)})",
            lambda: f"if({self.condition(0)}, {self.double(0)}, {self.double(0)})",
        )

    def text(self, depth: int) -> str:
        if not self._often(depth):
            return self._one("s", "t", "place.city")
        return self._one(
            lambda: f"{self._one('trim', 'lower', 'upper')}({self.text(depth - 1)})",
            lambda: f"substr({self.text(depth - 1)}, {self._one('1', '2', '9')})",
            lambda: f"substr({self.text(depth - 1)}, {self._one('1', '3')}, {self._one('0', '2')})",
            lambda: f"concat({self.text(depth - 1)}, {self._one(self._quoted, 's')})",
            lambda: f"coalesce({self.text(depth - 1)}, {self._quoted()})",
            lambda: f"nullif({self.text(0)}, {self._quoted()})",
            lambda: f"if({self.condition(0)}, {self.text(0)}, {self._quoted()})",
        )

    def _predicate(self) -> str:
        text = self.text(1)
        kinds = ["byte", "integer", "long", "double", "decimal(5,2)", "decimal(38,0)", "boolean"]
        kinds += ["date", "timestamp", "timestamp_ntz"]
        forms = ["dd/MM/yyyy", "yyyyMMdd", "yyyy-MM-dd", "dd/MM/yyyy HH:mm", "yyyy-MM-dd HH:mm:ss"]
        likes = ["a%", "%b", "_", "a!%b", "%!_%", "!!", "it''s", "%é%", "__"]
        patterns = ["[a-z]+", "[^\\n]*", "\\d{1,3}", "(?:ab|a)b?", "\\w+"]
        return self._one(
            lambda: f"castable({text}, '{self._one(*kinds)}')",
            lambda: f"castable({text}, '{self._one(*kinds)}')",
            lambda: f"date_format({text}, '{self._one(*forms)}')",
            lambda: f"{text} {self._one('', 'not ')}like '{self._one(*likes)}'",
            lambda: f"matches({text}, '{self._one(*patterns)}')",
            lambda: f"{self._one('starts_with', 'ends_with', 'contains')}({text}, 'a')",
            lambda: f"{self._one('luhn', 'iban')}({text})",
            lambda: f"{self._one('is_nan', 'is_finite')}({self.double(1)})",
        )

    def _other(self) -> str:
        return self._one(
            lambda: f"{self._one(self._anything)} is {self._one('', 'not ')}null",
            lambda: f"{self.text(1)} {self._one('', 'not ')}in ('a', 'A', '')",
            lambda: f"{self.exact(1)} in (0, 1, 3)",
            lambda: f"{self.double(1)} {self._one('', 'not ')}in (0, 1.5)",
            lambda: f"{self.exact(1)} {self._one('', 'not ')}between -1 and {self.exact(0)}",
            lambda: "yes = true",
        )

    def _anything(self) -> str:
        columns = ["tags", "place", "place.geo", "yes", "day", "counts"]
        return self._one(
            *columns, lambda: self.exact(1), lambda: self.double(1), lambda: self.text(1)
        )

    def _time(self) -> str:
        return self._one("day", "at", "local")

    def _number(self) -> str:
        return self._one("0", "1", "2", "-3", "0.5", "2.25", "100", "1e6")

    def _quoted(self) -> str:
        return self._one("''", "'a'", "'A'", "'it''s'", "'\\'", "'ß'", "'%'")
