"""Two runs as people read them: one column each, what differs first."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.cli.inert import inert
from lakeguard.cli.layout import indented, moment, plural, strong, table
from lakeguard.cli.views.since import since_lines
from lakeguard_sdk.comparison import CheckPair, RunSide, SideBySide
from lakeguard_sdk.decision import CheckResult


def side_by_side_lines(found: SideBySide, *, every: bool = False) -> list[str]:
    heads = ("", inert(found.before.run_id), inert(found.after.run_id))
    lines = [strong(found.dataset), *indented(table(heads, list(_facts(found, every))))]
    lines += ["", strong("Given"), *indented(since_lines(found))]
    rows = [_check(pair) for pair in found.checks if every or not pair.same]
    same = sum(pair.same for pair in found.checks)
    title = "Checks" if rows else "Checks: none differs"
    lines += [
        "",
        strong(title),
        *indented(table(("CHECK", "BEFORE", "AFTER"), rows) if rows else []),
    ]
    if same and not every:
        lines.append(f"  {plural(same, 'check')} came to the same   (--all shows them)")
    return lines


def _facts(found: SideBySide, every: bool) -> Iterator[list[str]]:
    yield ["verdict", _verdict(found.before), _verdict(found.after)]
    yield ["version", _version(found.before), _version(found.after)]
    for figure in found.figures:
        if every or figure.before != figure.after:
            yield [inert(figure.name), figure.before or "—", figure.after or "—"]
    yield ["ended", moment(found.before.ended_at), moment(found.after.ended_at)]


def _verdict(side: RunSide) -> str:
    return side.status.value if side.verdict is None else side.verdict.value


def _version(side: RunSide) -> str:
    return "none" if side.version is None else f"v{side.version}"


def _check(pair: CheckPair) -> list[str]:
    return [inert(pair.check_id), _came_to(pair.before), _came_to(pair.after)]


def _came_to(check: CheckResult | None) -> str:
    return "not asked" if check is None else f"{check.outcome.value}  {inert(check.message)}"
