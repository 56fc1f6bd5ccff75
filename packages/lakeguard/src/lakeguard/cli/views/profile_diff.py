"""Two versions side by side: the columns that differ much first, each with what it was and is."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.cli.inert import inert
from lakeguard.cli.layout import Tone, columns, indented, number, plural, strong, toned
from lakeguard.cli.views.profile import share_words, short
from lakeguard_sdk.profile import ColumnChange, ColumnProfile, Profile, ProfileDiff

_MARK = "!"
_NAMED = 5


def profile_diff_lines(diff: ProfileDiff, *, every: bool) -> list[str]:
    """Columns of which no figure differs are left out, if not ``every`` is asked for."""
    before, after = diff.before, diff.after
    ordered = sorted(diff.columns, key=lambda change: not change.much)
    shown = [(change, list(_facts(change, diff))) for change in ordered]
    told = [part for part in shown if part[1] or part[0].much or every]
    lines = [
        f"{_name(before)} → {_name(after)}   {_rows(diff)}",
        *(line for change, facts in told for line in _column(change, facts)),
    ]
    same = len(shown) - len(told)
    return [*lines, "", f"{plural(same, 'column')} the same"] if same else lines


def _name(profile: Profile) -> str:
    return strong(f"{profile.dataset}@v{profile.version}")


def _rows(diff: ProfileDiff) -> str:
    said = f"{number(diff.before.rows)} → {plural(diff.after.rows, 'row')}"
    return toned(f"{_MARK} {said}", Tone.WARN) if diff.much else said


def _column(change: ColumnChange, facts: list[tuple[str, str]]) -> list[str]:
    name = inert(change.column)
    much = "; ".join(inert(each) for each in change.much)
    head = toned(f"{_MARK} {name}: {much}", Tone.WARN) if much else f"  {name}"
    return ["", head, *indented(columns([list(fact) for fact in facts]), 4)]


def _facts(change: ColumnChange, diff: ProfileDiff) -> Iterator[tuple[str, str]]:
    """What differs, as it was and as it is."""
    pair = [_of(change.column, profile) for profile in (diff.before, diff.after)]
    old, new = pair
    if old is None or new is None:
        return
    empty = [
        share_words(c.nulls, p.rows) or "0%" for c, p in ((old, diff.before), (new, diff.after))
    ]
    yield from _differing("empty", *empty)
    yield from _differing("distinct", _count(old), _count(new))
    for label, field in (("least", "least"), ("greatest", "greatest"), ("mean", "mean")):
        yield from _differing(label, short(getattr(old, field)), short(getattr(new, field)))
    middle = (short(column.quantiles.get("0.5")) for column in (old, new))
    yield from _differing("middle", *middle)
    if change.psi:
        yield "PSI", number(change.psi)
    for label, values in (("new", change.new_values), ("gone", change.gone_values)):
        if values:
            yield label, ", ".join(short(value) for value in values[:_NAMED])


def _of(name: str, profile: Profile) -> ColumnProfile | None:
    return next((column for column in profile.columns if column.column == name), None)


def _count(column: ColumnProfile) -> str:
    return "" if column.distinct is None else number(column.distinct)


def _differing(label: str, before: str, after: str) -> Iterator[tuple[str, str]]:
    if before != after:
        yield label, f"{before or 'none'} → {after or 'none'}"
