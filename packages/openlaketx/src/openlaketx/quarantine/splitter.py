"""The sieve of a run: rows that fail a rule leave what is staged, and it knows which they were."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from pyspark.sql import SparkSession

from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.errors import LoadFailed
from lakeguard_sdk.expressions.conditions import (
    And,
    Call,
    ColumnRef,
    Condition,
    Function,
    InSet,
    Matches,
    Not,
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
    KEPT_COLUMNS,
    AsideFile,
    SetAside,
)
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.storage import fault_points
from lakeguard_sdk.storage.run_folders import kept_place
from lakeguard_sdk.storage.storage import Storage, join, local_path
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.extract.files.file_order import PLACE
from openlaketx.loads import (
    Existing,
    Loaded,
    Sifted,
    carries_time,
    merges,
    refuse_emptied_window,
)
from openlaketx.loads.keyed_changes import DELETIONS
from openlaketx.measure import (
    Measured,
    Subject,
    how_to_measure,
    referenced_rows,
    take_measures,
)
from openlaketx.quarantine.files import KeptFiles
from openlaketx.quarantine.find_rows import Failing, NotFound, failing_rows
from openlaketx.quarantine.rewrite import split
from openlaketx.quarantine.row_bitmap import MarkedRows
from openlaketx.stage import Candidate

_SIFTED, _LEFT_OUT = "sifted", "left-out"


class Sieve:
    """What remains holds no row of the batch that fails; what was kept out is on disk by then.

    ``unmeasured`` has the measures by which no row could be told, with the reason.
    """

    def __init__(
        self, plan: RunPlan, lake: str, storage: Storage, session: SparkSession | None
    ) -> None:
        self._plan = plan
        self._lake = lake
        self._storage = storage
        self._session = session
        self._how = how_to_measure(plan)
        _refuse_names(plan)
        self._files: list[AsideFile] = []
        self._before: dict[str, MeasureValue] = {}
        self._splits = 0
        self.unmeasured: dict[str, str] = {}

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self._files)

    @property
    def set_aside(self) -> SetAside | None:
        if not self._files:
            return None
        return SetAside(rows=self.rows, files=tuple(self._files), before=self._before)

    def sift(self, staged: Candidate, schema: TableSchema, existing: Existing) -> Sifted:
        """A batch that has not met its table: what fails is kept out first, until nothing does.

        Rows that are staged once more, with their ``PLACE``, were kept out the first time.
        """
        asked, known = self._asked(), len(self._files)
        again, kept = _has_place(schema, self._plan), staged
        while asked and kept.files:
            subject = self._incoming(kept, schema, existing)
            measures = [measure for pair in asked.values() for measure in pair]
            measured = take_measures(measures, subject, self._how, self._session)
            if not again:
                self._remember(asked, measured)
            failing = self._failing({at: pair[0] for at, pair in asked.items()}, measured, subject)
            if not failing:
                break
            if not again:
                self._tell_before(failing, subject)
            kept = self._split(kept, failing, schema, again=again)
        if carries_time(self._plan):
            every = {file.path: MarkedRows(file.rows) for file in kept.files}
            kept = self._split(kept, every, _without_time(schema), again=again)
        return Sifted(kept, tuple(join(self._lake, file.path) for file in self._files[known:]))

    def sift_loaded(self, loaded: Loaded, subject: Subject, measured: Measured) -> Loaded | None:
        """A load that adds what was staged, without the rows that fail; None where none does."""
        if not self._plan.aside or merges(self._plan):
            return None
        rules = {at: rule.failed for at, rule in enumerate(self._plan.aside)}
        asked = {at: (rule.failed, rule.scope) for at, rule in enumerate(self._plan.aside)}
        self._remember(asked, measured)
        failing = self._failing(rules, measured, subject)
        if not failing:
            return None
        left = loaded.rows - sum(rows.rows for rows in failing.values())
        refuse_emptied_window(self._plan, left, loaded.changes)
        self._tell_before(failing, subject, measured)
        kept = self._split(loaded.arrived, failing, self._plan.table_schema)
        return loaded.sifted(kept)

    def _asked(self) -> dict[int, tuple[AnyMeasure, AnyMeasure]]:
        """By the number of the rule, what is asked of a batch that has not met its table."""
        load = self._plan.load
        if not merges(self._plan):
            return {at: (rule.failed, rule.scope) for at, rule in enumerate(self._plan.aside)}
        return {
            at: (of_incoming(rule.failed, load), of_incoming(rule.scope, load))
            for at, rule in enumerate(self._plan.aside)
        }

    def _remember(
        self, asked: Mapping[int, tuple[AnyMeasure, AnyMeasure]], measured: Measured
    ) -> None:
        """The batch as it was at first, under the keys that its rules are known by."""
        for at, pair in asked.items():
            rule = self._plan.aside[at]
            for own, taken in zip((rule.failed, rule.scope), map(measure_key, pair), strict=True):
                if taken in measured.values:
                    self._before.setdefault(measure_key(own), measured.values[taken])
                else:
                    reason = measured.unmeasured.get(taken, "it was not asked for")
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
        keys = {at: measure_key(self._plan.aside[at].failed) for at in counted}
        try:
            failing = failing_rows(counted, subject, self._how, self._session)
        except NotFound as error:
            self.unmeasured |= dict.fromkeys(keys.values(), str(error))
            return {}
        lost = {keys[at]: told for at, told in _lost(counted, failing, measured, subject)}
        self.unmeasured |= lost
        return {} if lost else failing

    def _tell_before(
        self, failing: Failing, subject: Subject, measured: Measured | None = None
    ) -> None:
        """What is to be known of the batch while it still has these rows."""
        if self._files:
            self._add_to_before(failing)
            return
        asked = patterns_of(self._plan, subject.schema)
        if not asked:
            return
        taken = measured or take_measures(asked, subject, self._how, self._session)
        for key in map(measure_key, asked):
            if key in taken.values:
                self._before[key] = taken.values[key]
            else:
                self.unmeasured[key] = taken.unmeasured.get(key, "it was not asked for")

    def _add_to_before(self, failing: Failing) -> None:
        """Rows that fail only since others are gone, as children do whose parents are."""
        for at, rule in enumerate(self._plan.aside):
            more = sum(rows.of(at) for rows in failing.values())
            if more:
                key = measure_key(rule.failed)
                self._before[key] = int(self._before.get(key) or 0) + more

    def _split(
        self, staged: Candidate, failing: Failing, schema: TableSchema, *, again: bool = False
    ) -> Candidate:
        """What remains; the rest is on disk, unless that was done before."""
        plan = self._plan
        self._splits += 1
        place = kept_place(self._lake, plan.dataset, plan.batch_schema, plan.ticket.run_id)
        left_out = join(plan.location, plan.staging, _LEFT_OUT)
        with KeptFiles(
            folder=Path(local_path(left_out if again else place)),
            stem=f"part-{self._splits:02d}",
            run_id=plan.ticket.run_id,
            rules=plan.aside,
            columns=plan.batch_schema.names,
            now=plan.as_of or datetime.now(UTC),
        ) as aside:
            folder = f"{_SIFTED}-{self._splits}"
            kept = split(staged, failing, schema, plan, self._storage, aside, folder)
        if not again:
            self._files += self._durable(aside)
            fault_points.reached("aside.written")
        return kept

    def _durable(self, aside: KeptFiles) -> Iterable[AsideFile]:
        """Every file, and every folder from the lake down that names one."""
        root = Path(local_path(self._lake))
        for number, (place, rows, first_seen) in aside.found.items():
            self._storage.make_durable(str(place))
            facts = self._storage.facts(str(place))
            yield AsideFile(
                rule_id=self._plan.aside[number].rule_id,
                path=place.relative_to(root).as_posix(),
                size=facts.size,
                rows=rows,
                modified_ms=facts.modified_ms,
                sha256=self._storage.sha256(str(place)),
                first_seen=first_seen,
            )
        if aside.found:
            for folder in aside.folder.relative_to(root).parents:
                self._storage.make_durable(str(root / folder))

    def _incoming(self, staged: Candidate, schema: TableSchema, existing: Existing) -> Subject:
        shown = [file.path for file in staged.files] + list(existing.files)
        told = existing.partitions.items()
        lacking = {path: values for path, values in told if values and not written_whole(path)}
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


def _refuse_names(plan: RunPlan) -> None:
    """A row that is kept has columns of its own."""
    taken = sorted(name for name in plan.batch_schema.names if name.casefold() in KEPT_COLUMNS)
    if taken and plan.aside:
        raise LoadFailed(
            dataset=plan.dataset,
            reason=f"a rule sets rows aside, which have a column {taken[0]} of their own:"
            " give the dataset's column another name",
        )


def _has_place(schema: TableSchema, plan: RunPlan) -> bool:
    """Whether the rows come with the place of their file, which is no column of the dataset."""
    return PLACE in schema.names and PLACE not in plan.batch_schema.names


def _lost(
    rules: Mapping[int, AnyMeasure], failing: Failing, measured: Measured, subject: Subject
) -> Iterator[tuple[int, str]]:
    """Rules of which other rows were found than were counted; of a count over the table, only the
    batch's are to be found."""
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


