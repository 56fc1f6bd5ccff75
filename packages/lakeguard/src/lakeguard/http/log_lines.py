"""Log lines of a service: one JSON document each, with the ids of the request that it is about."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

from lakeguard_sdk.security.secret_values import masked

ACCESS = "lakeguard.access"
Ids = Callable[[], Mapping[str, str]]
_request: ContextVar[Ids | None] = ContextVar("request", default=None)


@contextmanager
def lines_of_request(ids: Ids) -> Iterator[None]:
    """Lines logged in the block have these ids, also in threads that work for the request."""
    token = _request.set(ids)
    try:
        yield
    finally:
        _request.reset(token)


class JsonLine(logging.Formatter):
    """Masks what looks like a secret."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, object] = {"at": at, "level": record.levelname.lower()}
        if record.name == ACCESS:
            return json.dumps(line | json.loads(record.getMessage()))
        ids = _request.get()
        line |= {"logger": record.name, "message": masked(record.getMessage())}
        if ids is not None:
            line |= ids()
        if record.exc_info:
            trace = self.formatException(record.exc_info)
            line["exception"] = "\n".join(map(masked, trace.splitlines()))
        return json.dumps(line)


@contextmanager
def logged_as_json(name: str = "lakeguard") -> Iterator[None]:
    """Logs this logger and its children to standard error as JSON."""
    handler, log = logging.StreamHandler(), logging.getLogger(name)
    handler.setFormatter(JsonLine())
    level, log.propagate = log.level, False
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
        log.propagate = True
