"""Types of the parameters and answers of operations, from the annotations of the ports."""

from __future__ import annotations

import ast
import collections.abc
import inspect
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache, cached_property
from importlib import import_module
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import BeforeValidator, Field, PlainSerializer, TypeAdapter, WithJsonSchema
from pydantic import create_model as make_model

from lakeguard_sdk.api.operation import Operation
from lakeguard_sdk.api.operations import PORTS
from lakeguard_sdk.core.frozen_model import Day, FrozenModel, Instant

MOST_ITEMS = 10_000
"""The largest ``limit``."""
LARGEST_NUMBER = 2**63 - 1
MISSING = inspect.Parameter.empty
_QUERY_NAMES = {"at": "as_of", "schema_": "schema"}


@dataclass(frozen=True)
class Parameter:
    """One value of a call under its name on the wire."""

    name: str
    kind: Any
    default: Any = MISSING
    source: str = ""
    """The parameter of the method that this is a field of, if any."""

    @property
    def is_required(self) -> bool:
        return self.default is MISSING

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.kind)


@dataclass(frozen=True)
class Types:
    """What an operation takes and returns."""

    operation: Operation
    parameters: dict[str, Parameter]
    """Parameters of the method by name, without callbacks."""
    callbacks: dict[str, Any]
    """Annotations of callbacks."""
    path: tuple[Parameter, ...]
    query: tuple[Parameter, ...]
    body: type[FrozenModel] | None
    answer: type[FrozenModel] | None
    """None: the method returns nothing."""
    item: Any = None
    """The type of an item, if the list is paged."""
    result: Any = None
    """The annotated return type of the method."""
    doc: str = ""

    @property
    def is_wrapped(self) -> bool:
        """Whether the answer is sent as a field of a wrapper model."""
        return self.answer is not None and self.answer is not self.result

    @property
    def has_limit(self) -> bool:
        """Whether the method itself limits what it reads."""
        return self.operation.paged and "limit" in self.parameters

    @cached_property
    def items(self) -> TypeAdapter[Any]:
        """For all items of all pages."""
        return TypeAdapter(self.result)


def _resolved(module: types.ModuleType) -> dict[str, Any]:
    """Names of a module, including those imported for type checking only."""
    names = dict(vars(module))
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for imported in node.body:
                if isinstance(imported, ast.ImportFrom) and imported.module:
                    found = import_module(imported.module)
                    names |= {each.name: getattr(found, each.name) for each in imported.names}
    return names


_names_of = cache(_resolved)


# Annotations on the wire.