# What a batch is asked before rows are set aside.


def of_incoming(measure: AnyMeasure, load: Load) -> AnyMeasure:
    """The measure over the rows of the batch alone, without those that delete their key: all that
    such a row says is its key."""
    changed: dict[str, object] = {}
    if hasattr(measure, "scope"):
        changed["scope"] = Scope.BATCH
    if load.operation and "where" in type(measure).model_fields:
        where: Condition | None = getattr(measure, "where", None)
        told = _is_told(load.operation)
        changed["where"] = told if where is None else And(items=(told, where))
    return measure.model_copy(update=changed) if changed else measure


def patterns_of(plan: RunPlan, schema: TableSchema) -> list[AnyMeasure]:
    """What the run counts by patterns of columns that the batch has: a value that is forbidden is
    not to be kept either."""
    found: list[AnyMeasure] = []
    for measure in plan.measures:
        match measure:
            case SampleMatches(column=ColumnRef(name=name)):
                asked = name
            case CountIf(condition=Matches(of=ColumnRef(name=name))):
                asked = name
            case _:
                continue
        if asked in schema.names:
            found.append(measure)
    return found


def _is_told(operation: str) -> Condition:
    column = ColumnRef(name=operation, type="string")
    trimmed = Call(function=Function.TRIM, arguments=(column,), type="string")
    said = Call(function=Function.LOWER, arguments=(trimmed,), type="string")
    values = tuple(Value(type="string", text=word) for word in DELETIONS)
    return Not(item=InSet(of=said, values=values))
