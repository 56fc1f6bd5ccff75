"""Two runs of one dataset, side by side, as the ledger has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from lakeguard.insight.comparison.run_cases import brought, changed_files, run_case
from lakeguard.insight.comparison.since import RunCase, differences
from lakeguard.ledger.decisions import decision_of_run
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import CheckKind, RunStatus
from lakeguard_sdk.errors import NotComparable
from lakeguard_sdk.model.decision import CheckResult, Decision
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.read_models import RunRow
from lakeguard_sdk.model.run_comparison import (
    CheckPair,
    Difference,
    RunSide,
    SideBySide,
    Subject,
)

Key = tuple[CheckKind, str]


def side_by_side(tx: Transaction, before: RunRow, after: RunRow) -> SideBySide:
    """What each was given and came to; NotComparable where they are of two datasets."""
    if before.dataset_id != after.dataset_id:
        raise NotComparable(
            before=before.run_id,
            after=after.run_id,
            dataset=before.dataset,
            other=after.dataset,
        )
    old, new = (_case(tx, run) for run in (before, after))
    made = [decision_of_run(tx, run.run_id, run.dataset) for run in (before, after)]
    files = changed_files(tx, after.dataset_id, old, new)
    return SideBySide(
        dataset=after.dataset,
        before=_side(before, made[0]),
        after=_side(after, made[1]),
        figures=tuple(_figures(old.evidence, new.evidence)),
        differences=tuple(differences(old, new)),
        new_files=files.new,
        changed_files=files.changed,
        gone_files=files.gone,
        checks=_pairs(_checks(made[0]), _checks(made[1])),
    )


def _case(tx: Transaction, run: RunRow) -> RunCase:
    """A promoted run with what it accepted of the data's columns, as its version has them."""
    case = run_case(tx, run)
    if run.status is not RunStatus.SUCCESS:
        return case
    return replace(case, definition=brought(tx, run, case.definition))


def _side(run: RunRow, decision: Decision | None) -> RunSide:
    return RunSide(
        run_id=run.run_id,
        status=run.status,
        ended_at=run.end_time,
        version=run.version,
        verdict=decision.ruling.verdict if decision else None,
    )


def _figures(before: Evidence | None, after: Evidence | None) -> Iterator[Difference]:
    """All numbers of either run, differing ones first."""
    old, new = _numbers(before), _numbers(after)
    names = [*old, *(name for name in new if name not in old)]
    for name in sorted(names, key=lambda name: old.get(name) == new.get(name)):
        yield Difference(
            subject=Subject.FIGURE, name=name, before=old.get(name), after=new.get(name)
        )


def _numbers(evidence: Evidence | None) -> dict[str, str]:
    if evidence is None:
        return {}
    counts = {"rows": evidence.rows, "table rows": evidence.table_rows}
    if evidence.changes is not None:
        counts |= evidence.changes.to_data()
    counts |= {"malformed": evidence.rejected, "files": len(evidence.files)}
    if evidence.quarantined is not None:
        counts["quarantined"] = evidence.quarantined.rows
    return {name: f"{count:,}" for name, count in counts.items()}


def _checks(decision: Decision | None) -> dict[Key, CheckResult]:
    checks = decision.ruling.checks if decision else ()
    return {(check.kind, check.check_id): check for check in checks}


def _pairs(
    before: Mapping[Key, CheckResult], after: Mapping[Key, CheckResult]
) -> tuple[CheckPair, ...]:
    keys = [*after, *(key for key in before if key not in after)]
    pairs = [
        CheckPair(kind=kind, check_id=name, before=before.get(key), after=after.get(key))
        for key in keys
        for kind, name in [key]
    ]
    return tuple(sorted(pairs, key=lambda pair: pair.same))
