"""Suggest rules for a published dataset from its profile, tested on its last versions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field

from lakeguard.gate.evaluation.case import EarlierVersion, History
from lakeguard.gate.grammar.grammar_error import GrammarError
from lakeguard.gate.rules.parse import read_rule
from lakeguard.gate.typecheck.checks import history_depth
from lakeguard.insight.suggestions import (
    Answers,
    Earlier,
    OtherKey,
    ProfileFacts,
    Suggestion,
    Trial,
    VersionResult,
    drafts,
    passing,
    required_measures,
    result_on,
    suggestion,
    tried,
)
from lakeguard.promotion.deciding.measure_history import led_to
from lakeguard.services.profile_version import Working, profile_of
from lakeguard_sdk.client import Client, remeasure
from lakeguard_sdk.core.dataset_name import Address, DatasetName
from lakeguard_sdk.core.enums import Outcome
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.errors import VersionUnreadable
from lakeguard_sdk.expressions.conditions import ColumnRef
from lakeguard_sdk.expressions.measures import (
    Aggregate,
    AggregateFunction,
    Measure,
    MeasureValue,
    measure_key,
)
from lakeguard_sdk.model.definitions import DatasetDefinition
from lakeguard_sdk.model.history import Remeasured
from lakeguard_sdk.model.profile import ColumnProfile, Profile
from lakeguard_sdk.model.read_models import VersionRow
from lakeguard_sdk.types.schema import TIMES, TableSchema

OF_A_RUN = ("rows", "age", "gaps")
"""Subjects of rules about the rows of one run; other rules must hold for the whole table."""


class Suggested(FrozenModel):
    """Suggestions for a version, unordered."""

    dataset: DatasetName
    version: int
    rows: int
    versions: tuple[int, ...]
    """Versions each suggestion was tested on, the published one first."""
    suggestions: tuple[Suggestion, ...]


def rules_for(
    client: Client,
    dataset: DatasetName,
    count: int,
    progress: Callable[[str], None],
    working: Working = nullcontext,
) -> Suggested:
    """Drafts that the published version satisfies, tested on the last ``count`` versions."""
    profile = profile_of(client, Address(dataset=dataset), working=working)
    definition = client.reader.definition(profile.dataset)
    chain = _chain(client, profile)
    versions = chain[:count]
    remeasurer = Remeasurer(client, definition.dataset)
    progress("draft")
    facts = _profile_facts(remeasurer, definition, profile, versions)
    progress(f"remeasure v{versions[0].version}")
    trials = tried(drafts(facts), facts.table_schema)
    found = list(remeasurer.passing(trials, chain))
    past = []
    for at in range(1, len(versions)):
        progress(f"remeasure v{versions[at].version}")
        past.append(remeasurer.results([trial for trial, _ in found], chain[at:]))
    return Suggested(
        dataset=definition.dataset,
        version=profile.version,
        rows=profile.rows,
        versions=tuple(row.version for row in versions),
        suggestions=tuple(
            suggestion(trial.draft, [result_now, *(each[at] for each in past)])
            for at, (trial, result_now) in enumerate(found)
        ),
    )


def _profile_facts(
    remeasurer: Remeasurer,
    definition: DatasetDefinition,
    profile: Profile,
    versions: Sequence[VersionRow],
) -> ProfileFacts:
    columns = _declared(profile, definition)
    return ProfileFacts(
        table_schema=definition.table_schema,
        rows=profile.rows,
        columns=columns,
        at=versions[0].promoted_at,
        keys=(definition.load.keys,) if definition.load.keys else (),
        rules=definition.rules,
        others=tuple(_other_keys(remeasurer.client, definition)),
        versions=tuple(remeasurer.earlier(row, columns) for row in versions),
    )


def _chain(client: Client, profile: Profile) -> list[VersionRow]:
    """The published version, then its predecessors; versions undone by a rollback are left out."""
    rows = {row.version: row for row in client.reader.versions(profile.dataset)}
    moves = client.reader.pointer_moves(profile.dataset)
    # the pointer may have moved since the profile was computed
    last = max(at for at, move in enumerate(moves) if move.version == profile.version)
    return [rows[version] for version in reversed(led_to(moves[: last + 1]))]


def _declared(profile: Profile, definition: DatasetDefinition) -> tuple[ColumnProfile, ...]:
    """Profiles of columns declared now; columns written by the load need no rules."""
    known = {(column.name, column.type) for column in definition.declared.columns}
    return tuple(column for column in profile.columns if (column.column, column.type) in known)


@dataclass(frozen=True)
class Remeasurer:
    """Measures versions of one dataset. A chain is a version followed by its predecessors."""

    client: Client
    dataset: DatasetName
    _looked_at: dict[int, dict[str, MeasureValue]] = field(default_factory=dict)
    """By version, the measures used by rules that compare with earlier versions."""

    def passing(
        self, trials: Sequence[Trial], chain: Sequence[VersionRow]
    ) -> Iterator[tuple[Trial, VersionResult]]:
        """Trials that hold, in order."""
        for part, answers in self._parts(trials, chain):
            yield from passing(part, answers)

    def results(self, trials: Sequence[Trial], chain: Sequence[VersionRow]) -> list[VersionResult]:
        """Outcome of each trial on an earlier version; an error if its files are removed."""
        try:
            found = {
                trial.draft.rule: result_on(trial, answers)
                for part, answers in self._parts(trials, chain)
                for trial in part
            }
        except VersionUnreadable as error:
            gone = VersionResult(
                version=chain[0].version, outcome=Outcome.ERROR, message=str(error)
            )
            return [gone for _ in trials]
        return [found[trial.draft.rule] for trial in trials]

    def earlier(self, row: VersionRow, columns: Sequence[ColumnProfile]) -> Earlier:
        """Row count of the version's run, and its newest times."""
        asked = {
            column.column: Aggregate(
                function=AggregateFunction.MAX,
                column=ColumnRef(name=column.column, type=column.type),
            )
            for column in columns
            if column.type in TIMES and not column.masked
        }
        try:
            found = self._remeasure(row, tuple(asked.values()), whole=False)[0].values
        except VersionUnreadable:
            found = {}
        newest = {name: found.get(measure_key(measure)) for name, measure in asked.items()}
        return Earlier(version=row.version, at=row.promoted_at, rows=row.row_count, greatest=newest)

    def _parts(
        self, trials: Sequence[Trial], chain: Sequence[VersionRow]
    ) -> Iterator[tuple[list[Trial], Answers]]:
        for whole in (True, False):
            part = [trial for trial in trials if (trial.draft.about not in OF_A_RUN) is whole]
            if part:
                yield part, self._answers(part, chain, whole=whole)

    def _answers(
        self, trials: Sequence[Trial], chain: Sequence[VersionRow], *, whole: bool
    ) -> Answers:
        row, *before = chain
        found, schema = self._remeasure(row, required_measures(trials), whole=whole)
        return Answers(
            version=row.version,
            schema=schema,
            rows=found.rows,
            values=found.values,
            unmeasured=found.unmeasured,
            at=row.promoted_at,
            history=self._history(trials, before),
        )

    def _history(self, trials: Sequence[Trial], before: Sequence[VersionRow]) -> History:
        """History for rules that compare with earlier versions, up to the first removed one."""
        reach = max((history_depth(trial.compiled.check) for trial in trials), default=0)
        looking = [trial for trial in trials if history_depth(trial.compiled.check)]
        found: list[EarlierVersion] = []
        try:
            for row in before[:reach]:
                values = self._values(row, required_measures(looking))
                found.append(EarlierVersion(version=row.version, at=row.promoted_at, values=values))
        except VersionUnreadable:
            pass
        return History(versions=tuple(found))

    def _values(self, row: VersionRow, measures: Sequence[Measure]) -> dict[str, MeasureValue]:
        """Cached: each measure is taken once per version."""
        known = self._looked_at.setdefault(row.version, {})
        missing = [measure for measure in measures if measure_key(measure) not in known]
        if missing:
            values = self._remeasure(row, missing, whole=False)[0].values
            known.update({key: values.get(key) for key in map(measure_key, missing)})
        return {key: known[key] for key in map(measure_key, measures)}

    def _remeasure(
        self, row: VersionRow, measures: Sequence[Measure], *, whole: bool
    ) -> tuple[Remeasured, TableSchema]:
        """With ``whole``, all rows of the table count as rows of the run."""
        plan = self.client.history.remeasure_plan(self.dataset, row.version, measures)
        if whole:
            plan = plan.model_copy(update={"rows": row.table_rows})
        return remeasure(plan, self.client.reader), plan.table_schema


