"""The door for those outside: reports on tasks, and events of other systems, by HTTP."""

from lakeguard.inbox.places import Place, parse_place
from lakeguard.inbox.serving import Inbox, serve

__all__ = ["Inbox", "Place", "parse_place", "serve"]
