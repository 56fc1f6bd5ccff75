"""How far channels have got, as lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lakeguard.cli.inert import inert
from lakeguard.cli.layout import Tone, plural, strong, toned
from lakeguard_sdk.telling import ChannelTurn, Telling, TellingOutcome

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
    problem = [f"  {inert(turn.problem)}"] if turn.problem else []
    return [f"{mark} {strong(turn.channel)}  {said}", *problem]
