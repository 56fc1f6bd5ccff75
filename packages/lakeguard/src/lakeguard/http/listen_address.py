"""Listen addresses: ``HOST:PORT``."""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple

from lakeguard_sdk.errors import BadListenAddress

_PLACE = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):([0-9]{1,5})\Z", re.ASCII)


class Place(NamedTuple):
    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether it is reachable from this machine only."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_place(text: str) -> Place:
    """``127.0.0.1:8600``, ``[::1]:8600``; port 0 picks a free one."""
    match = _PLACE.match(text)
    if match is None or int(match[2]) > 65_535:
        raise BadListenAddress(place=text)
    return Place(match[1].strip("[]"), int(match[2]))


def names_this_machine(host: str) -> bool:
    """Whether a Host header, with or without a port, is a local name."""
    try:
        return parse_place(host if host.rpartition("]")[2].count(":") else f"{host}:0").is_loopback
    except BadListenAddress:
        return False
