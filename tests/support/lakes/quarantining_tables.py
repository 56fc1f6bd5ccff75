"""A table whose rules quarantine rows, run without a control plane: it allows what it is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from lakeguard.gate.rules.compile import define_rule
from lakeguard.gate.rules.parse import parse_rule
from lakeguard.gate.rules.quarantine_rules import quarantine_rules
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import SourceFormat
from lakeguard_sdk.expressions.measures import measure_key
from lakeguard_sdk.model.evidence import Evidence, SourcePosition
from lakeguard_sdk.model.load import Load, batch_columns
from lakeguard_sdk.model.quarantine import QuarantinedRows, QuarantineRule
from lakeguard_sdk.model.run import RunResult, SourceBuild
from lakeguard_sdk.types.schema import TableSchema
from lakeguard_sdk.types.type_parser import parse_type
from openlaketx.worker import SparkWorker, create_worker
from tests.support.cases.arrow_types import arrow_of
from tests.support.lakes.plain_runs import PlainRuns
from tests.support.lakes.plans import schema

TABLE = DatasetName("bronze.things")
Row = dict[str, Any]


@dataclass
class SiftedTable:
    """Batches land as Parquet files; ``rules`` are texts by id, each with on_fail quarantine."""

    folder: Path
    load: Load
    columns: dict[str, str]
    rules: dict[str, str]
    partition_by: tuple[str, ...] = ()
    runs: PlainRuns = field(init=False)
    _numbers: count[int] = field(default_factory=lambda: count(1))
    _reads: list[SourcePosition | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        (self.folder / "in").mkdir(parents=True)
        build = SourceBuild(source="things", format=SourceFormat.PARQUET, path="in/*.parquet")
        self.runs = PlainRuns(
            self.folder, TABLE, self.declared, build, load=self.load, partition_by=self.partition_by
        )
        self.say(self.rules)

    @property
    def declared(self) -> TableSchema:
        return schema(**self.columns)

    @property
    def batch(self) -> TableSchema:
        return TableSchema(columns=batch_columns(self.load, self.declared.columns))

    def say(self, rules: dict[str, str]) -> None:
        """The rules from the next run on."""
        self.rules = rules
        self.runs.quarantine_rules = compiled(rules, self.declared)
        both = [
            measure for rule in self.runs.quarantine_rules for measure in (rule.failed, rule.scope)
        ]
        self.runs.measures = tuple({measure_key(item): item for item in both}.values())

    def land(self, *rows: Row, alone: bool = False) -> None:
        types = [(c.name, arrow_of(parse_type(c.type))) for c in self.batch.columns]
        if alone:
            for file in (self.folder / "in").iterdir():
                file.unlink()
        place = self.folder / "in" / f"{next(self._numbers):04d}.parquet"
        pq.write_table(pa.Table.from_pylist(list(rows), pa.schema(types)), place)

    def run(self, worker: SparkWorker | None = None) -> RunResult:
        worker = worker or create_worker(self.runs.client(), spark_options={})
        before = len(self.runs.evidence)
        result = worker.run_task("task")
        build, reported = self.runs.build, self.runs.evidence[before:]
        if result.version is not None and isinstance(build, SourceBuild) and reported[0].position:
            self._reads.append(reported[0].position)
            self.runs.continue_source(*self._reads)
        return result

    @property
    def evidence(self) -> Evidence:
        return self.runs.evidence[-1]

    @property
    def quarantined(self) -> QuarantinedRows:
        assert self.evidence.quarantined is not None
        return self.evidence.quarantined

    def before(self, rule: str) -> tuple[Any, Any]:
        """Failing rows and rows in scope of the batch as it came."""
        asked = next(item for item in self.runs.quarantine_rules if item.rule_id == rule)
        reported = self.quarantined.before
        return reported[measure_key(asked.failed)], reported[measure_key(asked.scope)]

    def left(self, rule: str) -> Any:
        """Failing rows of what is to be published."""
        asked = next(item for item in self.runs.quarantine_rules if item.rule_id == rule)
        return self.evidence.measures[measure_key(asked.failed)]

    def kept(self) -> pa.Table:
        """All rows that the last run quarantined, as their files hold them."""
        files = [pq.read_table(self.folder / file.path) for file in self.quarantined.files]
        return pa.concat_tables(files)

    def filed(self, column: str = "id") -> dict[str, list[Any]]:
        """Values of a column by the rule that its rows are filed under, sorted."""
        found: dict[str, list[Any]] = {}
        for file in self.quarantined.files:
            reported = pq.read_table(self.folder / file.path).column(column).to_pylist()
            assert len(reported) == file.rows
            found[file.rule_id] = sorted([*found.get(file.rule_id, []), *reported], key=repr)
        return found

    def shown(self, *columns: str) -> list[Any]:
        """Rows of the published table, sorted; of one column its values alone."""
        table = DeltaTable(self.runs.location).to_pyarrow_table(columns=list(columns))
        rows = [tuple(row.values()) for row in table.to_pylist()]
        return sorted((row[0] if len(columns) == 1 else row for row in rows), key=repr)


def compiled(rules: dict[str, str], declared: TableSchema) -> tuple[QuarantineRule, ...]:
    defined = tuple(
        define_rule(parse_rule(f"{text} on_fail quarantine"), rule_id=rule_id, severity=None)
        for rule_id, text in rules.items()
    )
    found = quarantine_rules(defined, declared)
    assert len(found) == len(rules)
    return found
