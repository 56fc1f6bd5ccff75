"""Which addresses requests of this process may reach.

A definition or a channel names a host. Addresses are checked after the name is resolved, and the
connection is made to a checked address, so that DNS rebinding gains nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl

    import httpx

Network = IPv4Network | IPv6Network
Resolve = Callable[[str, int], Sequence[str]]
"""The addresses of a host."""
_NAT64 = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
_IPV4_BITS = 0xFFFF_FFFF


class AddressRefused(OSError):
    """The host is in a network that the settings do not allow. The message names no URL."""

    def __init__(self, host: str) -> None:
        super().__init__(None, f"{host} is in a private network, which the settings do not allow")


@dataclass(frozen=True)
class OutboundRules:
    """By default every address may be reached."""

    private: bool = True
    """Whether private addresses may be reached."""
    allow: tuple[Network, ...] = ()
    """Private networks that may be reached nevertheless."""

    def allows(self, address: str) -> bool:
        found = ip_address(address.partition("%")[0])
        if self.private or any(found in network for network in self.allow):
            return True
        return _is_public(found)


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    """An IPv6 address that embeds an IPv4 address is judged by that one."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and any(address in network for network in _NAT64):
            inner = IPv4Address(int(address) & _IPV4_BITS)
        if inner is not None:
            return _is_public(inner)
        if address.teredo is not None or address.is_site_local:
            return False
    return address.is_global and not address.is_multicast


_rules = OutboundRules()


def use_outbound(rules: OutboundRules) -> None:
    """Apply the rules to requests of this process, which serves one environment."""
    global _rules
    _rules = rules


def parse_network(text: str) -> Network:
    """A network such as ``10.1.0.0/16``, or one address; raises ValueError."""
    return ip_network(text)


def outbound_client(
    *,
    timeout: httpx.Timeout | float,
    verify: ssl.SSLContext | bool = True,
    headers: Mapping[str, str] | None = None,
    use_proxies: bool = False,
    resolve: Resolve | None = None,
) -> httpx.Client:
    """A client that obeys the rules of the process and follows no redirects. ``use_proxies`` takes
    proxies from the environment, unless private addresses are refused: proxies resolve names
    themselves."""
    import httpx  # slow to load, and most commands send no request

    rules = _rules
    transport = None
    if not rules.private:
        transport = _checked_transport(rules, resolve or _resolved, verify)
    return httpx.Client(
        timeout=timeout,
        verify=verify,
        headers=headers,
        trust_env=use_proxies and transport is None,
        follow_redirects=False,
        transport=transport,
    )


def _checked_transport(
    rules: OutboundRules, resolve: Resolve, verify: ssl.SSLContext | bool
) -> httpx.BaseTransport:
    import httpx

    class Checked(httpx.HTTPTransport):
        """Connects to checked addresses; certificates are verified for the host name."""

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            host, failed = request.url.host, httpx.ConnectError(f"no address of {request.url.host}")
            addresses = resolve(host, request.url.port or 0)
            if not all(rules.allows(address) for address in addresses):
                raise AddressRefused(host)
            request.extensions = {**request.extensions, "sni_hostname": host}
            for address in addresses:
                request.url = request.url.copy_with(host=address)
                try:
                    return super().handle_request(request)
                except httpx.ConnectError as error:
                    failed = error
            raise failed

    return Checked(verify=verify, trust_env=False)


def _resolved(host: str, port: int) -> Sequence[str]:
    import socket  # most commands resolve no name

    found = socket.getaddrinfo(host, port or None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))
