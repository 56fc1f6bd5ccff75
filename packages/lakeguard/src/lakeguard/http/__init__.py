"""The door for those outside: reports on tasks, and events of other systems, by HTTP."""

from lakeguard.http.listen_address import Place, parse_place
from lakeguard.http.server import Inbox, serve

__all__ = ["Inbox", "Place", "parse_place", "serve"]
