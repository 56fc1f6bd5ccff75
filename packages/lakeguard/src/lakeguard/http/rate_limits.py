"""Rate limits of requests per principal, and of refused tokens per address.

Token buckets in this process; each holds what ten seconds bring.
"""

from __future__ import annotations

import hashlib
import ipaddress
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from lakeguard.access.principal import Principal
from lakeguard.settings.settings import ServiceSettings
from lakeguard_sdk.errors import RateLimited

BURST_SECONDS = 10
"""The capacity of a bucket, in seconds of its rate."""
MOST_KEPT = 10_000
"""Maximum buckets and credentials; the least recently used are dropped."""
WORK_PORTS = frozenset({"dispatch", "runs"})
"""Ports that workers call for each task, with a limit of their own."""
_IPV6_NETWORK = 64


@dataclass
class _Bucket:
    left: float
    at: float


@dataclass
class _Buckets:
    """Of one kind of limit."""

    per_minute: int
    clock: Callable[[], float]
    _known: OrderedDict[Hashable, _Bucket] = field(default_factory=OrderedDict)

    @property
    def capacity(self) -> float:
        return max(1.0, self.per_minute * BURST_SECONDS / 60)

    def take(self, key: Hashable) -> float:
        """Takes one, and returns 0; or returns the seconds until there is one."""
        bucket = self._filled(key)
        if bucket.left < 1:
            return (1 - bucket.left) * 60 / self.per_minute
        bucket.left -= 1
        return 0.0

    def wait(self, key: Hashable) -> float:
        """Seconds until there is one; takes none."""
        if key not in self._known:
            return 0.0
        return max(0.0, (1 - self._filled(key).left) * 60 / self.per_minute)

    def _filled(self, key: Hashable) -> _Bucket:
        now = self.clock()
        bucket = self._known.setdefault(key, _Bucket(self.capacity, now))
        self._known.move_to_end(key)
        bucket.left = min(self.capacity, bucket.left + (now - bucket.at) * self.per_minute / 60)
        bucket.at = now
        if len(self._known) > MOST_KEPT:
            self._known.popitem(last=False)
        return bucket


class RateLimits:
    """Of one service; used by its event loop alone. Refuses with ``RateLimited``."""

    def __init__(
        self, settings: ServiceSettings, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._requests = _Buckets(settings.requests_per_minute, clock)
        self._work = _Buckets(settings.work_requests_per_minute, clock)
        self._refused = _Buckets(settings.refused_tokens_per_minute, clock)
        self._good: OrderedDict[bytes, None] = OrderedDict()

    def admit(self, principal: Principal, *, is_work: bool) -> None:
        buckets = self._work if is_work else self._requests
        _require(buckets, buckets.take((principal.org_id, principal.kind, principal.id)))

    def admit_address(self, address: str) -> None:
        """For requests without a principal: reports of tasks, and events."""
        _require(self._work, self._work.take(_network(address)))

    def check_address(self, address: str, credential: str) -> None:
        """Checked before authentication. An address that sent too many refused credentials may only
        send those that were accepted before, so that nobody locks out others behind it."""
        wait = self._refused.wait(_network(address))
        if wait and _digest(credential) not in self._good:
            _require(self._refused, wait)

    def note_refused(self, address: str, credential: str) -> None:
        self._good.pop(_digest(credential), None)
        self._refused.take(_network(address))

    def note_good(self, credential: str) -> None:
        digest = _digest(credential)
        self._good[digest] = None
        self._good.move_to_end(digest)
        if len(self._good) > MOST_KEPT:
            self._good.popitem(last=False)


def _require(buckets: _Buckets, wait: float) -> None:
    if wait:
        raise RateLimited(limit=buckets.per_minute, seconds=math.ceil(wait))


def _digest(credential: str) -> bytes:
    return hashlib.sha256(credential.encode("utf-8", "surrogateescape")).digest()


def _network(address: str) -> str:
    """The address; for IPv6 its /64 network, which one customer has."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return str(parsed)
    mapped = getattr(parsed, "ipv4_mapped", None)
    return str(mapped or ipaddress.ip_network((int(parsed), _IPV6_NETWORK), strict=False))