# Candidate foreign keys: keys of other datasets.


def _other_keys(client: Client, definition: DatasetDefinition) -> Iterator[OtherKey]:
    """Single-column keys, each column name from one dataset, preferably of the same layer.

    Unpublished datasets and descendants of this one are left out.
    """
    known = {item.dataset: item for item in client.registry.definitions().datasets}
    shown = {row.dataset.dataset_name for row in client.reader.status() if row.published}
    layer = definition.dataset.layer
    taken: set[str] = set()
    for name in sorted(shown, key=lambda name: (name.layer is not layer, name)):
        other = known.get(name)
        if other is None or not other.active or _descends_from(name, definition.dataset, known):
            continue
        for column in sorted(_keys(other) - taken):
            data_type = other.table_schema.type_of(column)
            if data_type is not None:
                taken.add(column)
                yield OtherKey(dataset=name, column=column, type=data_type)


def _descends_from(
    name: DatasetName, origin: DatasetName, known: Mapping[DatasetName, DatasetDefinition]
) -> bool:
    """Whether it is the dataset itself or a descendant."""
    seen: set[DatasetName] = set()
    left = [name]
    while left:
        one = left.pop()
        if one == origin:
            return True
        if one not in seen and one in known:
            seen.add(one)
            left.extend(known[one].parents)
    return False


def _keys(definition: DatasetDefinition) -> set[str]:
    keys = set(definition.load.keys if len(definition.load.keys) == 1 else ())
    for rule in definition.rules:
        try:
            read = read_rule(rule.expression).rule
        except GrammarError:
            continue
        whole = read.where is None and read.fail_if is None and read.warn_if is None
        if rule.active and read.rule_type == "unique" and len(read.columns) == 1 and whole:
            keys.add(read.columns[0])
    return keys
