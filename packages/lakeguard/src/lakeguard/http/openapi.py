"""The OpenAPI 3.1 document, generated from the table of operations and the types of the ports."""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from lakeguard.http.event_streams import EVENT_STREAM
from lakeguard.http.page_tokens import DEFAULT_SIZE, LARGEST_SIZE
from lakeguard.http.responses import JSON
from lakeguard_sdk.api.operation import PREFIX, Effect, Operation
from lakeguard_sdk.api.operation_state import (
    LONGEST_WAIT,
    OPERATIONS_PATH,
    OperationState,
    ServiceInfo,
)
from lakeguard_sdk.api.operations import OPERATIONS
from lakeguard_sdk.api.port_types import Parameter, Types, types_of
from lakeguard_sdk.api.problems import MEDIA_TYPE, Problem

API_VERSION = "0.2.0"
"""A breaking change increases the minor version before 1.0.0, and the major version after it."""
OPENAPI_PATH = f"{PREFIX}/openapi.json"
_REFUSALS = (401, 403, 404, 409, 413, 422, 429, 503)
_SHARED: dict[str, Any] = {"state": OperationState, "info": ServiceInfo, "problem": Problem}
_Key = tuple[str, str]


@cache
def openapi_document() -> dict[str, Any]:
    """The same for every service of this version."""
    schemas, definitions = _schemas()
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        item = _operation(types_of(operation), schemas)
        paths.setdefault(operation.template, {})[operation.verb.lower()] = item
    paths[OPERATIONS_PATH] = {"get": _operation_state(schemas)}
    paths[f"{PREFIX}/service"] = {
        "get": _described("service", "What a client must know of the service.", "service")
        | {"responses": _responses(200, schemas[("info", "serialization")])}
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "LakeGuard", "version": API_VERSION},
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": dict(sorted(definitions.items())),
            "responses": _refusals(schemas),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _schemas() -> tuple[dict[_Key, Any], dict[str, Any]]:
    """Schemas of all bodies, answers and parameters, and the definitions that they share."""
    wanted: list[tuple[str, JsonSchemaMode, TypeAdapter[Any]]] = [
        (name, "serialization", TypeAdapter(model)) for name, model in _SHARED.items()
    ]
    for operation in OPERATIONS:
        types, name = types_of(operation), operation.name
        if types.body is not None:
            wanted.append((name, "validation", TypeAdapter(types.body)))
        if types.answer is not None:
            wanted.append((f"{name}:answer", "serialization", TypeAdapter(types.answer)))
        for each in (*types.path, *types.query):
            wanted.append((f"{name}:{each.name}", "validation", each.adapter))
    found, shared = TypeAdapter.json_schemas(wanted, ref_template="#/components/schemas/{model}")
    schemas: dict[_Key, Any] = {(str(name), mode): schema for (name, mode), schema in found.items()}
    return schemas, dict(shared.get("$defs", {}))


def _described(name: str, text: str, tag: str) -> dict[str, Any]:
    return {"operationId": name, "summary": text, "tags": [tag]}


def _operation(types: Types, schemas: dict[_Key, Any]) -> dict[str, Any]:
    operation = types.operation
    summary = types.doc or operation.method.replace("_", " ")
    found = _described(operation.name, summary, operation.port)
    parameters = [
        *(_parameter(operation, each, "path", schemas) for each in types.path),
        *(_parameter(operation, each, "query", schemas) for each in types.query),
        *_page_parameters(operation),
        *_headers(operation),
    ]
    if parameters:
        found["parameters"] = parameters
    if operation.raw:
        found["requestBody"] = _content({"type": "object"}, required=True)
    elif types.body is not None:
        needed = any(field.is_required() for field in types.body.model_fields.values())
        found["requestBody"] = _content(schemas[(operation.name, "validation")], required=needed)
    if operation.long:
        answer = {"$ref": "#/components/schemas/OperationState"}
        found["responses"] = _responses(202, answer)
        found["x-result"] = schemas[(f"{operation.name}:answer", "serialization")]
    elif types.answer is None:
        found["responses"] = _responses(204, None)
    else:
        answer = schemas[(f"{operation.name}:answer", "serialization")]
        found["responses"] = _responses(200, answer)
        if operation.streamed:
            found["responses"]["200"]["content"][EVENT_STREAM] = {"schema": {"type": "string"}}
            found["responses"]["204"] = {"description": "Nothing follows the event that was named"}
    found["x-effect"] = operation.effect.value
    return found


def _operation_state(schemas: dict[_Key, Any]) -> dict[str, Any]:
    found = _described("operation", "A long operation: running, done or failed.", "service")
    number = {"type": "integer", "minimum": 0, "maximum": 999_999, "default": 0}
    found["parameters"] = [
        {"name": "operation_id", "in": "path", "required": True, "schema": {"type": "string"}},
        {"name": "after", "in": "query", "schema": number},
        {"name": "wait", "in": "query", "schema": {**number, "description": _WAIT}},
    ]
    answer = schemas[("state", "serialization")]
    return {**found, "responses": _responses(200, answer)}


_WAIT = f"Seconds to wait for it to go on, at most {LONGEST_WAIT}."


def _parameter(
    operation: Operation, parameter: Parameter, place: str, schemas: dict[_Key, Any]
) -> dict[str, Any]:
    schema = dict(schemas[(f"{operation.name}:{parameter.name}", "validation")])
    found: dict[str, Any] = {"name": parameter.name, "in": place}
    if place == "path" or parameter.is_required:
        found["required"] = True
    return {**found, "schema": schema}


def _page_parameters(operation: Operation) -> list[dict[str, Any]]:
    if not operation.paged:
        return []
    size = {"type": "integer", "minimum": 1, "maximum": LARGEST_SIZE, "default": DEFAULT_SIZE}
    return [
        {"name": "page_size", "in": "query", "schema": size},
        {"name": "page_token", "in": "query", "schema": {"type": "string"}},
    ]


def _headers(operation: Operation) -> list[dict[str, Any]]:
    names = []
    if operation.effect is Effect.KEYED:
        names.append("Idempotency-Key")
    if operation.tagged:
        names.append("If-None-Match")
    if operation.name == "registry.apply":
        names.append("If-Match")
    if operation.streamed:
        names.append("Last-Event-ID")
    return [{"name": name, "in": "header", "schema": {"type": "string"}} for name in names]


def _content(schema: Any, *, required: bool) -> dict[str, Any]:
    return {"required": required, "content": {JSON: {"schema": schema}}}


def _responses(status: int, answer: Any) -> dict[str, Any]:
    content = {} if answer is None else {"content": {JSON: {"schema": answer}}}
    found: dict[str, Any] = {str(status): {"description": HTTPStatus(status).phrase, **content}}
    for refused in _REFUSALS:
        found[str(refused)] = {"$ref": f"#/components/responses/{refused}"}
    found["default"] = {"$ref": "#/components/responses/default"}
    return found


def _refusals(schemas: dict[_Key, Any]) -> dict[str, Any]:
    problem = {"content": {MEDIA_TYPE: {"schema": schemas[("problem", "serialization")]}}}
    named = {str(each): HTTPStatus(each).phrase for each in _REFUSALS}
    named["default"] = "Any other refusal"
    return {name: {"description": text, **problem} for name, text in named.items()}
