"""Arguments of a call, restricted to what the principal may pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import Signature, signature
from typing import Any

from lakeguard.access.principal import Principal
from lakeguard_sdk.errors import NotPermitted


@dataclass(frozen=True)
class Given:
    """The arguments of a call by name, in the order of the port."""

    fields: dict[str, Any]

    @property
    def values(self) -> list[Any]:
        return list(self.fields.values())

    @property
    def first(self) -> Any:
        return next(iter(self.fields.values()), None)


def given_of(kind: type[Any], method: str, args: Sequence[Any], fields: dict[str, Any]) -> Given:
    bound = _signature(getattr(kind, method)).bind(None, *args, **fields)
    named = dict(list(bound.arguments.items())[1:])
    limit = bound.signature.parameters.get("limit")
    if limit is not None and "limit" not in named:
        named["limit"] = limit.default
    first = next(iter(list(bound.signature.parameters)[1:]), None)
    if first is not None and first not in named:
        named = {first: bound.signature.parameters[first].default, **named}
    return Given(named)


@cache
def _signature(method: Callable[..., Any]) -> Signature:
    return signature(method)


def pinned(full: str, principal: Principal, given: Given) -> Given:
    """A task reads its inputs at the versions that its run pinned."""
    if full != "reader.resolve" or principal.task is None:
        return given
    pin = dict(principal.task.pins).get(given.first.dataset, 0)
    if not pin:
        return given
    if given.first.version not in (None, pin) or given.first.at is not None:
        raise NotPermitted(holder=principal.label, method=f"{full} of another version")
    return Given({**given.fields, "address": given.first.model_copy(update={"version": pin})})


def attributed(principal: Principal, given: Given) -> Given:
    """``triggered_by`` is always the caller."""
    if "triggered_by" not in given.fields:
        return given
    return Given({**given.fields, "triggered_by": principal.name})