def _pairs(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        return value
    return {tuple(key): item for key, item in value}


def _as_pairs(value: Mapping[Any, Any]) -> tuple[tuple[Any, Any], ...]:
    return tuple(value.items())


def _sorted(value: Iterable[Any]) -> list[Any]:
    return sorted(value)


def _on_the_wire(kind: Any) -> Any:
    """The annotation with its bounds: times have a zone, integers 64 bits, and a mapping whose keys
    are tuples is sent as a list of pairs."""
    if kind is int:
        return Annotated[int, Field(ge=-LARGEST_NUMBER - 1, le=LARGEST_NUMBER)]
    if kind in (datetime, date):
        return Instant if kind is datetime else Day
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return Union[tuple(_on_the_wire(part) for part in parts)]  # noqa: UP007 - not static
    if origin is collections.abc.Set:  # of any class, also a view of the keys of a mapping
        members: Any = types.GenericAlias(list, parts)
        schema = {**TypeAdapter(members).json_schema(), "uniqueItems": True}
        shown = WithJsonSchema(schema, mode="serialization")
        return Annotated[types.GenericAlias(frozenset, parts), PlainSerializer(_sorted), shown]
    if origin in (dict, collections.abc.Mapping) and get_origin(parts[0]) is tuple:
        pair = types.GenericAlias(tuple, parts)
        pairs: Any = types.GenericAlias(tuple, (pair, ...))
        return Annotated[
            types.GenericAlias(dict, parts),
            BeforeValidator(_pairs, json_schema_input_type=pairs),
            PlainSerializer(_as_pairs),
            WithJsonSchema(TypeAdapter(pairs).json_schema(), mode="serialization"),
        ]
    return kind


def is_callback(kind: Any) -> bool:
    """Whether a parameter is a callback, or may be one."""
    parts = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    return any(get_origin(part) is collections.abc.Callable for part in parts)


def callback_types(kind: Any) -> tuple[Any, Any]:
    """The types that a callback takes and returns; None if it returns nothing."""
    parts = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    found = next(part for part in parts if get_origin(part) is collections.abc.Callable)
    (taken,), returned = get_args(found)
    return taken, None if returned is type(None) else returned


# Types of one operation.


@cache
def types_of(operation: Operation) -> Types:
    method = getattr(PORTS[operation.port], operation.method)
    hints = get_type_hints(method, _names_of(sys.modules[method.__module__]))
    parameters, callbacks = _parameters(method, hints)
    path, spread = _path(operation, parameters)
    dotted = {field.partition(".")[0] for field in operation.path_fields if "." in field}
    named = {field for field in operation.path_fields if "." not in field}
    query: list[Parameter] = []
    body: dict[str, Parameter] = {}
    for name, parameter in parameters.items():
        if name in named:
            continue
        if operation.raw:
            query += [parameter] if parameter.default is not MISSING else []
        elif operation.has_body:
            body[name] = parameter
        elif name not in dotted:
            query += _fields(parameter)
    if not operation.has_body:
        query += spread
    result = hints["return"]
    return Types(
        operation=operation,
        parameters=parameters,
        callbacks=callbacks,
        path=path,
        query=tuple(each for each in query if not (operation.paged and each.name == "limit")),
        body=_body(operation, body, callbacks) if operation.has_body else None,
        answer=_answer(operation, result, callbacks),
        item=get_args(result)[0] if operation.paged else None,
        result=result,
        doc=" ".join((inspect.getdoc(method) or "").split()),
    )


def _parameters(
    method: Callable[..., Any], hints: Mapping[str, Any]
) -> tuple[dict[str, Parameter], dict[str, Any]]:
    parameters, callbacks = {}, {}
    for name, given in inspect.signature(method).parameters.items():
        if name == "self":
            continue
        kind = hints[name]
        if is_callback(kind):
            callbacks[name] = kind
            continue
        kind = _on_the_wire(kind)
        if name == "limit":
            kind = Annotated[int, Field(ge=0, le=MOST_ITEMS)]
        parameters[name] = Parameter(name, kind, given.default)
    return parameters, callbacks


def _path(
    operation: Operation, parameters: Mapping[str, Parameter]
) -> tuple[tuple[Parameter, ...], list[Parameter]]:
    """Parameters of the path; and the other fields of those parameters of which the path has one
    field, which belong to the query if there is no body."""
    path: list[Parameter] = []
    spread: list[Parameter] = []
    for field in operation.path_fields:
        whole, dot, part = field.partition(".")
        if not dot:
            path.append(parameters[field])
            continue
        for name, info in parameters[whole].kind.model_fields.items():
            kind = _on_the_wire(info.annotation)
            if name == part:
                path.append(Parameter(name, kind, source=whole))
            else:
                shown = _QUERY_NAMES.get(name, name)
                spread.append(Parameter(shown, kind, info.get_default(), source=whole))
    return tuple(path), spread


def _fields(parameter: Parameter) -> list[Parameter]:
    """A model in a query is its fields, without those that hold data of any form."""
    kind = parameter.kind
    if not (isinstance(kind, type) and issubclass(kind, FrozenModel)):
        return [parameter]
    return [
        Parameter(
            _QUERY_NAMES.get(name, name),
            _on_the_wire(info.annotation),
            MISSING if info.is_required() else info.get_default(call_default_factory=True),
            source=parameter.name,
        )
        for name, info in kind.model_fields.items()
        if get_origin(info.annotation) is not dict
    ]


def field_of(parameter: Parameter) -> str:
    """The field of the source parameter that has this name on the wire."""
    back = {shown: name for name, shown in _QUERY_NAMES.items()}
    return back.get(parameter.name, parameter.name)


def _model_name(operation: Operation, end: str) -> str:
    words = [operation.port, *operation.method.split("_"), end]
    return "".join(word.capitalize() for word in words)


def _body(
    operation: Operation, parameters: Mapping[str, Parameter], callbacks: Mapping[str, Any]
) -> type[FrozenModel] | None:
    fields: dict[str, Any] = {
        name: (each.kind, ... if each.is_required else each.default)
        for name, each in parameters.items()
    }
    for name, kind in callbacks.items():
        _, returned = callback_types(kind)
        if returned is not None:
            fields[name] = (types.GenericAlias(dict, (str, returned)) | None, None)
    if operation.raw:
        return None
    return make_model(_model_name(operation, "call"), __base__=FrozenModel, **fields)


def _answer(
    operation: Operation, result: Any, callbacks: Mapping[str, Any]
) -> type[FrozenModel] | None:
    fields: dict[str, Any] = {}
    if operation.paged:
        fields = {
            operation.answer: (types.GenericAlias(list, get_args(result)[:1]), ...),
            "next_page_token": (str | None, None),
        }
    elif operation.answer:
        fields[operation.answer] = (_on_the_wire(result), ...)
    for name, kind in callbacks.items():
        taken, returned = callback_types(kind)
        if returned is not None:
            fields["result"] = (result | None, None)
            fields[f"to_{name}"] = (types.GenericAlias(tuple, (taken, ...)), ())
        elif taken is not str:
            fields[name] = (types.GenericAlias(tuple, (taken, ...)), ())
    if fields:
        return make_model(_model_name(operation, "answer"), __base__=FrozenModel, **fields)
    if result is type(None):
        return None
    if not (isinstance(result, type) and issubclass(result, FrozenModel)):
        raise TypeError(f"{operation.name} returns {result}: name a field for it in its row")
    return result
