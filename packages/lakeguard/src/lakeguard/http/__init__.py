"""HTTP endpoint for external task reports and events."""

from lakeguard.http.listen_address import Place, parse_place
from lakeguard.http.server import Inbox, serve

__all__ = ["Inbox", "Place", "parse_place", "serve"]
