"""Back-tests: what a draft of rules would have made of the runs of the past."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, select

from lakeguard.insight.backtesting_cases import BLOCKING, Draft, finding
from lakeguard.insight.backtesting_hidden import Hidden
from lakeguard.insight.backtesting_past import Past
from lakeguard.insight.backtesting_tally import Tally
from lakeguard.insight.library import Library
from lakeguard.insight.replaying import RecordedCase, Replayer, case_of, recorded_decisions
from lakeguard.insight.run_facts import NO_BUILDS
from lakeguard.insight.surveying import survey_plan
from lakeguard.registry.store import RegisteredDataset, current_definition
from lakeguard.state.database import Database
from lakeguard.state.tables import decisions, task_attempts, tasks
from lakeguard_sdk.decision import CheckResult, Ruling
from lakeguard_sdk.definition import DatasetDefinition
from lakeguard_sdk.errors import VersionUnreadable
from lakeguard_sdk.evidence import Evidence
from lakeguard_sdk.measure import MeasureValue
from lakeguard_sdk.memory import Backtest, BacktestedRun, DraftFinding
from lakeguard_sdk.survey import Surveyed, SurveyPlan
from lakeguard_sdk.words import CheckKind, Outcome, Verdict

Survey = Callable[[SurveyPlan], Surveyed]
Progress = Callable[[str], None]
_TOLD_EVERY = 100


def backtest(
    database: Database,
    org_id: str,
    lake: str,
    draft: DatasetDefinition,
    since: datetime,
    survey: Survey | None = None,
    progress: Progress | None = None,
) -> Backtest:
    """Every decision of the draft's dataset that had evidence, made with the draft's rules.

    Facts, policies, waivers and the time are those of then. With a ``survey``, what a rule needs
    and the evidence lacks is measured of the version that the run published. A dataset that is
    not registered yet has no runs.
    """
    tally = Tally(draft.rules)
    with database.read() as connection:
        dataset = _registered(connection, org_id, draft)
        if dataset is None:
            return tally.answer(draft, None, since, scanned=survey is not None)
        past = Past.read(connection, database, org_id, dataset.dataset_id)
        hidden = Hidden.read(connection, past, dataset, draft)
    test = _Backtest(database, org_id, lake, Draft(draft), past, hidden, survey, dataset)
    for made, run in enumerate(test.runs(since), 1):
        tally.add(run.told, run.outcomes, run.unmeasured)
        if progress and made % _TOLD_EVERY == 0:
            progress(f"{made:,} runs decided again")
    return tally.answer(draft, dataset.definition, since, scanned=survey is not None)


def _registered(
    connection: Connection, org_id: str, draft: DatasetDefinition
) -> RegisteredDataset | None:
    """By its name, or by that which it has before the draft renames it."""
    names = (name for name in (draft.dataset, draft.renamed_from) if name is not None)
    found = (current_definition(connection, org_id, name) for name in names)
    return next((dataset for dataset in found if dataset is not None), None)


class _Told(NamedTuple):
    told: BacktestedRun
    outcomes: list[tuple[str, Outcome]]
    """Of every rule that was asked."""
    unmeasured: dict[str, str]


@dataclass(frozen=True)
class _Backtest:
    database: Database
    org_id: str
    lake: str
    draft: Draft
    past: Past
    hidden: Hidden
    survey: Survey | None
    dataset: RegisteredDataset

    def runs(self, since: datetime) -> Iterator[_Told]:
        library = Library(self.org_id)
        replayer = Replayer(library)
        built = (
            select(task_attempts.c.run_id)
            .join(tasks, tasks.c.task_id == task_attempts.c.task_id)
            .where(tasks.c.dataset_id == self.dataset.dataset_id, tasks.c.kind.not_in(NO_BUILDS))
        )
        rows = recorded_decisions(
            self.database,
            self.org_id,
            library,
            decisions.c.dataset_id == self.dataset.dataset_id,
            decisions.c.evidence_hash.is_not(None),
            decisions.c.decided_at >= since,
            decisions.c.run_id.in_(built),
        )
        for row in rows:
            case = replayer.case(case_of(row))
            if case.evidence is not None:
                yield self._run(row, case, case.evidence)

    def _run(self, row: Row[Any], case: RecordedCase, evidence: Evidence) -> _Told:
        version = self.past.version_of.get(row.run_id)
        unmeasured = self.draft.unmeasured(case, evidence.measures)
        if unmeasured and self.survey is not None:
            found, reasons = self._surveyed(case, version, unmeasured)
            evidence = evidence.model_copy(update={"measures": {**found, **evidence.measures}})
            unmeasured = self.draft.unmeasured(case, evidence.measures)
            unmeasured = {name: reasons.get(name, why) for name, why in unmeasured.items()}
        if version is not None:
            self.past.learn(version, evidence.measures)
        history = self.past.history(self.draft.rules, case, row.decided_at)
        ruling = self.draft.judge(case, evidence, history, row.decided_at, unmeasured)
        checks = [check for check in ruling.checks if check.kind is CheckKind.RULE]
        told = BacktestedRun(
            run_id=row.run_id,
            decided_at=row.decided_at,
            version=version,
            recorded=Verdict(row.verdict),
            drafted=ruling.verdict,
            rolled_back=version in self.past.rolled_back,
            findings=self._findings(row, case, checks),
            lifted=_lifted(row, {c.check_id for c in ruling.checks if c.outcome in BLOCKING}),
            unmeasured=tuple(sorted(unmeasured)),
        )
        outcomes = [(check.check_id, check.outcome) for check in checks]
        return _Told(told, outcomes, unmeasured)

    def _findings(
        self, row: Row[Any], case: RecordedCase, checks: Sequence[CheckResult]
    ) -> tuple[DraftFinding, ...]:
        failing = [check for check in checks if check.outcome in BLOCKING]
        if not failing:
            return ()
        with self.database.read() as connection:
            hidden = self.hidden.in_run(connection, row.run_id, case)
        return tuple(finding(check, hidden) for check in failing)

    def _surveyed(
        self, case: RecordedCase, version: int | None, rules: dict[str, str]
    ) -> tuple[dict[str, MeasureValue], dict[str, str]]:
        """Values that the evidence lacks; and by rule why it has none yet."""
        missing = self.draft.missing(case, rules)
        if version is None or self.survey is None or not missing:
            why = "the run published no version" if missing else ""
            return {}, dict.fromkeys(rules, why) if why else {}
        try:
            with self.database.read() as connection:
                plan = survey_plan(
                    connection, self.org_id, self.lake, self.dataset.name, version, missing
                )
            found = self.survey(plan)
        except VersionUnreadable as error:
            return {}, dict.fromkeys(rules, str(error))
        needs = self.draft.over(case.facts).needs
        reasons = {
            name: found.unmeasured[key]
            for name in rules
            for key in needs[name].measures
            if key in found.unmeasured
        }
        return found.values, reasons


def _lifted(row: Row[Any], blocking: set[str]) -> tuple[str, ...]:
    """Checks that blocked the run then, and do not with the draft."""
    if row.verdict == Verdict.ALLOWED.value:
        return ()
    checks = Ruling.from_json(row.ruling).checks
    stopped = {check.check_id for check in checks if check.outcome in BLOCKING}
    return tuple(sorted(stopped - blocking))
