"""Whether a server lets nobody in, as it was asked: its own word, told from its being away."""

from __future__ import annotations

import re

_STATES = ("28", "3D000")
"""Of PostgreSQL: who asks is not known or proves nothing; there is no such database."""
_WORDS = re.compile(
    r"fe_sendauth: no password supplied"
    r"|FATAL:  (?:(?:password|Peer|certificate) authentication failed for user "
    r'|role ".*" (?:does not exist|is not permitted to log in)'
    r'|database ".*" does not exist'
    r"|permission denied for database "
    r"|no pg_hba\.conf entry |pg_hba\.conf rejects )"
)


def lets_nobody_in(error: BaseException | None) -> bool:
    """Asking again would bring the same answer, until somebody changes what is asked or the server.

    While a connection is made the driver tells no state, only the server's words. Those of a server
    that speaks another language are not known: it counts as away.
    """
    state = getattr(error, "sqlstate", None)
    if state is not None:
        return str(state).startswith(_STATES)
    return _WORDS.search(str(error).strip().partition("\n")[0]) is not None
