"""How far channels have got, as lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lakeguard.cli.terminal.layout import (
    Tone,
    moment,
    strong,
    table,
    toned,
)
from lakeguard.services.plain_text import escaped, plural
from lakeguard_sdk.core.enums import Severity
from lakeguard_sdk.model.notifications import (
    Alert,
    AlertRow,
    ChannelTurn,
    EventRow,
    Telling,
    TellingOutcome,
)

_TONES = {
    TellingOutcome.SENT: Tone.GOOD,
    TellingOutcome.FAILED: Tone.WARN,
    TellingOutcome.DEAD: Tone.BAD,
}


def turns_lines(turns: Sequence[ChannelTurn], noun: str) -> list[str]:
    if not turns:
        return ["lakeguard.toml names no channel"]
    return [line for turn in turns for line in _turn(turn, noun)]


def told(tellings: Sequence[Telling], waiting: Sequence[str] = ()) -> str:
    """What each channel that tried came to, and which have still to."""
    words = [toned(f"{each.channel} {each.outcome}", _TONES[each.outcome]) for each in tellings]
    words += [toned(f"{channel} waits", Tone.WARN) for channel in waiting]
    return ", ".join(words) or toned("-", Tone.QUIET)


def way_out(tellings: Iterable[Telling], noun: str) -> list[str]:
    """Where something was given up, the command that tries it again."""
    dead = sum(telling.outcome is TellingOutcome.DEAD for telling in tellings)
    if not dead:
        return []
    return ["", f"{plural(dead, noun)} given up. Next: lakeguard {noun}s send --again"]


def _turn(turn: ChannelTurn, noun: str) -> list[str]:
    mark = toned("✗", Tone.BAD) if turn.problem else toned("✓", Tone.GOOD)
    said = f"{plural(turn.sent, noun)} sent"
    said += f", {turn.failed:,} failed" if turn.failed else ""
    said += f", {turn.waiting:,} waiting" if turn.waiting else ""
    problem = [f"  {escaped(turn.problem)}"] if turn.problem else []
    return [f"{mark} {strong(turn.channel)}  {said}", *problem]


# Alerts as lists: what was raised, and what became of it.


def alerts_lines(rows: Sequence[AlertRow]) -> list[str]:
    """The latest first; what was given up comes with the command that tries it again."""
    if not rows:
        return ["nothing was raised"]
    cells = [
        [
            moment(row.alert.raised_at),
            _kind(row.alert),
            row.alert.dataset,
            told(row.tellings),
            escaped(row.alert.message),
        ]
        for row in rows
    ]
    lines = table(("RAISED", "KIND", "DATASET", "TOLD", "MESSAGE"), cells)
    tellings = [telling for row in rows for telling in row.tellings]
    return [*lines, *way_out(tellings, "alert")]


def swept_lines(found: Sequence[Alert]) -> list[str]:
    if not found:
        return ["nothing new is late"]
    return [f"{_kind(alert)}  {strong(alert.dataset)}: {escaped(alert.message)}" for alert in found]


def _kind(alert: Alert) -> str:
    tone = Tone.BAD if alert.severity is Severity.FAIL else Tone.WARN
    return toned(alert.kind.value, tone)


# Events as a list: what happened, and which channel has told it.


def events_lines(rows: Sequence[EventRow]) -> list[str]:
    """The latest first; what was given up comes with the command that tries it again."""
    if not rows:
        return ["no event is kept: they are from the moment on that a channel is open"]
    cells = [
        [
            moment(row.event.happened_at),
            row.event.kind.value,
            escaped(row.event.subject),
            told(row.tellings, row.waiting),
            row.event.event_id,
        ]
        for row in rows
    ]
    lines = table(("HAPPENED", "KIND", "SUBJECT", "TOLD", "ID"), cells)
    tellings = [telling for row in rows for telling in row.tellings]
    return [*lines, *way_out(tellings, "event")]
