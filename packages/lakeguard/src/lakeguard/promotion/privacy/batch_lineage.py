"""Lineage of a run, reported or shown by its SELECT: recorded before anything is staged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lakeguard.ledger.openings import lineage_of_run, opened_revision
from lakeguard.ledger.versions import pointer, require_version, stored_version
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.privacy.editions import Editions
from lakeguard.promotion.privacy.governed_files import with_governed_files
from lakeguard.promotion.privacy.load_columns import LoadSources, digests_in, load_sources
from lakeguard.promotion.records.open_runs import OpenRun
from lakeguard.promotion.records.version_facts import definition_of_version
from lakeguard.registry.store import current_definition, definition_at
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import NotApproved
from lakeguard_sdk.model.definitions import DatasetDefinition, FromFrame, FromPython, FromSql
from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.model.lineage import (
    ROWS_OF_ADOPTED,
    UNREPORTED,
    BatchColumn,
    BatchLineage,
    SourceColumn,
    latest_sources,
    latest_versions,
    unknown_lineage,
)
from lakeguard_sdk.model.quarantine import QuarantineBuild
from lakeguard_sdk.model.run import FrameBuild, PythonBuild, RunPlan, SchemaReaction, SqlBuild
from lakeguard_sdk.model.schema_changes import SchemaChange
from lakeguard_sdk.types.schema import TableSchema


def needs_lineage(plan: RunPlan) -> bool:
    """Whether only the run can tell what its columns are made of: no text of a definition does."""
    match plan.build:
        case PythonBuild() | FrameBuild():
            return True
        case SqlBuild():
            return bool(plan.transform)
    return False


def received_lineage(
    tx: Transaction,
    context: PlaneContext,
    run: OpenRun,
    live: TableSchema,
    reported: BatchLineage | None,
) -> BatchLineage | None:
    """The lineage of the batch, by the names that its columns have at the origin; None for a
    source.

    What is not reported is unknown. Files of a governed table are its dataset, whoever read them.
    """
    plan = run.plan
    if isinstance(plan.build, QuarantineBuild):
        return _of_quarantined(tx, run, plan.build, live)
    if not needs_lineage(plan):
        return _of_sql(tx, run, live, reported) if isinstance(plan.build, SqlBuild) else None
    pins = tuple(pin.input for pin in plan.pins) or tuple(_parents(tx, run.dataset.definition))
    found = reported or unknown_lineage(live.names, pins, UNREPORTED)
    _require_versions(tx, run, found)
    found = _complete(found, live, pins)
    return with_governed_files(tx, context, run, found)


def _of_sql(
    tx: Transaction, run: OpenRun, live: TableSchema, reported: BatchLineage | None
) -> BatchLineage:
    """The lineage of the SELECT, merged with that of Spark's plan if the run reported one. Where
    the two differ, a column carries the tags of both."""
    shown = _of_select(tx, run, live)
    if reported is None:
        return shown
    _require_versions(tx, run, reported)
    planned = _complete(reported, live, shown.read)
    editions = Editions(tx)
    columns = []
    for one, other in zip(shown.columns, planned.columns, strict=True):
        folded = (
            item.model_copy(update={"column": item.column.casefold()}) for item in other.sources
        )
        sources = latest_sources((*one.sources, *folded), editions)
        columns.append(
            one.model_copy(update={"sources": sources, "unknown": one.unknown or other.unknown})
        )
    return shown.model_copy(
        update={
            "columns": tuple(columns),
            "inputs": tuple(dict.fromkeys((*shown.inputs, *planned.inputs))),
            "read": planned.read,
            "outside": planned.outside,
        }
    )


def _of_select(tx: Transaction, run: OpenRun, live: TableSchema) -> BatchLineage:
    """As the SELECT shows it. A column that cannot be followed is made of all columns of the
    inputs."""
    from lakeguard.registry.sql.lineage import ColumnSource, column_lineage

    plan = run.plan
    pins = {pin.input.dataset: pin for pin in plan.pins}
    schemas = {name: pin.table_schema for name, pin in pins.items()}
    try:
        found = column_lineage(_text(tx, run), schemas).columns
    except Exception:  # noqa: BLE001 - what cannot be followed is unknown
        found = {}
    anything = [
        ColumnSource(name, column.casefold(), frozenset())
        for name, pin in pins.items()
        for column in pin.table_schema.names
    ]
    columns = []
    for name in live.names:
        made_of = found.get(name.casefold())
        if made_of is None or any(source.dataset not in pins for source in made_of):
            made_of = frozenset(anything)
        listed = (
            SourceColumn(
                dataset_id=pins[source.dataset].input.dataset_id,
                version=pins[source.dataset].input.version,
                column=source.column,
                through=tuple(sorted(source.through)),
            )
            for source in made_of
        )
        sources = latest_sources(listed, Editions(tx))
        columns.append(BatchColumn(column=name, sources=sources))
    read = tuple(dict.fromkeys(pin.input for pin in pins.values()))
    return BatchLineage(columns=tuple(columns), inputs=read, read=read, by_definition=True)


def _text(tx: Transaction, run: OpenRun) -> str:
    """The SELECT that the run opened with."""
    revision = opened_revision(tx, run.plan.ticket.run_id)
    definition = run.dataset.definition
    if revision is not None:
        definition = definition_at(tx, run.dataset.dataset_id, revision)
    return definition.build.text if isinstance(definition.build, FromSql) else ""


def _parents(tx: Transaction, definition: DatasetDefinition) -> Iterator[InputVersion]:
    """Published versions of the parents that the definition of a frame names."""
    for name in definition.parents:
        found = current_definition(tx, name)
        shown = None if found is None else pointer(tx, found.dataset_id)
        if found is not None and shown is not None:
            yield InputVersion(dataset=name, dataset_id=found.dataset_id, version=shown.version)


def adopted_lineage(tx: Transaction, definition: DatasetDefinition) -> BatchLineage:
    """Of a table that others wrote: whatever the build is, nobody shows what its columns are made
    of, so they may hold anything of the parents, and of what those are made of."""
    found = unknown_lineage(
        definition.table_schema.names, _parents(tx, definition), ROWS_OF_ADOPTED
    )
    found = _with_ancestors(tx, found, Editions(tx))
    return found.model_copy(update={"inputs": (), "by_definition": True})


def table_lineage(
    tx: Transaction,
    run: OpenRun,
    batch: BatchLineage | None,
    differences: Iterable[SchemaReaction],
) -> BatchLineage | None:
    """The lineage of the table after the load: rows of earlier loads stay, unless it is FULL. None
    if all rows come from sources."""
    earlier = _earlier_lineage(tx, run.plan)
    editions = Editions(tx)
    if batch is None:
        kept = BatchLineage(columns=(), by_definition=True)
        return earlier and kept.with_rows_of(earlier, editions)
    names = {
        item.other.casefold(): item.column
        for item in differences
        if item.change is SchemaChange.CASE_RENAME
    }
    columns = tuple(
        item.model_copy(update={"column": names.get(item.column.casefold(), item.column)})
        for item in batch.columns
    )
    found = _with_ancestors(tx, batch.model_copy(update={"columns": columns}), editions)
    return found if earlier is None else found.with_rows_of(earlier, editions)


def _earlier_lineage(tx: Transaction, plan: RunPlan) -> BatchLineage | None:
    replaced = plan.load.type is LoadType.FULL and plan.window is None
    if plan.base is None or (replaced and not isinstance(plan.build, QuarantineBuild)):
        return None
    before = require_version(tx, plan.dataset_id, plan.base.version)
    return lineage_of_run(tx, before.run_id)


def _with_ancestors(tx: Transaction, found: BatchLineage, editions: Editions) -> BatchLineage:
    """With what the sources are made of in turn, so that tags are found without following a chain
    of versions that read each other."""
    versions = {(pin.dataset_id, pin.version): _Reported.of(tx, pin) for pin in found.read}
    above = [version.lineage.read for version in versions.values() if version.lineage]
    columns = []
    for column in found.columns:
        ancestors = [
            item
            for source in column.sources
            for item in versions[source.dataset_id, source.version].sources_of(source)
        ]
        columns.append(column.model_copy(update={"ancestors": latest_sources(ancestors, editions)}))
    later = latest_versions((pin for read in above for pin in read), editions)
    read = tuple(dict.fromkeys((*found.read, *later)))
    return found.model_copy(update={"columns": tuple(columns), "read": read})


@dataclass(frozen=True)
class _Reported:
    """A version that was read, with the lineage that its run recorded."""

    lineage: BatchLineage | None
    declared: frozenset[str]
    """Columns, in lower case, of which a person declared what they are made of."""
    by_load: LoadSources

    @classmethod
    def of(cls, tx: Transaction, pin: InputVersion) -> _Reported:
        version = require_version(tx, pin.dataset_id, pin.version)
        lineage = lineage_of_run(tx, version.run_id)
        definition = None if lineage is None else definition_of_version(tx, version)
        columns = () if definition is None else definition.columns
        declared = (item.name.casefold() for item in columns if item.clean or item.derived_from)
        by_load = {} if definition is None else load_sources(tx, definition, pin.dataset_id)
        return cls(lineage, frozenset(declared), by_load)

    def sources_of(self, source: SourceColumn) -> Iterator[SourceColumn]:
        """The sources of a column, and those of a load column of the same name: earlier rows may
        have been written by either."""
        yield from self._declared_sources_of(source)
        name = source.column.casefold()
        through = tuple(sorted({*source.through, *digests_in(name)}))
        for column in sorted(self.by_load.get(name, ())):
            update = {"column": column, "through": through}
            yield from self._declared_sources_of(source.model_copy(update=update))

    def _declared_sources_of(self, source: SourceColumn) -> Iterator[SourceColumn]:
        if self.lineage is None or source.column.casefold() in self.declared:
            return
        column = self.lineage.column(source.column)
        if source.any_column:
            column = BatchColumn(column="", unknown=True)
        if column is None:
            return
        for item in (*column.sources, *column.ancestors):
            through = tuple(sorted({*item.through, *source.through}))
            yield item.model_copy(update={"through": through})
        for pin in self.lineage.read if column.unknown else ():
            yield SourceColumn(
                dataset_id=pin.dataset_id,
                version=pin.version,
                column="",
                any_column=True,
                through=source.through,
            )


def _require_versions(tx: Transaction, run: OpenRun, found: BatchLineage) -> None:
    """Every version that is named exists: its tags could not be found otherwise."""
    named = {(item.dataset_id, item.version) for item in (*found.inputs, *found.read)}
    for item in (*found.inputs, *found.read):
        if stored_version(tx, item.dataset_id, item.version) is None:
            reason = f"it read {item.dataset}@v{item.version}, which does not exist"
            raise NotApproved(run=run.plan.ticket.run_id, reason=reason)
    for column in found.columns:
        for source in column.sources:
            if (source.dataset_id, source.version) not in named:
                reason = f"column {column.column} is made of a version that it did not read"
                raise NotApproved(run=run.plan.ticket.run_id, reason=reason)


def _complete(found: BatchLineage, live: TableSchema, pins: Iterable[InputVersion]) -> BatchLineage:
    """Every column of the batch; one that is not listed is unknown."""
    listed = {item.column.casefold(): item for item in found.columns}
    columns = tuple(
        listed.get(name.casefold(), BatchColumn(column=name, unknown=True)) for name in live.names
    )
    read = tuple(dict.fromkeys((*found.read, *found.inputs, *pins)))
    return found.model_copy(update={"columns": columns, "read": read})


def _of_quarantined(
    tx: Transaction, run: OpenRun, build: QuarantineBuild, live: TableSchema
) -> BatchLineage | None:
    """Quarantined rows come from where the batches of their runs came from."""
    result: BatchLineage | None = None
    for run_id in sorted({file.run_id for file in build.files}):
        found = lineage_of_run(tx, run_id)
        if found is not None:
            result = found if result is None else result.with_rows_of(found, Editions(tx))
    if isinstance(run.dataset.definition.build, FromPython | FromFrame):
        if result is None:
            return unknown_lineage(live.names, outside=UNREPORTED)
        return result.model_copy(update={"by_definition": False})
    if result is None:
        return None
    # no input is read: policies about inputs ask nothing of those of the quarantined rows
    return result.model_copy(update={"inputs": (), "by_definition": not run.plan.transform})
