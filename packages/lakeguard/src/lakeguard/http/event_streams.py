"""Server-sent events: what happens to a run, as it happens.

The stream ends with the run, with the service, or when the caller may no longer read the run. The
id of an event is its kind, so that a client can resume after the last one.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from lakeguard.access.principal import Principal
from lakeguard.http.responses import answer_to
from lakeguard_sdk.errors import LakeGuardError, ServiceBusy
from lakeguard_sdk.model.read_models import RunEvent, RunEventKind

EVENT_STREAM = "text/event-stream"
MOST_STREAMS = 64
MOST_OF_ONE = 16
"""Maximum streams of one principal."""
POLL_SECONDS = 0.5
HEARTBEAT_SECONDS = 15.0
"""A comment keeps proxies from closing a stream in which nothing happens."""
CHECK_SECONDS = 20.0
"""How often an open stream is authenticated again."""
LONGEST_SECONDS = 3_600.0
"""Then the caller connects again."""
_RETRY_MILLISECONDS = 2_000
_ORDER = tuple(RunEventKind)

Authenticated = Callable[[], Awaitable[Principal]]
Read = Callable[[Principal], Sequence[RunEvent]]


@dataclass(frozen=True)
class StreamTimes:
    poll: float = POLL_SECONDS
    heartbeat: float = HEARTBEAT_SECONDS
    check: float = CHECK_SECONDS
    longest: float = LONGEST_SECONDS


@dataclass
class EventStreams:
    """Of one service."""

    times: StreamTimes = StreamTimes()
    _closing: bool = False
    _open: Counter[tuple[str, str]] = field(default_factory=Counter)

    def close(self) -> None:
        """Open streams end at their next poll."""
        self._closing = True

    async def respond(
        self, request: Request, principal: Principal, again: Authenticated, read: Read
    ) -> Response:
        """``again`` authenticates the request once more. Refusals at the start are error responses;
        later ones are events that end the stream."""
        owner = (principal.org_id, principal.name)
        if self._open.total() >= MOST_STREAMS or self._open[owner] >= MOST_OF_ONE:
            raise ServiceBusy(reason="too many streams are open")
        seen = _position(request.headers.get("last-event-id", ""))
        events = await run_in_threadpool(read, principal)
        if _ended(events) and seen == _ORDER.index(RunEventKind.ENDED):
            return Response(status_code=204)  # tells a browser not to reconnect
        request.state.operation += ".stream"
        content = self._counted(owner, self._lines(principal, again, read, events, seen))
        return StreamingResponse(
            content, media_type=EVENT_STREAM, headers={"X-Accel-Buffering": "no"}
        )

    async def _counted(
        self, owner: tuple[str, str], lines: AsyncIterator[str]
    ) -> AsyncIterator[str]:
        self._open[owner] += 1
        try:
            async for line in lines:
                yield line
        finally:
            self._open[owner] -= 1
            self._open += Counter()  # forgets those at 0

    async def _lines(
        self,
        principal: Principal,
        again: Authenticated,
        read: Read,
        events: Sequence[RunEvent],
        seen: int,
    ) -> AsyncIterator[str]:
        began = checked = spoke = time.monotonic()
        yield f"retry: {_RETRY_MILLISECONDS}\n\n"
        while True:
            for event in events:
                if _ORDER.index(event.kind) > seen:
                    seen, spoke = _ORDER.index(event.kind), time.monotonic()
                    yield _message(event.kind, event.to_json(), event.kind)
            now = time.monotonic()
            if _ended(events) or self._closing or now - began >= self.times.longest:
                return
            if now - spoke >= self.times.heartbeat:
                spoke = now
                yield ": alive\n\n"
            await asyncio.sleep(self.times.poll)
            try:
                if now - checked >= self.times.check:
                    principal, checked = await again(), now
                events = await run_in_threadpool(read, principal)
            except LakeGuardError as error:
                yield _message("problem", answer_to(error).body.decode())
                return


def wants_stream(request: Request) -> bool:
    accepted = request.headers.get("accept", "").lower().split(",")
    return EVENT_STREAM in (each.partition(";")[0].strip() for each in accepted)


def _position(last: str) -> int:
    """The position of the last event that the client has seen; -1 for none or an unknown one."""
    return next((n for n, kind in enumerate(_ORDER) if kind.value == last), -1)


def _ended(events: Sequence[RunEvent]) -> bool:
    return any(event.kind is RunEventKind.ENDED for event in events)


def _message(name: str, data: str, event_id: str = "") -> str:
    lines = [f"event: {name}", *(f"data: {line}" for line in data.split("\n"))]
    if event_id:
        lines.insert(0, f"id: {event_id}")
    return "\n".join(lines) + "\n\n"
