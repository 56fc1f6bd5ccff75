"""A back-test as people read it, on a screen or in a merge request."""

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
    """The sentence that a reviewer reads first: also how much of it is not known."""
    if test.new:
        return "new: no runs"
    if not test.runs:
        return f"no run since {moment(test.since)} came to evidence"
    blocked, runs = len(test.blocks), plural(test.runs, "run")
    unasked = f"; {_of_rules(test)} asked in none of them" if test.unasked else ""
    if test.runs == 1:
        none = "blocked no run that was let through, of the one that was looked at"
        return f"would have {'blocked the last run' if blocked else none}{unasked}"
    if not blocked:
        return f"would have blocked none of the last {runs} that was let through{unasked}"
    return f"would have blocked {blocked:,} of the last {runs}{unasked}"


def _of_rules(test: Backtest) -> str:
    count = len(test.unasked)
    return f"{count:,} of {plural(len(test.rules), 'rule')} {'was' if count == 1 else 'were'}"


def _counts(test: Backtest) -> list[str]:
    rows = [
        ("since", moment(test.since)),
        ("unchanged", plural(test.unchanged, "run")),
        ("let through", plural(len(test.lets_through), "run") + " that was blocked"),
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
        ("Would have been blocked, and was fine", spoiled),
        ("Would have been blocked, and was rolled back afterwards", caught),
        ("Would have been let through, and was blocked", test.lets_through),
        ("Would have been let through, and was rolled back afterwards", test.misses),
    )
    return ((title, runs) for title, runs in groups if runs)


def _row(run: BacktestedRun) -> list[str]:
    version = "" if run.version is None else f"v{run.version}"
    return [escaped(run.run_id), moment(run.decided_at), version, _why(run)]


def _why(run: BacktestedRun) -> str:
    """By which rules, with their numbers; or which of those of then no longer say no."""
    if run.blocks:
        return "; ".join(f"{escaped(f.rule_id)}: {escaped(f.message)}" for f in run.findings)
    unknown = f"; not asked: {_listed(run.unmeasured)}" if run.unmeasured else ""
    return (f"no longer: {_listed(run.lifted)}" if run.lifted else "") + unknown


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(escaped, names))


def _more(runs: Sequence[BacktestedRun]) -> list[str]:
    return [f"and {len(runs) - _SHOWN:,} more (--format json lists all)"][: len(runs) > _SHOWN]


def _rule_row(rule: BacktestedRule, test: Backtest) -> list[str]:
    told = failed_text(rule)
    shown = toned(told, Tone.BAD) if rule.failed else told
    first, last = escaped(rule.first or ""), escaped(rule.last or "")
    return [escaped(rule.rule_id), shown, first, last, unmeasured_text(rule, test)]


def failed_text(rule: BacktestedRule) -> str:
    if not rule.judged:
        return "not judged"
    share = f" ({rule.share:.1%})" if rule.failed else ""
    warned = f", {rule.warned:,} warned" if rule.warned else ""
    return f"{rule.failed:,} of {rule.judged:,}{share}{warned}"


def unmeasured_text(rule: BacktestedRule, test: Backtest) -> str:
    """In how many runs it could not be asked, and what helps or why nothing does."""
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
    """No cell can end the table or begin a tag."""
    safe = (cell.replace("|", "\\|").replace("<", "&lt;") for cell in cells)
    return f"| {' | '.join(safe)} |"
