"""Rules for a published dataset: drafted from its profile, held against its last versions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lakeguard.cli.other_keys import other_keys
from lakeguard.cli.profiling import profile_of
from lakeguard.gate.case import EarlierVersion, History
from lakeguard.gate.judgement import looks_back
from lakeguard.insight.suggesting import (
    Answers,
    Earlier,
    Held,
    Seen,
    Suggestion,
    Trial,
    asked_measures,
    drafts,
    held,
    kept,
    suggestion,
    tried,
)
from lakeguard_sdk.client import Client, survey
from lakeguard_sdk.definition import DatasetDefinition
from lakeguard_sdk.expression import ColumnRef
from lakeguard_sdk.measure import Aggregate, AggregateFunction, Measure, measure_key
from lakeguard_sdk.memory_errors import VersionUnreadable
from lakeguard_sdk.names import Address, DatasetName
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.profile import ColumnProfile, Profile
from lakeguard_sdk.reading import VersionRow
from lakeguard_sdk.schema import TIMES, TableSchema
from lakeguard_sdk.survey import Surveyed
from lakeguard_sdk.words import Outcome

OF_A_RUN = ("rows", "age", "gaps")
"""What rules say of the rows that a run brings; all others must hold for every row there is."""


class Suggested(Noun):
    """What there is to suggest for a version, in no order."""

    dataset: DatasetName
    version: int
    rows: int
    versions: tuple[int, ...]
    """The versions that each suggestion was held against, the published one first."""
    suggestions: tuple[Suggestion, ...]


def rules_for(
    client: Client, dataset: DatasetName, count: int, tell: Callable[[str], None]
) -> Suggested:
    """Every draft that the published version keeps, with what the last ``count`` say of it."""
    profile = profile_of(client, Address(dataset=dataset))
    definition = client.reader.definition(profile.dataset)
    versions = _last(client.reader.versions(profile.dataset), profile.version, count)
    surveyor = Surveyor(client, definition.dataset)
    tell("draft")
    seen = _seen(surveyor, definition, profile, versions)
    tell(f"survey v{versions[0].version}")
    trials = tried(drafts(seen), seen.table_schema)
    found = list(surveyor.kept(trials, *versions[:2]))
    past = []
    for at in range(1, len(versions)):
        tell(f"survey v{versions[at].version}")
        past.append(surveyor.held([trial for trial, _ in found], *versions[at : at + 2]))
    return Suggested(
        dataset=definition.dataset,
        version=profile.version,
        rows=profile.rows,
        versions=tuple(row.version for row in versions),
        suggestions=tuple(
            suggestion(trial.draft, [told, *(each[at] for each in past)])
            for at, (trial, told) in enumerate(found)
        ),
    )


def _seen(
    surveyor: Surveyor,
    definition: DatasetDefinition,
    profile: Profile,
    versions: Sequence[VersionRow],
) -> Seen:
    columns = _declared(profile, definition)
    return Seen(
        table_schema=definition.table_schema,
        rows=profile.rows,
        columns=columns,
        at=versions[0].promoted_at,
        keys=(definition.load.keys,) if definition.load.keys else (),
        rules=definition.rules,
        others=tuple(other_keys(surveyor.client, definition)),
        versions=tuple(surveyor.earlier(row, columns) for row in versions),
    )


def _last(rows: Sequence[VersionRow], published: int, count: int) -> list[VersionRow]:
    """The published one, then those before it; what came after a rollback says nothing."""
    shown = sorted((row for row in rows if row.version <= published), key=lambda row: -row.version)
    return shown[:count]


def _declared(profile: Profile, definition: DatasetDefinition) -> tuple[ColumnProfile, ...]:
    """Columns as they are declared now; what the load writes needs no rules."""
    known = {(column.name, column.type) for column in definition.declared.columns}
    return tuple(column for column in profile.columns if (column.column, column.type) in known)


@dataclass(frozen=True)
class Surveyor:
    """Asks versions of one dataset."""

    client: Client
    dataset: DatasetName

    def kept(
        self, trials: Sequence[Trial], row: VersionRow, before: VersionRow | None = None
    ) -> Iterator[tuple[Trial, Held]]:
        """Those that hold, in their order."""
        for part, answers in self._parts(trials, row, before):
            yield from kept(part, answers)

    def held(
        self, trials: Sequence[Trial], row: VersionRow, before: VersionRow | None = None
    ) -> list[Held]:
        """What each comes to on an earlier version; one that is gone says so."""
        try:
            found = {
                trial.draft.rule: held(trial, answers)
                for part, answers in self._parts(trials, row, before)
                for trial in part
            }
        except VersionUnreadable as error:
            gone = Held(version=row.version, outcome=Outcome.ERROR, message=str(error))
            return [gone for _ in trials]
        return [found[trial.draft.rule] for trial in trials]

    def earlier(self, row: VersionRow, columns: Sequence[ColumnProfile]) -> Earlier:
        """The rows that the run of a version brought, and the newest times among them."""
        asked = {
            column.column: Aggregate(
                function=AggregateFunction.MAX,
                column=ColumnRef(name=column.column, type=column.type),
            )
            for column in columns
            if column.type in TIMES and not column.masked
        }
        try:
            found = self._survey(row, tuple(asked.values()), whole=False)[0].values
        except VersionUnreadable:
            found = {}
        newest = {name: found.get(measure_key(measure)) for name, measure in asked.items()}
        return Earlier(version=row.version, at=row.promoted_at, rows=row.row_count, greatest=newest)

    def _parts(
        self, trials: Sequence[Trial], row: VersionRow, before: VersionRow | None
    ) -> Iterator[tuple[list[Trial], Answers]]:
        for whole in (True, False):
            part = [trial for trial in trials if (trial.draft.about not in OF_A_RUN) is whole]
            if part:
                yield part, self._answers(part, row, before, whole=whole)

    def _answers(
        self, trials: Sequence[Trial], row: VersionRow, before: VersionRow | None, *, whole: bool
    ) -> Answers:
        found, schema = self._survey(row, asked_measures(trials), whole=whole)
        return Answers(
            version=row.version,
            schema=schema,
            rows=found.rows,
            values=found.values,
            unmeasured=found.unmeasured,
            at=row.promoted_at,
            history=self._history(trials, before),
        )

    def _history(self, trials: Sequence[Trial], before: VersionRow | None) -> History:
        """What rules that look back compare with; nothing where that is gone."""
        looking = [trial for trial in trials if looks_back(trial.compiled.judgement)]
        if before is None or not looking:
            return History()
        try:
            found, _ = self._survey(before, asked_measures(looking), whole=False)
        except VersionUnreadable:
            return History()
        earlier = EarlierVersion(version=before.version, at=before.promoted_at, values=found.values)
        return History(versions=(earlier,))

    def _survey(
        self, row: VersionRow, measures: Sequence[Measure], *, whole: bool
    ) -> tuple[Surveyed, TableSchema]:
        """With ``whole`` every row that the version shows counts as one that its run brought."""
        plan = self.client.memory.survey_plan(self.dataset, row.version, measures)
        if whole:
            plan = plan.model_copy(update={"rows": row.table_rows})
        return survey(plan), plan.table_schema
