"""What the gate said of the last run of a dataset.

Each assertion passes for that alone which it names. A name that does not exist fails it, and the
message tells what happened instead.
"""

from __future__ import annotations

from collections.abc import Collection

from lakeguard_sdk.core.enums import CheckKind, Outcome, RunStatus
from lakeguard_sdk.errors import WrongArgument
from lakeguard_sdk.model.decision import CheckResult
from lakeguard_sdk.testing.decisions import (
    Judged,
    check_line,
    counted,
    fail,
    judged,
    shown,
    unknown,
)
from lakeguard_sdk.testing.lake import Lake


def assert_promoted(lake: Lake, name: str, version: int | None = None) -> None:
    """The last run brought forth a version, the given one, and readers see it."""
    __tracebackhide__ = True
    found = judged(lake, name)
    wanted = "a version" if version is None else f"v{version}"
    promoted = found.run.version
    if promoted is None or (version is not None and promoted != version):
        fail(f"{name} was not promoted to {wanted}\n{found.describe()}")
    if promoted != found.published:
        fail(
            f"v{promoted} of {name} was promoted, but {shown(found.published)}\n{found.describe()}"
        )


def assert_blocked(
    lake: Lake,
    name: str,
    *,
    rule: str | None = None,
    policy: str | None = None,
    check: str | None = None,
    failed_rows: int | None = None,
) -> None:
    """The last run was blocked; by that rule, policy or other check where one is named.

    Others may have failed beside it. With ``failed_rows`` exactly so many rows broke it.
    """
    __tracebackhide__ = True
    found = judged(lake, name)
    named = _named(lake, found, rule, policy, check)
    if found.run.status is not RunStatus.BLOCKED:
        fail(f"{name} was not blocked\n{found.describe()}")
    blocking = {Outcome.FAIL} if check is None else {Outcome.FAIL, Outcome.ERROR}
    _hold(found, named, blocking, "block", failed_rows)


def assert_warned(
    lake: Lake,
    name: str,
    *,
    rule: str | None = None,
    policy: str | None = None,
    check: str | None = None,
    failed_rows: int | None = None,
) -> None:
    """A check of the last run warned, the named one; whether the run was blocked by another or not.

    With ``failed_rows`` exactly so many rows broke it.
    """
    __tracebackhide__ = True
    found = judged(lake, name)
    named = _named(lake, found, rule, policy, check)
    if named is None and all(item.outcome is not Outcome.WARN for item in found.checks):
        fail(f"no check of {name} warned\n{found.describe()}")
    _hold(found, named, {Outcome.WARN}, "warn", failed_rows)


def assert_failed(lake: Lake, name: str, code: str | None = None) -> None:
    """The last run could not do its work, with that code: it was neither promoted nor blocked."""
    __tracebackhide__ = True
    found = judged(lake, name)
    if found.run.status is not RunStatus.FAILED:
        fail(f"{name} did not fail\n{found.describe()}")
    if code is not None and found.run.error_code != code:
        fail(f"{name} did not fail with {code}\n{found.describe()}")


def assert_quarantined(
    lake: Lake, name: str, *, rule: str | None = None, rows: int | None = None
) -> None:
    """The last run quarantined rows; under that rule, and exactly so many.

    A row is filed under the first rule that it fails, in the order of their ids.
    """
    __tracebackhide__ = True
    found = judged(lake, name)
    if rule is not None:
        _named(lake, found, rule, None, None)
    quarantined = {
        item.rule_id: item.rows
        for item in lake.client.reader.quarantine(found.run.dataset)
        if item.run_id == found.run.run_id
    }
    there = sum(quarantined.values()) if rule is None else quarantined.get(rule, 0)
    if there == rows or (rows is None and there):
        return
    under = "" if rule is None else f" under {rule}"
    wanted = "rows" if rows is None else counted(rows, "row")
    listed = (
        ", ".join(f"{each} ({counted(rows, 'row')})" for each, rows in quarantined.items())
        or "none"
    )
    fail(
        f"{name} was expected to quarantine {wanted}{under}; quarantined: {listed}"
        f"\n{found.describe()}"
    )


def _named(
    lake: Lake, found: Judged, rule: str | None, policy: str | None, check: str | None
) -> CheckResult | None:
    """The check of the last run that the assertion is about; None where it names none."""
    __tracebackhide__ = True
    reader = lake.client.reader
    match rule, policy, check:
        case None, None, None:
            return None
        case str(), None, None:
            known = {row.rule_id for row in reader.rules(found.run.dataset)}
            return _sought(found, "rule", rule, known, {CheckKind.RULE})
        case None, str(), None:
            known = {row.policy_id for row in reader.policies()}
            return _sought(found, "policy", policy, known, {CheckKind.POLICY})
        case None, None, str():
            return _sought(found, "check", check, set(), set(CheckKind))
    raise WrongArgument(
        method="the assertion",
        given="more than one of rule, policy and check",
        call=f'assert_blocked(lake, "{found.run.dataset}", rule="…"), one assertion for each',
    )


def _sought(
    found: Judged, word: str, name: str, known: set[str], kinds: Collection[CheckKind]
) -> CheckResult:
    __tracebackhide__ = True
    judged_here = {item.check_id: item for item in found.checks if item.kind in kinds}
    if name not in known | judged_here.keys():
        fail(unknown(word, name, known | judged_here.keys()))
    if name not in judged_here:
        listed = ", ".join(sorted(judged_here)) or "none"
        fail(
            f"the {word} {name} was not judged in the last run; judged were: {listed}"
            f"\n{found.describe()}"
        )
    return judged_here[name]


def _hold(
    found: Judged,
    named: CheckResult | None,
    outcomes: Collection[Outcome],
    verb: str,
    failed_rows: int | None,
) -> None:
    __tracebackhide__ = True
    if named is None:
        if failed_rows is not None:
            raise WrongArgument(
                method="the assertion",
                given="failed_rows without a rule",
                call=f'assert_blocked(lake, "{found.run.dataset}", rule="…", failed_rows=…)',
            )
        return
    if named.outcome not in outcomes:
        fail(f"{named.check_id} did not {verb}\n{check_line(named)}\n{found.describe()}")
    if failed_rows is not None and named.failed_rows != failed_rows:
        broken = "none was counted" if named.failed_rows is None else f"it was {named.failed_rows}"
        wanted = counted(failed_rows, "row")
        fail(f"{named.check_id} was expected to fail for {wanted}, {broken}\n{found.describe()}")
