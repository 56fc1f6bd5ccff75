"""Events as a list: what happened, and which channel has told it."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard.cli.inert import inert
from lakeguard.cli.layout import moment, table
from lakeguard.cli.views.telling import told, way_out
from lakeguard_sdk.events import EventRow


def events_lines(rows: Sequence[EventRow]) -> list[str]:
    """The latest first; what was given up comes with the command that tries it again."""
    if not rows:
        return ["no event is kept: they are from the moment on that a channel is open"]
    cells = [
        [
            moment(row.event.happened_at),
            row.event.kind.value,
            inert(row.event.subject),
            told(row.tellings, row.waiting),
            row.event.event_id,
        ]
        for row in rows
    ]
    lines = table(("HAPPENED", "KIND", "SUBJECT", "TOLD", "ID"), cells)
    tellings = [telling for row in rows for telling in row.tellings]
    return [*lines, *way_out(tellings, "event")]
