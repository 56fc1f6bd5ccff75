"""Splits the staged rows of a run into passing and quarantined rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import PurePosixPath

from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.conditions import (
    And,
    Call,
    ColumnRef,
    Condition,
    Function,
    InSet,
    Matches,
    Not,
    Or,
    Value,
)
from lakeguard_sdk.expressions.measures import (
    AnyMeasure,
    CountIf,
    MeasureValue,
    SampleMatches,
    measure_key,
)
from lakeguard_sdk.model.delta_log import written_whole
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.quarantine import (
    FIRST_SEEN,
    RULES,
    QuarantinedRows,
    StagedQuarantineFile,
)
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.storage import fault_points
from lakeguard_sdk.storage.run_folders import quarantine_run_folder
from lakeguard_sdk.storage.storage import Storage, below, join
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.engine.spark.session import Sessions
from openlaketx.extract.files.file_order import PLACE
from openlaketx.loads import (
    Existing,
    Loaded,
    SplitBatch,
    carries_time,
    merges,
    refuse_emptied_window,
)
from openlaketx.loads.keyed_changes import DELETIONS
from openlaketx.measure import (
    Measured,
    Subject,
    measure_options,
    referenced_rows,
    take_measures,
)
from openlaketx.quarantine.files import QuarantineFiles
from openlaketx.quarantine.find_rows import Failing, NotFound, failing_rows, holds_rows
from openlaketx.quarantine.rewrite import split
from openlaketx.quarantine.row_bitmap import RowBitmap
from openlaketx.stage import Candidate

_SIFTED, _LEFT_OUT = "sifted", "left-out"


class QuarantineSplitter:
    """The remaining rows of the batch fail no rule, and the quarantined rows are on disk.

    ``unmeasured`` holds the measures whose failing rows could not be determined, with the reason.
    """

    def __init__(
        self, plan: RunPlan, lake: str, storage: Storage, sessions: Sessions | None
    ) -> None:
        self._plan = plan
        self._lake = lake
        self._storage = storage
        self._sessions = sessions
        self._options = measure_options(plan)
        self._files: list[StagedQuarantineFile] = []
        self._before: dict[str, MeasureValue] = {}
        self._splits = 0
        self.unmeasured: dict[str, str] = {}

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self._files)

    @property
    def quarantined(self) -> QuarantinedRows | None:
        if not self._files:
            return None
        return QuarantinedRows(rows=self.rows, files=tuple(self._files), before=self._before)

    @property
    def finds_only_known(self) -> bool:
        """Whether the run quarantines nothing but rows that are in quarantine already, for the same
        rules; a run that reads everything must find all of them again."""
        new = [join(self._lake, file.path) for file in self._files]
        before = [join(self._lake, file.path) for file in self._plan.quarantined]
        there = [path for path in before if self._storage.exists(path)]
        whole = self._plan.watermark is None
        if not new or not there or (whole and self.rows != _rows_of(self._plan)):
            return not new
        return holds_rows(there, new, (*self._plan.batch_schema.names, RULES))

    def split_rows(self, staged: Candidate, schema: TableSchema, existing: Existing) -> SplitBatch:
        """Splits a batch before it is applied to its table, repeatedly until no row fails.

        Rows staged a second time, with their ``PLACE``, were already quarantined the first time.
        """
        measures, known = self._batch_measures(), len(self._files)
        again, passing = _has_place(schema, self._plan), staged
        while measures and passing.files:
            subject = self._incoming(passing, schema, existing)
            needed = [measure for pair in measures.values() for measure in pair]
            measured = self._taken(needed, subject)
            if not again:
                self._remember(measures, measured)
            failing = self._failing(
                {at: pair[0] for at, pair in measures.items()}, measured, subject
            )
            if not failing:
                break
            if not again:
                self._record_before(failing, subject)
            passing = self._split(passing, failing, schema, again=again)
        if carries_time(self._plan):
            every = {file.path: RowBitmap(file.rows) for file in passing.files}
            passing = self._split(passing, every, _without_time(schema), again=again)
        return SplitBatch(
            passing, tuple(join(self._lake, file.path) for file in self._files[known:])
        )

    @property
    def measures_of_load(self) -> list[AnyMeasure]:
        """The run's measures that decide whether rows of a load are quarantined. None if it merges:
        then its batch was split before."""
        if merges(self._plan):
            return []
        pairs = ((rule.failed, rule.scope) for rule in self._plan.quarantine_rules)
        keys = {measure_key(measure) for pair in pairs for measure in pair}
        return [measure for measure in self._plan.measures if measure_key(measure) in keys]

    def split_loaded(
        self,
        loaded: Loaded,
        subject: Subject,
        measured: Measured,
        confirm: Callable[[], None] = lambda: None,
    ) -> Loaded | None:
        """A load that adds the staged rows without the failing ones; None if none fails.

        ``measured`` are at least the ``measures_of_load``. ``confirm`` is called before files that
        have failing rows are replaced.
        """
        if not self._plan.quarantine_rules or merges(self._plan):
            return None
        rules = {at: rule.failed for at, rule in enumerate(self._plan.quarantine_rules)}
        measures = {
            at: (rule.failed, rule.scope) for at, rule in enumerate(self._plan.quarantine_rules)
        }
        self._remember(measures, measured)
        failing = self._failing(rules, measured, subject)
        if not failing:
            return None
        left = loaded.rows - sum(rows.rows for rows in failing.values())
        refuse_emptied_window(self._plan, left, loaded.changes)
        confirm()
        self._record_before(failing, subject, measured)
        passing = self._split(loaded.arrived, failing, self._plan.table_schema)
        return loaded.without_quarantined(passing)

    def _taken(self, measures: Sequence[AnyMeasure], subject: Subject) -> Measured:
        session = self._options.session(measures, subject, self._sessions)
        return take_measures(measures, subject, self._options, session)

    def _batch_measures(self) -> dict[int, tuple[AnyMeasure, AnyMeasure]]:
        """By rule number, the measure of a batch before it is applied to its table."""
        load = self._plan.load
        if not merges(self._plan):
            return {
                at: (rule.failed, rule.scope) for at, rule in enumerate(self._plan.quarantine_rules)
            }
        return {
            at: (of_incoming(rule.failed, load), of_incoming(rule.scope, load))
            for at, rule in enumerate(self._plan.quarantine_rules)
        }

    def _remember(
        self, measures: Mapping[int, tuple[AnyMeasure, AnyMeasure]], measured: Measured
    ) -> None:
        """Records the measures of the original batch, under the keys of its rules."""
        for at, pair in measures.items():
            rule = self._plan.quarantine_rules[at]
            for own, taken in zip((rule.failed, rule.scope), map(measure_key, pair), strict=True):
                if taken in measured.values:
                    self._before.setdefault(measure_key(own), measured.values[taken])
                else:
                    reason = measured.unmeasured.get(taken, "it was not requested")
                    self.unmeasured[measure_key(own)] = reason

    def _failing(
        self, rules: Mapping[int, AnyMeasure], measured: Measured, subject: Subject
    ) -> Failing:
        counted = {
            at: measure
            for at, measure in rules.items()
            if measured.values.get(measure_key(measure))
        }
        if not counted:
            return {}
        keys = {at: measure_key(self._plan.quarantine_rules[at].failed) for at in counted}
        try:
            failing = failing_rows(counted, subject, self._options, self._sessions)
        except NotFound as error:
            self.unmeasured |= dict.fromkeys(keys.values(), str(error))
            return {}
        lost = {keys[at]: why for at, why in _lost(counted, failing, measured, subject)}
        self.unmeasured |= lost
        return {} if lost else failing

    def _record_before(
        self, failing: Failing, subject: Subject, measured: Measured | None = None
    ) -> None:
        """Records statistics of the batch while it still has these rows."""
        if self._files:
            self._add_to_before(failing)
            return
        measures = patterns_of(self._plan, subject.schema)
        if not measures:
            return
        taken = measured or Measured("")
        known = taken.values.keys() | taken.unmeasured.keys()
        missing = [measure for measure in measures if measure_key(measure) not in known]
        taken = taken.joined(self._taken(missing, subject)) if missing else taken
        for key in map(measure_key, measures):
            if key in taken.values:
                self._before[key] = taken.values[key]
            else:
                self.unmeasured[key] = taken.unmeasured.get(key, "it was not requested")

    def _add_to_before(self, failing: Failing) -> None:
        """Adds rows that fail only after others were removed, such as children of removed
        parents."""
        for at, rule in enumerate(self._plan.quarantine_rules):
            more = sum(rows.of(at) for rows in failing.values())
            if more:
                key = measure_key(rule.failed)
                self._before[key] = int(self._before.get(key) or 0) + more

    def _split(
        self, staged: Candidate, failing: Failing, schema: TableSchema, *, again: bool = False
    ) -> Candidate:
        """The remaining rows; the others are written to disk unless that was done before."""
        plan = self._plan
        self._splits += 1
        place = quarantine_run_folder(
            self._lake, plan.dataset, plan.batch_schema, plan.ticket.run_id
        )
        left_out = join(plan.location, plan.staging, _LEFT_OUT)
        with QuarantineFiles(
            folder=left_out if again else place,
            stem=f"part-{self._splits:02d}",
            run_id=plan.ticket.run_id,
            rules=plan.quarantine_rules,
            columns=plan.batch_schema.names,
            now=plan.as_of or datetime.now(UTC),
        ) as files:
            folder = f"{_SIFTED}-{self._splits}"
            passing = split(staged, failing, schema, plan, self._storage, files, folder)
        if not again:
            self._files += self._durable(files)
            fault_points.reached("quarantine.written")
        return passing

    def _durable(self, files: QuarantineFiles) -> Iterable[StagedQuarantineFile]:
        """Syncs every file, and every folder from the lake root down to it."""
        for number, (place, rows, first_seen) in files.found.items():
            self._storage.make_durable(place)
            facts = self._storage.facts(place)
            yield StagedQuarantineFile(
                rule_id=self._plan.quarantine_rules[number].rule_id,
                path=below(place, self._lake),
                size=facts.size,
                rows=rows,
                modified_ms=facts.modified_ms,
                sha256=self._storage.sha256(place),
                first_seen=first_seen,
            )
        if files.found:
            for folder in PurePosixPath(below(files.folder, self._lake)).parents:
                self._storage.make_durable(join(self._lake, str(folder)))

    def _incoming(self, staged: Candidate, schema: TableSchema, existing: Existing) -> Subject:
        shown = [file.path for file in staged.files] + list(existing.files)
        partitions = existing.partitions.items()
        lacking = {
            path: values for path, values in partitions if values and not written_whole(path)
        }
        return Subject(
            staged,
            schema,
            tuple(shown),
            staged.rows + existing.rows,
            self._plan.proven,
            lacking,
            referenced_rows(self._plan, shown, lacking),
            sum(f.size for f in staged.files) + sum(f.size for f in existing.files.values()),
        )


def _rows_of(plan: RunPlan) -> int:
    return sum(file.rows for file in plan.quarantined)


def _has_place(schema: TableSchema, plan: RunPlan) -> bool:
    """Whether the rows carry the position in their file, which is not a column of the dataset."""
    return PLACE in schema.names and PLACE not in plan.batch_schema.names


def _lost(
    rules: Mapping[int, AnyMeasure], failing: Failing, measured: Measured, subject: Subject
) -> Iterator[tuple[int, str]]:
    """Rules whose failing rows do not match their count; for counts over the table, only rows of
    the batch can be found."""
    alone = subject.table_rows == subject.batch.rows
    for at, measure in rules.items():
        counted = int(measured.values[measure_key(measure)] or 0)
        found = sum(rows.of(at) for rows in failing.values())
        in_table = getattr(measure, "scope", Scope.BATCH) is Scope.TABLE and not alone
        if found > counted or (found < counted and not in_table):
            was = "was" if found == 1 else "were"
            yield at, f"{counted} rows fail, but {found} {was} found"


def _without_time(schema: TableSchema) -> TableSchema:
    return TableSchema(columns=tuple(c for c in schema.columns if c.name != FIRST_SEEN))


# Measures of a batch before rows are quarantined.


def of_incoming(measure: AnyMeasure, load: Load) -> AnyMeasure:
    """The measure over the rows of the batch, without delete rows: only their key is set."""
    changed: dict[str, object] = {}
    if hasattr(measure, "scope"):
        changed["scope"] = Scope.BATCH
    if load.operation and "where" in type(measure).model_fields:
        where: Condition | None = getattr(measure, "where", None)
        upserted = _is_upsert(load.operation)
        changed["where"] = upserted if where is None else And(items=(upserted, where))
    return measure.model_copy(update=changed) if changed else measure


def patterns_of(plan: RunPlan, schema: TableSchema) -> list[AnyMeasure]:
    """The run's pattern counts for columns of the batch: forbidden values must not be stored in
    quarantine either."""
    found: list[AnyMeasure] = []
    for measure in plan.measures:
        match measure:
            case SampleMatches(column=ColumnRef(name=name)):
                column = name
            case CountIf(condition=Or(items=(Matches(of=ColumnRef(name=name)), Matches()))):
                column = name
            case _:
                continue
        if column in schema.names:
            found.append(measure)
    return found


def _is_upsert(operation: str) -> Condition:
    column = ColumnRef(name=operation, type="string")
    trimmed = Call(function=Function.TRIM, arguments=(column,), type="string")
    lowered = Call(function=Function.LOWER, arguments=(trimmed,), type="string")
    values = tuple(Value(type="string", text=word) for word in DELETIONS)
    return Not(item=InSet(of=lowered, values=values))
