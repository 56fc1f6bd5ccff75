"""Pins what a run reads: a source from its position, or inputs at exact versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lakeguard.gate.rules.compile import measures_for
from lakeguard.ledger.openings import opening_of
from lakeguard.ledger.source_files import position_of
from lakeguard.ledger.versions import (
    Pointer,
    StoredVersion,
    inputs_of,
    pointer,
    require_version,
    shown_at,
)
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.opening.eligibility import Findings, log_trouble, undo_command
from lakeguard.promotion.opening.log_check import log_damage
from lakeguard.promotion.records.table_findings import TableTrouble
from lakeguard.registry.sql.sql_builds import grows_row_by_row, rewrite_tables
from lakeguard.registry.store import (
    RegisteredDataset,
    current_definition,
    current_source,
    dataset_by_id,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType, SourceFormat, TableProblem
from lakeguard_sdk.errors import TableUnreadable
from lakeguard_sdk.expressions.measures import ComparedRows, UnmatchedRows
from lakeguard_sdk.model.definitions import (
    FromFrame,
    FromPython,
    FromSource,
    FromSql,
    Pending,
)
from lakeguard_sdk.model.evidence import InputVersion, VersionPosition
from lakeguard_sdk.model.load import GAINED_ROWS_ONLY, NEW_ROWS_ONLY
from lakeguard_sdk.model.run import (
    Build,
    FrameBuild,
    InputPin,
    PythonBuild,
    SourceBuild,
    SqlBuild,
    TableSnapshot,
)
from lakeguard_sdk.storage.storage import join


def plan_build(
    tx: Transaction,
    context: PlaneContext,
    dataset: RegisteredDataset,
    published: Pointer | None,
    position: VersionPosition | None,
    findings: Findings,
    *,
    whole: bool,
) -> Build | None:
    """The build with pinned inputs; None, with the reason in the findings, if impossible.

    ``whole`` reads every input from the start; an APPEND only as far as already read, to avoid
    duplicates.
    """
    build = dataset.definition.build
    match build:
        case FromSource():
            return _from_source(tx, context, dataset, build, position, findings)
        case FromFrame():
            return FrameBuild()
        case Pending():
            problem = f"{dataset.name} is pending: define its source or its build, then apply"
            findings.refuse("build", problem)
            return None
    gained = _gaining_parent(tx, dataset, published, findings)
    pins = _pins(tx, context, dataset, gained, findings, whole=whole)
    if pins is None:
        return None
    if isinstance(build, FromPython):
        inputs = {str(name): pin for name, pin in pins.items()}
        return PythonBuild(
            file=build.file, function=build.function, sha256=build.sha256, inputs=inputs
        )
    return _from_sql(build, pins)


def base_position(
    tx: Transaction, dataset: RegisteredDataset, published: Pointer | None
) -> VersionPosition | None:
    """The position where the published version stopped reading, for incremental loads."""
    load = dataset.definition.load
    if published is None or (load.type not in NEW_ROWS_ONLY and not load.skip_unchanged):
        return None
    return position_of(tx, dataset.dataset_id, published.version)


def _from_source(
    tx: Transaction,
    context: PlaneContext,
    dataset: RegisteredDataset,
    build: FromSource,
    position: VersionPosition | None,
    findings: Findings,
) -> SourceBuild | None:
    found = current_source(tx, build.source)
    if found is None:
        findings.refuse("source", f"source {build.source} is not registered")
        return None
    source = found.definition
    if not source.active:
        findings.refuse("source", f"source {build.source} is disabled (active: false)")
    if source.format is SourceFormat.OTHER:
        kind = source.source_type
        problem = f"source {build.source} is of type {kind}, and no driver for {kind} is installed"
        findings.refuse("source", problem)
        return None
    below = build.object and source.format is not SourceFormat.JDBC
    return SourceBuild(
        source=source.source,
        format=source.format,
        path=join(source.path, build.object) if below else source.path,
        url=source.url,
        object=build.object,
        secrets=source.secrets,
        options=source.options,
        header=source.header,
        malformed=source.malformed,
        landing=source.landing,
        position=position,
        roots=context.source_roots or (),
    )


def _from_sql(build: FromSql, pins: dict[DatasetName, InputPin]) -> SqlBuild:
    views = {name: f"lg_{name.layer}_{name.name}" for name in pins}
    columns = {name for pin in pins.values() for name in pin.table_schema.names}
    return SqlBuild(
        text=rewrite_tables(build.text, views, columns=columns),
        views={views[name]: pin for name, pin in pins.items()},
    )


def _gaining_parent(
    tx: Transaction, dataset: RegisteredDataset, published: Pointer | None, findings: Findings
) -> tuple[DatasetName, int] | None:
    """The parent that is read incrementally, and its last version read."""
    load = dataset.definition.load
    parents = dataset.definition.parents
    if load.type not in GAINED_ROWS_ONLY or load.watermark or published is None or not parents:
        return None
    incremental = parents[0]
    if load.type is not LoadType.APPEND and not _grows_row_by_row(dataset):
        return None
    registered = current_definition(tx, incremental)
    known = registered.dataset_id if registered else None  # it may have been renamed
    before = read_inputs(tx, dataset, published.version)
    read = next((item.version for item in before if item.dataset_id == known), None)
    if read is None and load.type is LoadType.APPEND:
        findings.refuse(
            f"input:{incremental}",
            f"v{published.version} was not built from {incremental}, so that it is not known"
            " which of its rows are new; set load type FULL for the next run",
        )
    return None if read is None else (incremental, read)


def read_inputs(
    tx: Transaction, dataset: RegisteredDataset, version: int
) -> tuple[InputVersion, ...]:
    """How far a version has read its inputs; back-fills do not advance it."""
    stored = require_version(tx, dataset.dataset_id, version)
    plan = opening_of(tx, stored.run_id).plan
    while plan.window is not None and plan.base is not None:
        stored = require_version(tx, dataset.dataset_id, plan.base.version)
        plan = opening_of(tx, stored.run_id).plan
    return inputs_of(tx, dataset.dataset_id, stored.version)


def _grows_row_by_row(dataset: RegisteredDataset) -> bool:
    """Whether new rows of the first parent only add rows to the result.

    Unknown for Python builds, which therefore read everything.
    """
    build = dataset.definition.build
    return isinstance(build, FromSql) and grows_row_by_row(
        build.text, dataset.definition.parents[0]
    )


def _pins(
    tx: Transaction,
    context: PlaneContext,
    dataset: RegisteredDataset,
    gained: tuple[DatasetName, int] | None,
    findings: Findings,
    *,
    whole: bool,
) -> dict[DatasetName, InputPin] | None:
    pins: dict[DatasetName, InputPin] = {}
    appends = dataset.definition.load.type is LoadType.APPEND
    for parent in dataset.definition.parents:
        recorded = gained[1] if gained and gained[0] == parent else None
        pin = pin_input(
            tx,
            context,
            parent,
            None if whole else recorded,
            findings,
            at=recorded if whole and appends else None,
        )
        if pin is not None:
            pins[parent] = pin
    return pins if len(pins) == len(dataset.definition.parents) else None


def pin_input(
    tx: Transaction,
    context: PlaneContext,
    parent: DatasetName,
    recorded: int | None,
    findings: Findings,
    *,
    at: int | None = None,
    role: str = "input",
) -> InputPin | None:
    """The parent as published, or ``at`` a version; with ``recorded``, only rows added since that
    version."""
    registered = published_parent(tx, parent, findings, role)
    published = None if registered is None else pointer(tx, registered.dataset_id)
    if registered is None or published is None:
        return None
    dataset_id, location = registered.dataset_id, context.location_of(registered)
    stored = require_version(tx, dataset_id, published.version if at is None else at)
    commit = published.commit if at is None else shown_at(tx, dataset_id, at)
    trouble = _damage(context, registered, stored, commit)
    if trouble is not None:
        problem, damage = trouble
        message = f"{role} {parent}@v{stored.version} is damaged: {damage}"
        findings.refuse_table(f"{role}:{parent}", TableTrouble(registered, problem, message))
        return None
    findings.accept(f"{role}:{parent}", f"{role} {parent} is read at v{stored.version}")

    def snapshot(commit: int) -> TableSnapshot:
        return TableSnapshot(location=location, table_id=stored.table_id, commit=commit)

    since = None if recorded is None else shown_at(tx, dataset_id, recorded)
    return InputPin(
        input=InputVersion(dataset=parent, dataset_id=dataset_id, version=stored.version),
        snapshot=snapshot(commit),
        table_schema=stored.table_schema,
        since=None if since is None else snapshot(since),
    )


def published_parent(
    tx: Transaction, parent: DatasetName, findings: Findings, role: str = "input"
) -> RegisteredDataset | None:
    """The parent, if it has anything to read; else a finding says why not."""
    registered = current_definition(tx, parent)
    if registered is None:
        problem = f"{role} {parent} is not registered"
    elif registered.definition.refusal:
        problem = f"{role} {parent} {registered.definition.refusal}"
    elif pointer(tx, registered.dataset_id) is None:
        problem = f"{role} {parent} has no published version; first: lakeguard run {parent}"
    else:
        return registered
    findings.refuse(f"{role}:{parent}", problem)
    return None


def _damage(
    context: PlaneContext, dataset: RegisteredDataset, stored: StoredVersion, commit: int
) -> tuple[TableProblem, str] | None:
    location = context.location_of(dataset)
    if not context.tables.exists(location):
        return TableProblem.DAMAGE, "its table is gone"
    try:
        damage = context.tables.damage(location, commit, rows=stored.table_rows)
    except TableUnreadable as error:
        reason = f"its log cannot be read: {error.fields['reason']}"
        return TableProblem.LOG, f"{reason}; {undo_command(dataset)}"
    return None if damage is None else (TableProblem.DAMAGE, damage)


def find_altered_inputs(
    context: PlaneContext, pins: Mapping[str, Iterable[InputPin]], findings: Findings
) -> None:
    """Refuse inputs, by their role, whose log does not show what was published."""
    for role, pinned in pins.items():
        for pin in pinned:
            parent = pin.input.dataset
            with context.read() as tx:
                registered = dataset_by_id(tx, pin.input.dataset_id)
            try:
                damage = log_damage(context, registered, pin.snapshot.commit)
            except TableUnreadable as error:
                damage = f"its log cannot be read: {error.fields['reason']}"
            if damage is not None:
                message = f"{role} {parent}@v{pin.input.version} is damaged: {damage}"
                findings.refuse_table(f"{role}:{parent}", log_trouble(registered, message))


# Datasets referenced by rules, pinned when the run opens.

_REFERRING = (UnmatchedRows, ComparedRows)


def pin_references(
    tx: Transaction, context: PlaneContext, dataset: RegisteredDataset, findings: Findings
) -> tuple[InputPin, ...]:
    """Each at its published version; a missing one refuses the run.

    A self-reference is checked against the state after the publish, and is not pinned.
    """
    pins = [
        pin_input(tx, context, name, None, findings, role="reference")
        for name in sorted(referenced(dataset))
    ]
    return tuple(pin for pin in pins if pin is not None)


def referenced(dataset: RegisteredDataset) -> set[DatasetName]:
    """Other datasets that its rules refer to."""
    definition = dataset.definition
    measures = measures_for(definition.rules, definition.table_schema)
    named = {measure.dataset for measure in measures if isinstance(measure, _REFERRING)}
    return named - {dataset.name}
