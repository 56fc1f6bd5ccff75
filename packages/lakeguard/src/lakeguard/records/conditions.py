"""Conditions on records as a person writes them: ``payload.rows>=3``."""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic import ValidationError

from lakeguard_sdk.records.query import Condition, FieldComparison
from lakeguard_sdk.records.record import MetadataTarget

_FORM = re.compile(r"\s*([^\s=!<>?]+)\s*(>=|<=|!=|=|>|<|\?|!\?)\s*(.*?)\s*", re.DOTALL)
_COMPARISONS = {
    "=": FieldComparison.EQ,
    "!=": FieldComparison.NE,
    "<": FieldComparison.LT,
    "<=": FieldComparison.LE,
    ">": FieldComparison.GT,
    ">=": FieldComparison.GE,
}


class BadCondition(ValueError):
    """What is wrong with the text."""


def parse_condition(text: str) -> Condition:
    """``PATH=VALUE`` with ``=``, ``!=``, ``<``, ``<=``, ``>`` or ``>=``; ``PATH?`` if the field is
    there, ``PATH!?`` if it is not. Numbers, ``true`` and ``false`` are what JSON says they are; a
    JSON list after ``=`` is any of its values; all else is a text."""
    found = _FORM.fullmatch(text)
    if found is None:
        raise BadCondition(f"{text[:80]!r} is no condition: write payload.rows>=3")
    path, sign, value = found.groups()
    if sign in ("?", "!?"):
        if value:
            raise BadCondition(f"{text[:80]!r}: nothing follows {sign}")
        return _condition(path, FieldComparison.EXISTS, sign == "?")
    if value[:1] in ("=", "<", ">"):
        raise BadCondition(
            f"{text[:80]!r}: {sign}{value[0]} is no sign; quote a text: '\"{value}\"'"
        )
    wanted = _value(value)
    if isinstance(wanted, list) and sign == "=":
        return _condition(path, FieldComparison.IN, wanted)
    return _condition(path, _COMPARISONS[sign], wanted)


def _value(text: str) -> Any:
    try:
        found = json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return text
    return text if found is None or isinstance(found, dict) else found


def _condition(path: str, comparison: FieldComparison, value: Any) -> Condition:
    try:
        return Condition(path=path, comparison=comparison, value=value)
    except ValidationError as error:
        reason = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
        raise BadCondition(reason) from None


def parse_target(text: str) -> MetadataTarget:
    """``SOURCE.TABLE`` or ``SOURCE.SCHEMA.TABLE``; a name with a dot stands in double quotes."""
    parts = re.findall(r'(?:^|\.)("(?:[^"]|"")*"|[^."]+)(?=\.|$)', text)
    names = [p[1:-1].replace('""', '"') if p.startswith('"') else p for p in parts]
    if ".".join(parts) != text or len(names) not in (2, 3):
        raise BadCondition(f"{text[:80]!r} is no target: write SOURCE.SCHEMA.TABLE")
    schema = names[1] if len(names) == 3 else ""
    try:
        return MetadataTarget(source_id=names[0], schema_=schema, table=names[-1])
    except ValidationError as error:
        raise BadCondition(f"{text[:80]!r}: {error.errors()[0]['msg']}") from None
