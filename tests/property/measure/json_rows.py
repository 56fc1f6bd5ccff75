"""Texts that are JSON, nearly JSON or nothing like it, and what is asked of them."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from lakeguard.gate.rules.compile import compile_text
from lakeguard_sdk.expressions.measures import JsonFaults
from lakeguard_sdk.types.schema import Column, TableSchema

SCHEMA = TableSchema(
    columns=(Column(name="id", type="integer"), Column(name="payload", type="string"))
)
TELLING = [
    *["", " ", "{}", "[]", " [ ] ", "null", "true", "nul", "True", '"a"', "'a'", "a", "[1,]"],
    *["[,1]", '{"a":1}', '{"a":1,"a":2}', '{"a":{"b":1,"b":2}}', "{a:1}", '{"a" 1}', '{"a":}'],
    *['{"":0}', '{"a":1,}', '{"a":1}x', '{"a":1} {}', "//x\n1", "\ufeff{}", "\u00a0{}", "{}\u00a0"],
    *["{}\x0b", "NaN", "Infinity", "-Infinity", "[NaN]", "nan", "1", "-1", "+1", "01", "-0", "1."],
    *[".5", "1.5", "1e3", "1E+3", "1e", "1e400", "1e-1001", "1e1001", "9" * 1000, "9" * 1001],
    *["0x10", "1_0", "\u0661", '"\\u0041"', '"\\ud83d\\ude00"', '"\\ud83d"', '"\\ude00\\ud83d"'],
    *['"\\u00"', '"\\x41"', '"\\"', '"a\nb"', '"a\\nb"', '"a\tb"', '"\x00"', '"\u2028"', '"💥"'],
    *['"ß"', '{"ß":1}', '{"\\u00df":1}', '{"\\u00df":1,"ß":2}', '"\\\\ud83d"', '["]","["]'],
    *["[" * 200 + "]" * 200, "[" * 201 + "]" * 201, "[" * 5000, '"' + "[" * 300 + '"', "[]" * 150],
    *['{"id":1,"at":"x"}', '{"id":null,"at":null}', '{"id":1}', '{"ID":1,"at":1}', '[{"id":1}]'],
    *['{"id":2.0,"tags":["a","b"]}', '{"id":2.5}', '{"id":"1"}', '{"id":1,"tags":["a","a"]}'],
    *['{"id":1,"price":0.3}', '{"id":1,"price":0.35}', '{"id":1,"price":1e300}', '{"id":1,"x":1}'],
    *['{"id":1,"code":"AB"}', '{"id":1,"code":"ab"}', '{"id":1,"code":"XABX"}', '{"id":-1}'],
    *['{"id":1,"next":{"id":2}}', '{"id":1,"next":{"id":"2"}}', '{"id":1,"tags":[]}'],
    *['{"id":true}', '{"id":10000000000000000000000000000000000000001}', '{"id":1e400}'],
]  # fmt: skip
FITTING: dict[str, Any] = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "minItems": 1},
        "price": {"multipleOf": 0.1},
        "code": {"pattern": "^[A-Z]{2}$"},
        "next": {"$ref": "#"},
    },
    "additionalProperties": False,
}
RULES = (
    "json_valid(payload)",
    "json_valid(payload) where id > 1",
    "json_keys(payload, required=['id', 'at'])",
    "json_keys(payload, allowed=['id', 'at', 'ß', ''])",
    "json_keys(payload, allowed=['id', 'at'], required=['id']) where id <= 2",
    f"json_schema(payload, schema='{json.dumps(FITTING)}')",
    'json_schema(payload, schema=\'{"type": ["array", "null", "string"], "maxLength": 1}\')',
    'json_schema(payload, schema=\'{"not": {"type": "number", "maximum": 5}}\') where id <> 0',
)


def questions() -> list[JsonFaults]:
    found = [compile_text(text, SCHEMA).measures[0] for text in RULES]
    return [measure for measure in found if isinstance(measure, JsonFaults)]


def rows(chance: Random, count: int) -> list[dict[str, Any]]:
    """Each telling text, then so many that are drawn; some stand in several rows."""
    drawn = [_text(chance) for _ in range(count)]
    texts = [*TELLING, *drawn, *chance.choices(TELLING, k=20), None, None]
    return [{"id": chance.choice([None, 0, 1, 2, 3]), "payload": text} for text in texts]


def _text(chance: Random) -> str:
    text = json.dumps(_value(chance, 3), ensure_ascii=chance.random() < 0.5)
    if chance.random() < 0.5 and text:
        at = chance.randrange(len(text))
        text = (
            text[:at] + chance.choice(["", *'"\\{}[],:0e. \n']) + text[at + chance.randrange(2) :]
        )
    return text


def _value(chance: Random, depth: int) -> Any:
    kind = chance.randrange(8 if depth else 5)
    if kind >= 6:
        keys = chance.sample(["id", "at", "tags", "price", "code", "next", "ß", ""], k=3)
        return {key: _value(chance, depth - 1) for key in keys}
    if kind == 5:
        return [_value(chance, depth - 1) for _ in range(chance.randrange(3))]
    return chance.choice([None, True, 0, -1, 2.5, 1e21, 3, "", "AB", 'é\u2028"', "\U0001f600"])
