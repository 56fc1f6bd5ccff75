"""Values of a call from path, query and body, checked before anything is called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

from pydantic import ValidationError

from lakeguard.http.page_tokens import DEFAULT_SIZE, LARGEST_SIZE
from lakeguard.http.responses import Declined, wrong_values
from lakeguard_sdk.api.operation import Effect
from lakeguard_sdk.api.port_types import Parameter, Types, field_of
from lakeguard_sdk.expressions.json_values import NotJson, has_more_values, read_json
from lakeguard_sdk.security.secret_values import holds_credential

_UNPROCESSABLE = HTTPStatus.UNPROCESSABLE_ENTITY
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
_MOST_FIELDS = 50
MOST_VALUES = 1_000_000
"""Of one body: the evidence of 65,000 files has fewer."""
_DIGITS = re.compile(r"[0-9]{1,6}\Z", re.ASCII)
VALUES_OF_ROWS = frozenset(
    {
        *("before", "greatest", "least", "measures", "partition"),
        *("patterns", "quantiles", "rows", "stats", "top"),
    }
)
"""Fields of evidence, profiles and samples."""
CHECKED_BY_PORTS = frozenset(
    {"approver", "message", "notes", "reason", "record", "records", "set_to", "why"}
)
"""Fields in which the ports themselves refuse or mask credentials."""
_LIMITED_BY_PORTS = frozenset({"given", "message", "notes", "plan", "record", "records"})
_FREE_KEYS = frozenset({"config", "details", "options", "outputs", "unmeasured"})
"""Fields with arbitrary keys."""
LONGEST_TEXT = 65_536
"""Characters of any other text that is stored."""
Query = Sequence[tuple[str, str]]


def read_query(raw: bytes) -> Query:
    """Names and values in order; each name stands once."""
    try:
        pairs = parse_qsl(
            raw.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(raw),
            errors="strict",
            max_num_fields=_MOST_FIELDS,
        )
    except ValueError:
        raise Declined(_UNPROCESSABLE, "the query is malformed") from None
    if len({name for name, _ in pairs}) < len(pairs):
        raise Declined(_UNPROCESSABLE, "a query parameter is repeated")
    if any("\0" in value for _, value in pairs):
        raise Declined(_UNPROCESSABLE, "a query parameter contains NUL")
    return pairs


def checked_json(body: bytes, *, rows: bool = False, stored: bool = False) -> bytes:
    """The body, if it is unambiguous JSON; only values of rows may contain NUL; in a body that is
    stored, only they may contain a credential."""
    try:
        text = body.decode()
        if has_more_values(text, MOST_VALUES):
            raise Declined(_UNPROCESSABLE, f"the body has more than {MOST_VALUES:,} values")
        found = read_json(text)
    except UnicodeDecodeError:
        raise Declined(_UNPROCESSABLE, "the body is not UTF-8") from None
    except NotJson as error:
        raise Declined(_UNPROCESSABLE, f"the body is not JSON: {error}") from None
    if not rows and _NUL.search(text):
        raise Declined(_UNPROCESSABLE, "a text in the body contains NUL")
    if stored:
        _require_storable(text, found)
    return body


def _require_storable(text: str, data: Any) -> None:
    """``data`` is the parsed text."""
    if "\\" in text or holds_credential(text):  # most bodies need no search
        for path, each in _texts("the body", data, VALUES_OF_ROWS | CHECKED_BY_PORTS):
            if holds_credential(each):
                what = f"{path[:40]} holds what looks like a credential"
                raise Declined(_UNPROCESSABLE, f"{what}; send a reference such as env:NAME")
    if len(text) <= LONGEST_TEXT:
        return
    for path, each in _texts("the body", data, VALUES_OF_ROWS | _LIMITED_BY_PORTS):
        if len(each) > LONGEST_TEXT:
            what = f"{path[:40]} has more than {LONGEST_TEXT:,} characters"
            raise Declined(_UNPROCESSABLE, what)


def _texts(path: str, value: Any, without: Set[str]) -> Iterator[tuple[str, str]]:
    """Every string with its field, except in some fields; keys are included."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(path, item, without)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield path, key
            if key in without and path not in _FREE_KEYS:
                yield from ((key, name) for name in _keys(item))
            else:
                yield from _texts(key, item, without)


