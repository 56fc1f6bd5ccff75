"""Rows with columns made of others, and how each of them is spelled as JSON."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from tests.support.lakes.plans import schema

DECLARED = schema(
    id="long",
    tree='struct<n:long,`it\'s a "name"`:struct<f:float,d:double>,tags:array<string>>',
    many="array<array<struct<p:decimal(9,2),at:timestamp>>>",
    by_text="map<string,array<binary>>",
    by_day="map<date,map<long,boolean>>",
)
NOTHING: dict[str, Any] = dict.fromkeys(DECLARED.names)
NAME = 'it\'s a "name"'
ROWS: list[dict[str, Any]] = [
    {
        "id": 1,
        "tree": {"n": 2**63 - 1, NAME: {"f": 0.1, "d": math.nan}, "tags": ['a\n"b', "", None]},
        "many": [[{"p": Decimal("1.50"), "at": datetime(2026, 1, 2, tzinfo=UTC)}, None], [], None],
        "by_text": [("k'\"\\", [b"\x00\xff", None]), ("", [])],
        "by_day": [(date(2026, 1, 2), [(-5, True)])],
    },
    {**NOTHING, "id": 2},
    {
        "id": 3,
        "tree": {"n": None, NAME: None, "tags": None},
        "many": [],
        "by_text": [],
        "by_day": [(date(1, 1, 1), None)],
    },
    {**NOTHING, "id": 4, "tree": {"n": 0, NAME: {"f": math.inf, "d": -math.inf}, "tags": []}},
]
SPELLED: list[dict[str, Any]] = [
    {
        "id": 1,
        "tree": {"n": 2**63 - 1, NAME: {"f": 0.1, "d": "NaN"}, "tags": ['a\n"b', "", None]},
        "many": [[{"p": "1.50", "at": "2026-01-02T00:00:00.000000Z"}, None], [], None],
        "by_text": {"k'\"\\": ["AP8=", None], "": []},
        "by_day": {"2026-01-02": {"-5": True}},
    },
    {**NOTHING, "id": 2},
    {
        "id": 3,
        "tree": {"n": None, NAME: None, "tags": None},
        "many": [],
        "by_text": {},
        "by_day": {"0001-01-01": None},
    },
    {
        **NOTHING,
        "id": 4,
        "tree": {"n": 0, NAME: {"f": "Infinity", "d": "-Infinity"}, "tags": []},
    },
]
