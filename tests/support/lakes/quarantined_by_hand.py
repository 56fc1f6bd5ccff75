"""A data plane by hand that quarantines rows: one column of numbers under two rules."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lakeguard_sdk.client import Client
from lakeguard_sdk.core.enums import LoadType, SourceFormat
from lakeguard_sdk.expressions.measures import RowCount, measure_key
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromSource,
    PolicyDefinition,
    SourceDefinition,
)
from lakeguard_sdk.model.evidence import (
    Changes,
    Evidence,
    SourceFile,
    SourcePosition,
)
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.quarantine import QuarantineBuild, QuarantinedRows, StagedQuarantineFile
from lakeguard_sdk.model.run import Failure, RunPlan, RunResult
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.storage.run_folders import quarantine_run_folder
from lakeguard_sdk.storage.storage import below, join, readable_file, storage_for
from tests.support.lakes.lakes import DeltaLake, Lake
from tests.support.projects.definitions import rule
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import make_project
from tests.unit.gate.oracle import measured

NEGATIVE, LARGE = "a_negative", "b_large"
"""Ids of the rules."""
RULES = (
    rule("range(n, min=0) on_fail quarantine", rule_id=NEGATIVE),
    rule("range(n, max=99) on_fail quarantine", rule_id=LARGE),
)

BATCH_ROWS = measure_key(RowCount())
POSITION = SourcePosition(files=(SourceFile(path="numbers/1.csv", size=1, modified_ms=1),))


def failing(number: int) -> list[str]:
    """The rules that a number fails, in the order of their ids."""
    return [NEGATIVE] * (number < 0) + [LARGE] * (number > 99)


def definitions(
    load: LoadType | Load = LoadType.APPEND,
    policies: Sequence[PolicyDefinition] = (),
    **given: Any,
) -> Definitions:
    usual: dict[str, Any] = {
        "dataset": NUMBERS,
        "domain": "test",
        "owner": "tests",
        "build": FromSource(source="numbers"),
        "load": load,
        "columns": (ColumnDefinition(name="n", type="long"),),
        "rules": RULES,
    }
    source = SourceDefinition(source="numbers", format=SourceFormat.CSV, path="numbers/*.csv")
    dataset = DatasetDefinition(**{**usual, **given})
    return Definitions(sources=(source,), datasets=(dataset,), policies=tuple(policies))


@dataclass
class ByHand:
    """Runs the numbers dataset: what fails is quarantined, the rest is published."""

    client: Client
    lake: Lake = field(default_factory=DeltaLake)
    clock: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    _numbers: count[int] = field(default_factory=count)

    @classmethod
    def project(
        cls,
        folder: Path,
        load: LoadType | Load = LoadType.APPEND,
        policies: Sequence[PolicyDefinition] = (),
        **given: Any,
    ) -> ByHand:
        return cls(make_project(folder, definitions(load, policies, **given)))

    def open(self, task_id: str | None = None) -> RunPlan | RunResult:
        task_id = task_id or self.client.operations.submit(NUMBERS, "by hand")
        return self.client.runs.open_run(task_id, this_process("by hand"))

    def opened(self, task_id: str | None = None) -> RunPlan:
        plan = self.open(task_id)
        assert isinstance(plan, RunPlan), plan
        return plan

    def decide(
        self, plan: RunPlan, numbers: Sequence[int], unseen: int = 0, **changed: Any
    ) -> Decision:
        """``unseen`` rows of the batch change nothing in the table."""
        self.client.runs.submit_schema(plan.ticket, plan.batch_schema)
        found = self.evidence(plan, numbers)
        quarantined = found.quarantined
        if quarantined is not None and unseen:
            before = {**quarantined.before, BATCH_ROWS: len(numbers) + unseen}
            quarantined = quarantined.model_copy(update={"before": before})
        more = {"quarantined": quarantined, "batch": (found.batch or 0) + unseen}
        evidence = found.model_copy(update={**more, **changed})
        return self.client.runs.submit_evidence(plan.ticket, evidence)

    def run(self, numbers: Sequence[int], **changed: Any) -> RunResult:
        plan = self.opened()
        assert self.decide(plan, numbers, **changed).allowed
        return self.publish(plan)

    def replay(self, task_id: str, mended: Callable[[int], int] = abs) -> RunResult:
        """Every number that waits is read again, as whoever mended the rules would read it."""
        plan = self.opened(task_id)
        decision = self.decide(plan, [mended(n) for n in self.quarantined_in(plan)])
        assert decision.allowed, decision.ruling.reasons
        return self.publish(plan)

    def publish(self, plan: RunPlan) -> RunResult:
        commit = self.lake.publish(self.client.runs.begin_move(plan.ticket))
        return self.client.runs.complete_move(plan.ticket, commit)

    def fail(self, plan: RunPlan) -> RunResult:
        return self.client.runs.fail_run(plan.ticket, Failure(code="LG-5004", message="gone"))

    def quarantined_in(self, plan: RunPlan) -> list[int]:
        """The numbers in the files that a replay was given."""
        assert isinstance(plan.build, QuarantineBuild)
        found: list[int] = []
        for file in plan.build.files:
            table = self._read(file.path, "n")
            found += table["n"].to_pylist()
            assert table.num_rows == file.rows
        return found

    def evidence(self, plan: RunPlan, numbers: Sequence[int]) -> Evidence:
        """Of what is left, with what was quarantined beside it."""
        rest = [number for number in numbers if not failing(number)]
        full = plan.load.type is LoadType.FULL and plan.window is None
        had = [] if full or plan.base is None else self._had(plan)
        path = f"{plan.staging}/part.parquet"
        files = (self.lake.stage(plan.location, path, rest),) if rest else ()
        partition = dict.fromkeys(plan.partition_by, "1")
        files = tuple(file.model_copy(update={"partition": partition}) for file in files)
        live = self.lake.files(plan.location, plan.base.commit) if plan.base else ()
        plain = (LoadType.FULL, LoadType.APPEND)
        by_key = plan.window is not None or plan.load.type not in plain
        return Evidence(
            run_id=plan.ticket.run_id,
            dataset=plan.dataset,
            table_schema=plan.table_schema,
            rows=len(rest),
            table_rows=len(had) + len(rest),
            files=files,
            removes=live if full else (),
            base_commit=plan.base.commit if plan.base else None,
            measures=_measures(plan.measures, rest, [*had, *rest]),
            inputs=tuple(pin.input for pin in plan.pins),
            build_hash="sha256:0",
            engine="by hand",
            changes=Changes(inserted=len(rest)) if by_key else None,
            quarantined=self._quarantined(plan, numbers, had),
            batch=len(rest),
            position=None if isinstance(plan.build, QuarantineBuild) else POSITION,
        )

    def _had(self, plan: RunPlan) -> list[int]:
        assert plan.base is not None
        return sorted(self.lake.numbers(plan.location, plan.base.commit).elements())

    def _quarantined(
        self, plan: RunPlan, numbers: Sequence[int], had: Sequence[int]
    ) -> QuarantinedRows | None:
        by_rule: dict[str, list[int]] = {}
        for number in numbers:
            for rule_id in failing(number)[:1]:
                by_rule.setdefault(rule_id, []).append(number)
        if not by_rule:
            return None
        asked = [m for item in plan.quarantine_rules for m in (item.failed, item.scope)]
        files = tuple(self._file(plan, *item) for item in sorted(by_rule.items()))
        before = _measures(asked, numbers, [*had, *numbers])
        return QuarantinedRows(rows=sum(map(len, by_rule.values())), files=files, before=before)

    def _file(self, plan: RunPlan, rule_id: str, numbers: list[int]) -> StagedQuarantineFile:
        lake, run_id = self.client.lake, plan.ticket.run_id
        folder = quarantine_run_folder(lake, plan.dataset, plan.batch_schema, run_id)
        file, now = join(folder, f"{next(self._numbers):04d}.parquet"), self._first_seen(plan)
        written = pa.BufferOutputStream()
        pq.write_table(_kept(numbers, run_id, rule_id, now), written)
        content = written.getvalue().to_pybytes()
        storage_for(file).replace(file, content)
        facts = storage_for(file).facts(file)
        return StagedQuarantineFile(
            rule_id=rule_id,
            path=below(file, lake),
            size=facts.size,
            rows=len(numbers),
            modified_ms=facts.modified_ms,
            sha256=hashlib.sha256(content).hexdigest(),
            first_seen=now,
        )

    def _read(self, path: str, column: str) -> pa.Table:
        return pq.read_table(readable_file(join(self.client.lake, path)), columns=[column])

    def _first_seen(self, plan: RunPlan) -> datetime:
        """A replay makes no row younger."""
        if not isinstance(plan.build, QuarantineBuild):
            return self.clock()
        tables = (self._read(file.path, "lg_first_seen") for file in plan.build.files)
        return min(at for table in tables for at in table["lg_first_seen"].to_pylist())


def _measures(asked: Sequence[Any], numbers: Sequence[int], table: Sequence[int]) -> dict[str, Any]:
    rows, whole = [{"n": n} for n in numbers], [{"n": n} for n in table]
    return {measure_key(measure): measured(measure, rows, whole) for measure in asked}


def _kept(numbers: list[int], run_id: str, rule_id: str, now: datetime) -> pa.Table:
    many = len(numbers)
    return pa.table(
        {
            "n": pa.array(numbers, pa.int64()),
            "lg_run_id": pa.array([run_id] * many),
            "lg_rules": pa.array([[rule_id]] * many, pa.list_(pa.string())),
            "lg_reason": pa.array([rule_id] * many),
            "lg_first_seen": pa.array([now] * many, pa.timestamp("us", "UTC")),
        }
    )