def _keys(value: Any) -> Iterator[str]:
    """Names of columns, measures and shares, which are no values."""
    if isinstance(value, dict):
        yield from value


def read_call(
    types: Types, path: Mapping[str, str], query: Query, body: bytes
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments of the method; and answers to callbacks that the caller sent, by callback."""
    values: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    named = {field_of(each): path[each.name] for each in types.path}
    for parameter in types.path:
        value = _read(parameter, named[field_of(parameter)])
        _put(parameter, value, values, parts)
    _read_query(types, query, values, parts)
    answers: dict[str, Any] = {}
    if types.operation.raw:
        (name,) = (each.name for each in types.parameters.values() if each.is_required)
        checked_json(body)
        values[name] = body
    elif types.body is not None:
        _read_body(types, body, values, answers)
    for name, fields in parts.items():
        if name in values:  # the whole value is in the body
            _require_same(values[name], fields)
        else:
            values[name] = _made(types.parameters[name], fields)
    return values, answers


def _put(
    parameter: Parameter, value: Any, values: dict[str, Any], parts: dict[str, dict[str, Any]]
) -> None:
    if parameter.source:
        parts.setdefault(parameter.source, {})[field_of(parameter)] = value
    else:
        values[parameter.name] = value


def _read_query(
    types: Types, query: Query, values: dict[str, Any], parts: dict[str, dict[str, Any]]
) -> None:
    known = {each.name: each for each in types.query}
    for name, text in query:
        if types.operation.paged and name in ("page_size", "page_token"):
            continue
        if name not in known:
            raise Declined(_UNPROCESSABLE, f"{name[:40]!r} is not a parameter of this request")
        _put(known[name], _read(known[name], text), values, parts)
    given = {name for name, _ in query}
    for each in types.query:
        if each.is_required and each.name not in given:
            raise Declined(_UNPROCESSABLE, f"the query lacks {each.name}")


def _read(parameter: Parameter, text: str) -> Any:
    if "\0" in text:
        raise Declined(_UNPROCESSABLE, f"{parameter.name} contains NUL")
    try:
        return parameter.adapter.validate_strings(text)
    except ValidationError as error:
        raise Declined(_UNPROCESSABLE, wrong_values(error, parameter.name)) from None


def _read_body(types: Types, body: bytes, values: dict[str, Any], answers: dict[str, Any]) -> None:
    if types.body is None:
        return
    stored = types.operation.effect is not Effect.SAFE
    checked = checked_json(body or b"{}", rows=types.operation.rows, stored=stored)
    try:
        found = types.body.model_validate_json(checked, strict=True)
    except ValidationError as error:
        raise Declined(_UNPROCESSABLE, wrong_values(error, "the body")) from None
    for name in found.model_fields_set:
        value = getattr(found, name)
        (answers if name in types.callbacks else values)[name] = value


def _made(parameter: Parameter, fields: Mapping[str, Any]) -> Any:
    try:
        return parameter.kind(**fields)
    except ValidationError as error:
        raise Declined(_UNPROCESSABLE, wrong_values(error, parameter.name)) from None


def _require_same(whole: Any, fields: Mapping[str, Any]) -> None:
    for name, value in fields.items():
        if getattr(whole, name) != value:
            raise Declined(_UNPROCESSABLE, f"{name} differs between path and body")


def read_page(query: Query) -> tuple[int, str]:
    """Size and token of the page that is asked for."""
    given = dict(query)
    size = given.get("page_size", str(DEFAULT_SIZE))
    if not _DIGITS.match(size) or not 1 <= int(size) <= LARGEST_SIZE:
        raise Declined(_UNPROCESSABLE, f"page_size is a number from 1 to {LARGEST_SIZE:,}")
    return int(size), given.get("page_token", "")
