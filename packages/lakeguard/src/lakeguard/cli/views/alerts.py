"""Alerts as lists: what was raised, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard.cli.inert import inert
from lakeguard.cli.layout import Tone, moment, plural, strong, table, toned
from lakeguard_sdk.alerting import Alert, AlertRow
from lakeguard_sdk.telling import ChannelTurn, Telling, TellingOutcome
from lakeguard_sdk.words import Severity

_TONES = {
    TellingOutcome.SENT: Tone.GOOD,
    TellingOutcome.FAILED: Tone.WARN,
    TellingOutcome.DEAD: Tone.BAD,
}


def alerts_lines(rows: Sequence[AlertRow]) -> list[str]:
    """The latest first; what was given up comes with the command that tries it again."""
    if not rows:
        return ["nothing was raised"]
    cells = [
        [
            moment(row.alert.raised_at),
            _kind(row.alert),
            row.alert.dataset,
            _told(row.tellings),
            inert(row.alert.message),
        ]
        for row in rows
    ]
    lines = table(("RAISED", "KIND", "DATASET", "TOLD", "MESSAGE"), cells)
    dead = sum(_is_dead(telling) for row in rows for telling in row.tellings)
    return [*lines, *(_way_out(dead) if dead else ())]


def turns_lines(turns: Sequence[ChannelTurn]) -> list[str]:
    if not turns:
        return ["lakeguard.toml names no channel"]
    return [line for turn in turns for line in _turn(turn)]


def swept_lines(found: Sequence[Alert]) -> list[str]:
    if not found:
        return ["nothing new is late"]
    return [f"{_kind(alert)}  {strong(alert.dataset)}: {inert(alert.message)}" for alert in found]


def _turn(turn: ChannelTurn) -> list[str]:
    mark = toned("✗", Tone.BAD) if turn.problem else toned("✓", Tone.GOOD)
    said = f"{plural(turn.sent, 'alert')} sent"
    said += f", {turn.failed:,} failed" if turn.failed else ""
    said += f", {turn.waiting:,} waiting" if turn.waiting else ""
    problem = [f"  {inert(turn.problem)}"] if turn.problem else []
    return [f"{mark} {strong(turn.channel)}  {said}", *problem]


def _kind(alert: Alert) -> str:
    tone = Tone.BAD if alert.severity is Severity.FAIL else Tone.WARN
    return toned(alert.kind.value, tone)


def _told(tellings: Sequence[Telling]) -> str:
    words = (toned(f"{each.channel} {each.outcome}", _TONES[each.outcome]) for each in tellings)
    return ", ".join(words) or toned("-", Tone.QUIET)


def _is_dead(telling: Telling) -> bool:
    return telling.outcome is TellingOutcome.DEAD


def _way_out(dead: int) -> list[str]:
    return ["", f"{plural(dead, 'alert')} given up. Next: lakeguard alerts send --again"]
