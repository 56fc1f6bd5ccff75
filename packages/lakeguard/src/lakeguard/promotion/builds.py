"""What a run reads, pinned: a source from its position, or inputs at exact versions."""

from __future__ import annotations

from sqlalchemy import Connection

from lakeguard.ledger.documents import get_document
from lakeguard.ledger.versions import Pointer, inputs_of, pointer, require_version
from lakeguard.promotion.eligibility import Findings
from lakeguard.promotion.heart import Heart
from lakeguard.registry.sql import rewrite_tables
from lakeguard.registry.store import RegisteredDataset, current_definition, current_source
from lakeguard_sdk.definition import FromSource, FromSql
from lakeguard_sdk.evidence import InputVersion, SourcePosition
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.run import Build, InputPin, SourceBuild, SqlBuild, TableSnapshot
from lakeguard_sdk.storage import join
from lakeguard_sdk.words import LoadType


def plan_build(
    connection: Connection,
    heart: Heart,
    dataset: RegisteredDataset,
    published: Pointer | None,
    findings: Findings,
) -> Build | None:
    """The build with everything pinned; None, and why in the findings, where it cannot be."""
    build = dataset.definition.build
    if isinstance(build, FromSource):
        return _from_source(connection, heart, dataset, build, published, findings)
    return _from_sql(connection, heart, dataset, build, published, findings)


def _from_source(
    connection: Connection,
    heart: Heart,
    dataset: RegisteredDataset,
    build: FromSource,
    published: Pointer | None,
    findings: Findings,
) -> SourceBuild | None:
    found = current_source(connection, heart.org_id, build.source)
    if found is None:
        findings.refuse("source", f"source {build.source} is not registered")
        return None
    source = found.definition
    if not source.active:
        findings.refuse("source", f"source {build.source} is disabled (active: false)")
    position = None
    if dataset.definition.load.type is LoadType.APPEND and published is not None:
        position = _position(connection, heart, dataset, published.version)
    return SourceBuild(
        source=source.source,
        format=source.format,
        path=join(source.path, build.object) if build.object else source.path,
        options=source.options,
        position=position,
    )


def _position(
    connection: Connection, heart: Heart, dataset: RegisteredDataset, version: int
) -> SourcePosition | None:
    stored = require_version(connection, dataset.dataset_id, version)
    if stored.position_hash is None:
        return None
    return SourcePosition.from_json(get_document(connection, heart.org_id, stored.position_hash))


def _from_sql(
    connection: Connection,
    heart: Heart,
    dataset: RegisteredDataset,
    build: FromSql,
    published: Pointer | None,
    findings: Findings,
) -> SqlBuild | None:
    recorded: dict[DatasetName, int] = {}
    if dataset.definition.load.type is LoadType.APPEND and published is not None:
        before = inputs_of(connection, dataset.dataset_id, published.version)
        incremental = dataset.definition.parents[0]
        registered = current_definition(connection, heart.org_id, incremental)
        known = registered.dataset_id if registered else None  # its name may have been another
        read = next((item.version for item in before if item.dataset_id == known), None)
        recorded = {} if read is None else {incremental: read}
        if not recorded:
            findings.refuse(
                f"input:{incremental}",
                f"v{published.version} was not built from {incremental}, so that it is not known"
                " which of its rows are new; set load type FULL for the next run",
            )
    pins: dict[str, InputPin] = {}
    views: dict[DatasetName, str] = {}
    for parent in dataset.definition.parents:
        pin = _pin(connection, heart, parent, recorded.get(parent), findings)
        if pin is not None:
            views[parent] = f"lg_{parent.layer}_{parent.name}"
            pins[views[parent]] = pin
    if len(pins) < len(dataset.definition.parents):
        return None
    return SqlBuild(text=rewrite_tables(build.text, views), views=pins)


def _pin(
    connection: Connection,
    heart: Heart,
    parent: DatasetName,
    recorded: int | None,
    findings: Findings,
) -> InputPin | None:
    """The parent's published version; an incremental read also knows what was read before."""
    registered = current_definition(connection, heart.org_id, parent)
    if registered is None:
        findings.refuse(f"input:{parent}", f"input {parent} is not registered")
        return None
    if not registered.definition.active:
        findings.refuse(f"input:{parent}", f"input {parent} is disabled (active: false)")
        return None
    published = pointer(connection, registered.dataset_id)
    if published is None:
        findings.refuse(
            f"input:{parent}",
            f"input {parent} has no published version; first: lakeguard run {parent}",
        )
        return None
    stored = require_version(connection, registered.dataset_id, published.version)
    since = None
    if recorded is not None:
        since = require_version(connection, registered.dataset_id, recorded)
    location = heart.location_of(registered)
    damage = _damage(heart, location, stored.commit_version)
    if damage is not None:
        findings.refuse(f"input:{parent}", f"input {parent}@v{stored.version} is damaged: {damage}")
        return None
    findings.accept(f"input:{parent}", f"input {parent} is read at v{stored.version}")
    return InputPin(
        input=InputVersion(
            dataset=parent, dataset_id=registered.dataset_id, version=stored.version
        ),
        snapshot=TableSnapshot(
            location=location, table_id=stored.table_id, commit=stored.commit_version
        ),
        table_schema=stored.table_schema,
        since=None
        if since is None
        else TableSnapshot(location=location, table_id=since.table_id, commit=since.commit_version),
    )


def _damage(heart: Heart, location: str, commit: int) -> str | None:
    if not heart.tables.exists(location):
        return "its table is gone"
    return heart.tables.damage(location, commit)
