"""Rendering of backtests, for a terminal or a merge request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lakeguard.cli.terminal.layout import (
    Tone,
    columns,
    indented,
    moment,
    strong,
    table,
    toned,
)
from lakeguard.services.plain_text import escaped, plural
from lakeguard_sdk.model.history import (
    NOT_MEASURED,
    Backtest,
    BacktestedRule,
    BacktestedRun,
)

_SHOWN = 20
_SCAN = "--scan measures published versions"


def backtest_lines(test: Backtest) -> list[str]:
    lines = [f"{strong(test.dataset)}   {headline(test)}", *indented(_counts(test))]
    for title, runs in _groups(test):
        lines += ["", strong(title), *indented(columns([_row(run) for run in runs[:_SHOWN]]))]
        lines += indented(_more(runs))
    rows = [_rule_row(rule, test) for rule in test.rules]
    lines += ["", *table(("RULE", "WOULD HAVE FAILED", "FIRST", "LAST", ""), rows)]
    return lines


def headline(test: Backtest) -> str:
    """The summary, including how many rules have no recorded data."""
    if test.new:
        return "new: no runs"
    if not test.runs:
        return f"no run since {moment(test.since)} has evidence"
    unasked = f"; {_of_rules(test)} no recorded data" if test.unasked else ""
    return f"would have newly blocked {len(test.blocks):,} of {plural(test.runs, 'run')}{unasked}"


def _of_rules(test: Backtest) -> str:
    count = len(test.unasked)
    return f"{count:,} of {plural(len(test.rules), 'rule')} {'has' if count == 1 else 'have'}"


def _counts(test: Backtest) -> list[str]:
    rows = [
        ("since", moment(test.since)),
        ("unchanged", plural(test.unchanged, "run")),
        ("would pass", plural(len(test.lets_through), "blocked run")),
    ]
    if test.added:
        rows.append(("new or changed", ", ".join(map(escaped, test.added))))
    if test.dropped:
        rows.append(("dropped", ", ".join(map(escaped, test.dropped))))
    return columns(rows)


def _groups(test: Backtest) -> Iterator[tuple[str, Sequence[BacktestedRun]]]:
    caught = [run for run in test.blocks if run.rolled_back]
    spoiled = [run for run in test.blocks if run.spoils]
    groups = (
        ("Would have been blocked, but was good", spoiled),
        ("Would have been blocked, and was rolled back later", caught),
        ("Would have passed, but was blocked", test.lets_through),
        ("Would have passed, and was rolled back later", test.misses),
    )
    return ((title, runs) for title, runs in groups if runs)


def _row(run: BacktestedRun) -> list[str]:
    version = "" if run.version is None else f"v{run.version}"
    return [escaped(run.run_id), moment(run.decided_at), version, _why(run)]


def _why(run: BacktestedRun) -> str:
    """The failing rules with their numbers; or the rules that no longer fail."""
    if run.blocks:
        return "; ".join(f"{escaped(f.rule_id)}: {escaped(f.message)}" for f in run.findings)
    unknown = f"; not measured: {_listed(run.unmeasured)}" if run.unmeasured else ""
    return (f"no longer failing: {_listed(run.lifted)}" if run.lifted else "") + unknown


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(escaped, names))


def _more(runs: Sequence[BacktestedRun]) -> list[str]:
    return [f"and {len(runs) - _SHOWN:,} more (--format json lists all)"][: len(runs) > _SHOWN]


def _rule_row(rule: BacktestedRule, test: Backtest) -> list[str]:
    text = failed_text(rule)
    shown = toned(text, Tone.BAD) if rule.failed else text
    first, last = escaped(rule.first or ""), escaped(rule.last or "")
    return [escaped(rule.rule_id), shown, first, last, unmeasured_text(rule, test)]


def failed_text(rule: BacktestedRule) -> str:
    if not rule.judged:
        return "no data"
    share = f" ({rule.share:.1%})" if rule.failed else ""
    warned = f", {rule.warned:,} warned" if rule.warned else ""
    return f"{rule.failed:,} of {rule.judged:,}{share}{warned}"


def unmeasured_text(rule: BacktestedRule, test: Backtest) -> str:
    """In how many runs it was not measured, and why."""
    if not rule.unmeasured:
        return ""
    plain = rule.reasons == (NOT_MEASURED,)
    why = _SCAN if plain and not test.scanned else "; ".join(map(escaped, rule.reasons))
    return f"not measured in {rule.unmeasured:,} of {test.runs:,} runs: {why}"


def backtest_markdown(test: Backtest) -> list[str]:
    lines = [f"### `{test.dataset}`: {headline(test)}", ""]
    lines += [f"Since {moment(test.since)}; {plural(test.unchanged, 'run')} unchanged."]
    for title, runs in _groups(test):
        lines += ["", f"**{title}**", "", "| run | decided | version | why |", "|---|---|---|---|"]
        lines += [_markdown_row([f"`{run.run_id}`", *_row(run)[1:]]) for run in runs[:_SHOWN]]
        lines += [f"\n{line}" for line in _more(runs)]
    lines += ["", "| rule | would have failed | first | last | |", "|---|---|---|---|---|"]
    for rule in test.rules:
        named = [f"`{escaped(rule.rule_id)}`", failed_text(rule)]
        ends = [f"`{escaped(run)}`" if run else "" for run in (rule.first, rule.last)]
        lines.append(_markdown_row([*named, *ends, unmeasured_text(rule, test)]))
    return lines


def _markdown_row(cells: Sequence[str]) -> str:
    """Cells are escaped so that none can break the table or open a tag."""
    safe = (cell.replace("|", "\\|").replace("<", "&lt;") for cell in cells)
    return f"| {' | '.join(safe)} |"
