"""The HTTP API of a service, and its endpoint for reports and events."""

from lakeguard.http.listen_address import Place, parse_place

__all__ = ["Place", "parse_place"]
